//! Questions: ask, read, list, cancel, expire, claim, hand over, abstain.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use domain::{Interaction, InteractionId, Kind, SessionId, Status};
use engine::{Ask, Error, HandOver, InteractionQuery};
use http::{HeaderMap, StatusCode};
use protocol::{
    AbstainBody, ActionSchemaView, AskBody, CancelBody, EmptyBody, HandOverBody, InteractionView, InteractionsPage,
};
use serde::Deserialize;
use store::{InteractionFilter, Sort};
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::middleware::traceparent;
use crate::params::{PathId, Query, page, wait};

/// Reply of the commands on one question.
type ChangeReply = Result<Json<InteractionView>, ApiError>;

fn reply(result: Result<Interaction, Error>) -> ChangeReply {
    Ok(Json(result?.into()))
}

/// Asks people a question. The step of the session sleeps until it is answered.
#[utoipa::path(post, path = "/v1/sessions/{session}/interactions", tag = "interactions", request_body = AskBody,
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"), IdempotencyKey,
           ("traceparent" = Option<String>, Header, description = "W3C trace context, returned with the answer")),
    responses((status = 201, description = "Question that was asked", body = InteractionView), Problems))]
pub(super) async fn interaction_ask(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(session): PathId<SessionId>,
    headers: HeaderMap,
    CommandRequest { body, idempotency }: CommandRequest<AskBody>,
) -> Result<(StatusCode, Json<InteractionView>), ApiError> {
    let interaction =
        app.engine.interaction_ask(&caller, session, ask_from_body(body, traceparent(&headers)), idempotency).await?;
    Ok((StatusCode::CREATED, Json(interaction.into())))
}

/// Translates a body into a question.
pub(super) fn ask_from_body(mut body: AskBody, traceparent: Option<String>) -> Ask {
    let (deadline_seconds, resume_point) = (body.deadline_seconds, body.resume_point.take());
    Ask { deadline_seconds, resume_point, traceparent, question: body.into_question() }
}

/// Query of the list of questions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct InteractionsQuery {
    /// Only entries with this status.
    #[param(inline)]
    status: Option<Status>,
    /// Only questions of this kind.
    kind: Option<String>,
    /// Only questions of this session.
    session: Option<String>,
    /// Only questions of this channel.
    channel: Option<String>,
    /// Only questions that this agent asked.
    agent: Option<String>,
    /// Only questions that the caller may answer.
    mine: Option<bool>,
    /// Only questions past their deadline.
    overdue: Option<bool>,
    /// Only questions with this text in the title, the message, the tool or the values of its arguments, the name of the agent or the title of the
    /// session, or with this id of a question or session.
    q: Option<String>,
    /// Order of the entries; `oldest` if absent.
    #[param(inline)]
    sort: Option<SortName>,
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Order of a list.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum SortName {
    Oldest,
    Newest,
    Deadline,
}

/// Lists the questions of the project.
#[utoipa::path(get, path = "/v1/interactions", tag = "interactions", params(InteractionsQuery),
    responses((status = 200, description = "Page of questions", body = InteractionsPage), Problems))]
pub(super) async fn interaction_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<InteractionsQuery>,
) -> Result<Json<InteractionsPage>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let session = query.session.map(|text| text.parse::<SessionId>());
    let session = session.transpose().map_err(|error| ApiError::QueryInvalid(format!("session: {error}")))?;
    let kind = query.kind.as_deref().map(Kind::named);
    if kind.as_ref().and_then(Kind::custom_name).is_some() {
        return Err(ApiError::QueryInvalid("kind: not one of the kinds; those of agents are all `custom`".into()));
    }
    let filter = InteractionFilter {
        status: query.status,
        closed: false,
        kind,
        session,
        channel: query.channel,
        agent: query.agent,
        overdue_at: None,
        text: query.q.filter(|text| !text.is_empty()),
        sort: match query.sort {
            None | Some(SortName::Oldest) => Sort::Oldest,
            Some(SortName::Newest) => Sort::Newest,
            Some(SortName::Deadline) => Sort::Deadline,
        },
        belongs_to: None,
    };
    let (mine, overdue) = (query.mine.unwrap_or(false), query.overdue.unwrap_or(false));
    let query = InteractionQuery { filter, mine, overdue };
    let (found, next) = app.engine.interaction_list(&caller, query, page).await?;
    let next = next.map(|id| id.to_string());
    Ok(Json(InteractionsPage { interactions: found.into_iter().map(Into::into).collect(), next }))
}

