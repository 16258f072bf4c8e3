//! Actions: proposed, read, started, reported.

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::response::{IntoResponse, Response};
use domain::{Outcome, PermitId, Refusal, SessionId};
use engine::{Acted, Propose};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use protocol::{ActionView, ActionsPage, OutcomeBody, PermitBody, ProposeBody};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Who;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Id, LONGEST_WAIT, Query, limit, wait};
use crate::trace::traceparent;

/// A session and a call in the path.
pub(super) struct Call(SessionId, String);

impl FromRequestParts<App> for Call {
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

fn view(Acted { proposal, permit, at }: Acted) -> ActionView {
    ActionView::new(proposal, permit, at)
}

/// Proposes an action: it is judged, and allowed with a permit, denied, or asked about. The same again goes on waiting.
#[utoipa::path(post, path = "/v1/sessions/{session}/actions", tag = "actions", request_body = ProposeBody,
    params(("session" = String, Path, description = "`ses_…`"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result"),
           ("traceparent" = Option<String>, Header, description = "Kept with the question that is asked")),
    responses((status = 200, description = "It is decided", body = ActionView),
              (status = 202, description = "People are still deciding; send the same again", body = ActionView), Problems))]
pub(super) async fn action_propose(
    State(app): State<App>,
    Who(caller): Who,
    Id(session): Id<SessionId>,
    headers: HeaderMap,
    Command { body, once }: Command<ProposeBody>,
) -> Result<Response, ApiError> {
    let time = wait(body.wait).map_err(|_| ApiError::wrong("/wait", format!("must be at most {LONGEST_WAIT}")))?;
    let propose = proposed(body, traceparent(&headers));
    let call = propose.call.clone();
    let mut acted = app.engine.propose(&caller, session, propose, once).await?;
    if acted.proposal.state_name(acted.at) == "waiting" && !time.is_zero() {
        acted = tokio::select! {
            biased;
            acted = app.engine.action(&caller, session, call, time) => acted?,
            () = app.stops() => acted,
        };
        app.engine.recheck(&caller).await?;
    }
    Ok(decided(acted))
}

/// What a body proposes, in the trace that it is proposed in.
pub(super) fn proposed(body: ProposeBody, traceparent: Option<String>) -> Propose {
    Propose {
        action: body.call(),
        call: body.call_id,
        context: body.context,
        seen: None,
        traceparent,
        repeatable: false,
        client: false,
        deadline_seconds: None,
    }
}

/// 200 when it is decided; 202 while it is not, which is no error and can be asked again at once.
fn decided(acted: Acted) -> Response {
    let view = view(acted);
    if view.state != "waiting" {
        return Json(view).into_response();
    }
    let retry = (header::RETRY_AFTER, HeaderValue::from_static("0"));
    (StatusCode::ACCEPTED, [retry], Json(view)).into_response()
}

/// Which actions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ActionsQuery {
    /// Where the page before ended.
    cursor: Option<String>,
    /// At most so many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists the actions of a session, by call.
#[utoipa::path(get, path = "/v1/sessions/{session}/actions", tag = "actions",
    params(("session" = String, Path, description = "`ses_…`"), ActionsQuery),
    responses((status = 200, description = "The actions", body = ActionsPage), Problems))]
pub(super) async fn action_list(
    State(app): State<App>,
    Who(caller): Who,
    Id(session): Id<SessionId>,
    Query(query): Query<ActionsQuery>,
) -> Result<Json<ActionsPage>, ApiError> {
    let most = limit(query.limit)?;
    let (found, next) = app.engine.actions(&caller, session, query.cursor.unwrap_or_default(), most).await?;
    Ok(Json(ActionsPage { actions: found.into_iter().map(view).collect(), next }))
}

/// How long to wait for an action.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ActionQuery {
    /// Reply when it is decided, or after so many seconds.
    #[param(maximum = 300)]
    wait: Option<u64>,
}

/// An action, at once or when it is decided.
#[utoipa::path(get, path = "/v1/sessions/{session}/actions/{call}", tag = "actions",
    params(("session" = String, Path, description = "`ses_…`"),
           ("call" = String, Path, description = "The agent's name for the call"), ActionQuery),
    responses((status = 200, description = "It is decided", body = ActionView),
              (status = 202, description = "People are still deciding", body = ActionView), Problems))]
pub(super) async fn action_get(
    State(app): State<App>,
    Who(caller): Who,
    Call(session, call): Call,
    Query(query): Query<ActionQuery>,
) -> Result<Response, ApiError> {
    let time = wait(query.wait)?;
    let zero = std::time::Duration::ZERO;
    let acted = tokio::select! {
        biased;
        acted = app.engine.action(&caller, session, call.clone(), time) => acted?,
        () = app.stops() => app.engine.action(&caller, session, call, zero).await?,
    };
    app.engine.recheck(&caller).await?;
    Ok(decided(acted))
}

/// Starts an action that may run, and spends its permit. A second time is refused.
#[utoipa::path(post, path = "/v1/sessions/{session}/actions/{call}/start", tag = "actions", request_body = PermitBody,
    params(("session" = String, Path, description = "`ses_…`"),
           ("call" = String, Path, description = "The agent's name for the call"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "It is under way: run it now", body = ActionView), Problems))]
pub(super) async fn action_start(
    State(app): State<App>,
    Who(caller): Who,
    Call(session, call): Call,
    Command { body: PermitBody { permit, lease_seconds }, once }: Command<PermitBody>,
) -> Result<Json<ActionView>, ApiError> {
    Ok(Json(view(app.engine.action_start(&caller, (session, call), permit, lease_seconds, once).await?)))
}

/// Reports what became of an action that was started.
#[utoipa::path(post, path = "/v1/sessions/{session}/actions/{call}/outcome", tag = "actions", request_body = OutcomeBody,
    params(("session" = String, Path, description = "`ses_…`"),
           ("call" = String, Path, description = "The agent's name for the call"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "It is recorded", body = ActionView), Problems))]
pub(super) async fn action_outcome(
    State(app): State<App>,
    Who(caller): Who,
    Call(session, call): Call,
    Command { body, once }: Command<OutcomeBody>,
) -> Result<Json<ActionView>, ApiError> {
    Ok(Json(view(app.engine.action_outcome(&caller, (session, call), reported(body)?, once).await?)))
}

/// What a body reports, and of which run.
pub(super) fn reported(body: OutcomeBody) -> Result<(Outcome, Option<PermitId>), ApiError> {
    body.of_run().ok_or_else(|| Refusal::PermitUnknown.into())
}
