//! Routes of actions: propose, read, start and report.

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::response::{IntoResponse, Response};
use domain::{ActionState, Outcome, PermitId, Refusal, SessionId};
use engine::{ActionReply, Propose};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use protocol::{ActionView, ActionsPage, OutcomeBody, PermitBody, ProposeBody};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::middleware::traceparent;
use crate::params::{LONGEST_WAIT, PathId, Query, limit, wait};

/// Extractor of a session and a call id in the path.
pub(super) struct CallPath(SessionId, String);

impl FromRequestParts<App> for CallPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Path((session, call)) = Path::<(String, String)>::from_request_parts(parts, app)
            .await
            .map_err(|_| ApiError::IdInvalid("the ids in the path cannot be read".into()))?;
        let session = session.parse().map_err(|error: domain::IdError| ApiError::IdInvalid(error.to_string()))?;
        if call.contains('\0') {
            return Err(ApiError::IdInvalid("the call id in the path contains NUL".into()));
        }
        Ok(Self(session, call))
    }
}

fn view(ActionReply { action, permit, at }: ActionReply) -> ActionView {
    ActionView::new(action, permit, at)
}

/// Proposes an action. The policy allows it with a permit, denies it, or asks people. Sending the same proposal again continues to wait.
#[utoipa::path(post, path = "/v1/sessions/{session}/actions", tag = "actions", request_body = ProposeBody,
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"), IdempotencyKey,
           ("traceparent" = Option<String>, Header, description = "W3C trace context, stored with the question")),
    responses((status = 200, description = "The action is decided", body = ActionView),
              (status = 202, description = "People are still deciding; send the same request again", body = ActionView), Problems))]
pub(super) async fn action_propose(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(session): PathId<SessionId>,
    headers: HeaderMap,
    CommandRequest { body, idempotency }: CommandRequest<ProposeBody>,
) -> Result<Response, ApiError> {
    let time = wait(body.wait).map_err(|_| ApiError::invalid("/wait", format!("must be at most {LONGEST_WAIT}")))?;
    let propose = proposed(body, traceparent(&headers));
    let call = propose.call_id.clone();
    let mut acted = app.engine.action_propose(&caller, session, propose, idempotency).await?;
    if matches!(acted.action.state, ActionState::Waiting { .. }) && !time.is_zero() {
        acted = tokio::select! {
            biased;
            acted = app.engine.action_get(&caller, session, call, time) => acted?,
            () = app.stops() => acted,
        };
        app.engine.recheck_caller(&caller).await?;
    }
    Ok(decided(acted))
}

/// Translates a body into a proposal.
pub(super) fn proposed(body: ProposeBody, traceparent: Option<String>) -> Propose {
    Propose {
        call: body.call(),
        call_id: body.call_id,
        context: body.context,
        expected_content: None,
        traceparent,
        repeatable: false,
        client: false,
        deadline_seconds: None,
    }
}

/// Replies 200 for a decided action and 202 for one that waits, with `Retry-After: 0`.
fn decided(acted: ActionReply) -> Response {
    let waits = matches!(acted.action.state, ActionState::Waiting { .. });
    let view = view(acted);
    if !waits {
        return Json(view).into_response();
    }
    let retry = (header::RETRY_AFTER, HeaderValue::from_static("0"));
    (StatusCode::ACCEPTED, [retry], Json(view)).into_response()
}

/// Query of the list of actions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ActionsQuery {
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists the actions of a session, by call id.
#[utoipa::path(get, path = "/v1/sessions/{session}/actions", tag = "actions",
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"), ActionsQuery),
    responses((status = 200, description = "Page of actions", body = ActionsPage), Problems))]
pub(super) async fn action_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(session): PathId<SessionId>,
    Query(query): Query<ActionsQuery>,
) -> Result<Json<ActionsPage>, ApiError> {
    let most = limit(query.limit)?;
    let (found, next) = app.engine.action_list(&caller, session, query.cursor.unwrap_or_default(), most).await?;
    Ok(Json(ActionsPage { actions: found.into_iter().map(view).collect(), next }))
}

/// Query of one action.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ActionQuery {
    /// Seconds to wait for a decision.
    #[param(maximum = 300)]
    wait: Option<u64>,
}

/// Returns an action, at once or when it is decided.
#[utoipa::path(get, path = "/v1/sessions/{session}/actions/{call}", tag = "actions",
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"),
           ("call" = String, Path, description = "The agent's name for the call"), ActionQuery),
    responses((status = 200, description = "The action is decided", body = ActionView),
              (status = 202, description = "People are still deciding", body = ActionView), Problems))]
pub(super) async fn action_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CallPath(session, call): CallPath,
    Query(query): Query<ActionQuery>,
) -> Result<Response, ApiError> {
    let time = wait(query.wait)?;
    let zero = std::time::Duration::ZERO;
    let acted = tokio::select! {
        biased;
        acted = app.engine.action_get(&caller, session, call.clone(), time) => acted?,
        () = app.stops() => app.engine.action_get(&caller, session, call, zero).await?,
    };
    app.engine.recheck_caller(&caller).await?;
    Ok(decided(acted))
}

/// Starts an allowed action and spends its permit. A permit is accepted once.
#[utoipa::path(post, path = "/v1/sessions/{session}/actions/{call}/start", tag = "actions", request_body = PermitBody,
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"),
           ("call" = String, Path, description = "The agent's name for the call"), IdempotencyKey),
    responses((status = 200, description = "The action has started: run it now", body = ActionView), Problems))]
pub(super) async fn action_start(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CallPath(session, call): CallPath,
    CommandRequest { body: PermitBody { permit, lease_seconds }, idempotency }: CommandRequest<PermitBody>,
) -> Result<Json<ActionView>, ApiError> {
    Ok(Json(view(app.engine.action_start(&caller, (session, call), permit, lease_seconds, idempotency).await?)))
}

/// Reports the outcome of a started action.
#[utoipa::path(post, path = "/v1/sessions/{session}/actions/{call}/outcome", tag = "actions", request_body = OutcomeBody,
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"),
           ("call" = String, Path, description = "The agent's name for the call"), IdempotencyKey),
    responses((status = 200, description = "The outcome was recorded", body = ActionView), Problems))]
pub(super) async fn action_outcome(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CallPath(session, call): CallPath,
    CommandRequest { body, idempotency }: CommandRequest<OutcomeBody>,
) -> Result<Json<ActionView>, ApiError> {
    let (outcome, run) = reported(body)?;
    Ok(Json(view(app.engine.action_outcome(&caller, (session, call), outcome, run, idempotency).await?)))
}

/// Translates a body into an outcome and the run that it is about.
pub(super) fn reported(body: OutcomeBody) -> Result<(Outcome, Option<PermitId>), ApiError> {
    body.of_run().ok_or_else(|| Refusal::PermitUnknown.into())
}