/// Query of one question.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WaitQuery {
    /// Seconds to wait until the question is no longer pending.
    #[param(maximum = 300)]
    wait: Option<u64>,
}

/// Returns a question, at once or when it is no longer pending.
#[utoipa::path(get, path = "/v1/interactions/{interaction}", tag = "interactions",
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), WaitQuery),
    responses((status = 200, description = "Question with its current status", body = InteractionView), Problems))]
pub(super) async fn interaction_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    Query(query): Query<WaitQuery>,
) -> ChangeReply {
    let wait = wait(query.wait)?;
    let found = tokio::select! {
        biased;
        found = app.engine.interaction_get(&caller, id, wait) => found,
        () = app.stops() => app.engine.interaction_get(&caller, id, Duration::ZERO).await,
    };
    // The credential may have been revoked during the wait.
    app.engine.recheck_caller(&caller).await?;
    reply(found)
}

/// Returns the JSON Schema for editing the arguments of the action that a question is about: the schema that the policy declares for the tool,
/// otherwise the schema in the agent's version, otherwise the schema of the tool itself.
#[utoipa::path(get, path = "/v1/interactions/{interaction}/schema", tag = "interactions",
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`")),
    responses((status = 200, description = "The schema, if there is one", body = ActionSchemaView), Problems))]
pub(super) async fn interaction_schema(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
) -> Result<Json<ActionSchemaView>, ApiError> {
    Ok(Json(ActionSchemaView { schema: app.engine.interaction_schema(&caller, id).await? }))
}

/// Cancels a question. The caller who asked it may cancel it.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/cancel", tag = "interactions", request_body = CancelBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question that was cancelled", body = InteractionView), Problems))]
pub(super) async fn interaction_cancel(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: CancelBody { reason }, idempotency }: CommandRequest<CancelBody>,
) -> ChangeReply {
    reply(app.engine.interaction_cancel(&caller, id, reason, idempotency).await)
}

/// Ends a question as its deadline would: with its fallback, or as expired.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/expire", tag = "interactions", request_body = EmptyBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question with its fallback answer, or expired", body = InteractionView), Problems))]
pub(super) async fn interaction_expire(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: EmptyBody {}, idempotency }: CommandRequest<EmptyBody>,
) -> ChangeReply {
    reply(app.engine.interaction_expire(&caller, id, idempotency).await)
}

/// Claims a question for the caller for a limited time.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/claim", tag = "interactions", request_body = EmptyBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question with its claim", body = InteractionView), Problems))]
pub(super) async fn interaction_claim(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: EmptyBody {}, idempotency }: CommandRequest<EmptyBody>,
) -> ChangeReply {
    reply(app.engine.interaction_claim(&caller, id, idempotency).await)
}

/// Releases a claimed question.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/release", tag = "interactions", request_body = EmptyBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question without a claim", body = InteractionView), Problems))]
pub(super) async fn interaction_release(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: EmptyBody {}, idempotency }: CommandRequest<EmptyBody>,
) -> ChangeReply {
    reply(app.engine.interaction_release(&caller, id, idempotency).await)
}

/// Hands a question over to another channel. A session is opened for it there, and the original question can no longer be answered.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/handover", tag = "interactions", request_body = HandOverBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "The question, with the session that it was handed over to", body = InteractionView), Problems))]
pub(super) async fn interaction_handover(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: HandOverBody { channel, note }, idempotency }: CommandRequest<HandOverBody>,
) -> ChangeReply {
    reply(app.engine.interaction_handover(&caller, id, HandOver { channel, note }, idempotency).await)
}

/// Records that the caller abstains.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/abstain", tag = "interactions", request_body = AbstainBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question with the abstention", body = InteractionView), Problems))]
pub(super) async fn interaction_abstain(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: AbstainBody { note }, idempotency }: CommandRequest<AbstainBody>,
) -> ChangeReply {
    reply(app.engine.interaction_abstain(&caller, id, note, idempotency).await)
}
