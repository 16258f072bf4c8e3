//! Every route of `/v1`, with its operation in the OpenAPI document, and the router of the whole server.

mod actions;
mod agents;
mod answers;
mod audit;
mod deliveries;
mod drafts;
mod events;
mod flows;
mod grants;
mod health;
mod interactions;
mod keys;
mod me;
mod oidc;
mod policies;
mod project;
mod secrets;
pub(crate) mod sessions;
mod sign_in;
mod socket;
mod stats;
mod suggestions;
mod tickets;
mod users;
mod webhooks;

use axum::Router;
use axum::extract::State;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::SwaggerUi;

use crate::App;
use crate::asyncapi::{Channel, asyncapi};
use crate::document::base;
use crate::error::ApiError;
use crate::middleware::{refuse_ambiguous, traced};
use crate::oidc::{CALLBACK, START};

/// Content security policy of the page that shows the OpenAPI document.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                           font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Operations and WebSocket channels of a crate above this one, which the server mounts and describes beside its own.
#[derive(Default)]
pub struct Addition {
    /// Routes with their operations in the OpenAPI document.
    pub operations: OpenApiRouter<App>,
    /// WebSockets among those routes, for the AsyncAPI document.
    pub channels: Vec<Channel>,
}

/// All operations of this crate with their routes, and the operations of a crate above it.
#[expect(clippy::too_many_lines, reason = "a list with one line for each route")]
pub(crate) fn operations(added: OpenApiRouter<App>) -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(base())
        .routes(routes!(sessions::session_start, sessions::session_list))
        .routes(routes!(sessions::session_get))
        .routes(routes!(sessions::session_message))
        .routes(routes!(sessions::session_control))
        .routes(routes!(events::event_list))
        .routes(routes!(events::event_stream))
        .routes(routes!(events::project_stream))
        .routes(routes!(socket::socket_open))
        .routes(routes!(actions::action_propose, actions::action_list))
        .routes(routes!(actions::action_get))
        .routes(routes!(actions::action_start))
        .routes(routes!(actions::action_outcome))
        .routes(routes!(policies::policy_get, policies::policy_put, policies::policy_reset))
        .routes(routes!(policies::policy_version_list))
        .routes(routes!(policies::policy_check))
        .routes(routes!(policies::policy_explain))
        .routes(routes!(policies::policy_switch))
        .routes(routes!(drafts::policy_simulate))
        .routes(routes!(suggestions::suggestion_list))
        .routes(routes!(suggestions::suggestion_adopt))
        .routes(routes!(suggestions::suspension_lift))
        .routes(routes!(drafts::policy_shadow_get, drafts::policy_shadow_put, drafts::policy_shadow_remove))
        .routes(routes!(grants::grant_list))
        .routes(routes!(grants::grant_revoke))
        .routes(routes!(interactions::interaction_ask))
        .routes(routes!(interactions::interaction_list))
        .routes(routes!(interactions::interaction_get))
        .routes(routes!(interactions::interaction_schema))
        .routes(routes!(answers::interaction_answer))
        .routes(routes!(answers::interaction_answer_many))
        .routes(routes!(answers::interaction_auto))
        .routes(routes!(interactions::interaction_cancel))
        .routes(routes!(interactions::interaction_expire))
        .routes(routes!(interactions::interaction_claim))
        .routes(routes!(interactions::interaction_release))
        .routes(routes!(interactions::interaction_handover))
        .routes(routes!(interactions::interaction_abstain))
        .routes(routes!(deliveries::delivery_list))
        .routes(routes!(deliveries::delivery_take))
        .routes(routes!(deliveries::delivery_heartbeat))
        .routes(routes!(deliveries::delivery_complete))
        .routes(routes!(deliveries::delivery_fail))
        .routes(routes!(agents::agent_add, agents::agent_list))
        .routes(routes!(agents::agent_get, agents::agent_retire))
        .routes(routes!(flows::flow_add, flows::flow_list))
        .routes(routes!(flows::flow_get, flows::flow_retire))
        .routes(routes!(keys::key_create, keys::key_list))
        .routes(routes!(keys::key_revoke))
        .routes(routes!(tickets::ticket_create))
        .routes(routes!(sign_in::sign_in_get))
        .routes(routes!(sign_in::sign_in_password))
        .routes(routes!(sign_in::sign_in_link))
        .routes(routes!(sign_in::sign_out))
        .routes(routes!(project::project_settings_get, project::project_settings_put))
        .routes(routes!(me::me_get))
        .routes(routes!(me::me_project))
        .routes(routes!(me::me_password))
        .routes(routes!(users::user_create, users::user_list))
        .routes(routes!(users::user_change, users::user_disable))
        .routes(routes!(users::user_link))
        .routes(routes!(audit::audit_list))
        .routes(routes!(audit::audit_export))
        .routes(routes!(audit::audit_key))
        .routes(routes!(secrets::secret_put, secrets::secret_list))
        .routes(routes!(secrets::secret_forget))
        .routes(routes!(webhooks::webhook_create, webhooks::webhook_list))
        .routes(routes!(webhooks::webhook_get, webhooks::webhook_delete))
        .routes(routes!(webhooks::webhook_switch))
        .routes(routes!(webhooks::webhook_rotate))
        .routes(routes!(webhooks::webhook_test))
        .routes(routes!(webhooks::webhook_delivery_list))
        .routes(routes!(webhooks::webhook_delivery_replay))
        .routes(routes!(stats::stats_get))
        .routes(routes!(stats::stats_details))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .merge(added)
}

/// The router of the whole server, with the routes that a crate above this one adds.
pub fn router(app: App, addition: Addition) -> Router {
    let (router, document) = operations(addition.operations).split_for_parts();
    let asyncapi = asyncapi(addition.channels);
    let layers = ServiceBuilder::new()
        .layer(SetSensitiveRequestHeadersLayer::new([AUTHORIZATION, COOKIE]))
        .layer(from_fn(traced))
        .layer(CatchPanicLayer::custom(|_| ApiError::Panicked.into_response()))
        .layer(from_fn(refuse_ambiguous))
        .layer(CompressionLayer::new())
        .layer(SetResponseHeaderLayer::if_not_present(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
        .layer(SetResponseHeaderLayer::if_not_present(CACHE_CONTROL, HeaderValue::from_static("no-store")))
        .layer(from_fn_with_state(app.clone(), crate::replies::counted));
    router
        .route(START, get(oidc::start))
        .route(CALLBACK, get(oidc::callback))
        .route("/asyncapi.json", get(async move || axum::Json(asyncapi)))
        .merge(described(document))
        .fallback(page)
        .method_not_allowed_fallback(no_method)
        .layer(layers)
        .with_state(app)
}

/// The page that shows the OpenAPI document, with the security headers of the web page. It sets inline styles, which a
/// nonce cannot allow.
fn described(document: utoipa::openapi::OpenApi) -> Router<App> {
    let page: Router<App> = SwaggerUi::new("/docs").url("/openapi.json", document).into();
    let set = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    page.layer(set(CONTENT_SECURITY_POLICY, DOCS_POLICY))
        .layer(set(X_FRAME_OPTIONS, "DENY"))
        .layer(set(X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(set(REFERRER_POLICY, "no-referrer"))
}

/// Routes for health checks and metrics, for a process that serves no API.
pub fn health_router(app: App) -> Router {
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .fallback(async || ApiError::NoRoute)
        .with_state(app)
}

/// Paths without an operation belong to the web page.
async fn page(State(app): State<App>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    app.front.page.reply(&method, &uri, &headers, &app.engine.nonce())
}

async fn no_method() -> Response {
    ApiError::NoMethod.into_response()
}
