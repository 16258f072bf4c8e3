//! `hitl`: requests of four types that wait for a person, their responses, and their status.
//!
//! A conversation is a session, named by its id or its channel. A kind of question that has no type in this dialect is
//! shown as the nearest type, with the kind in its metadata, and is answered in the form of that type.
//!
//! This module has the operations. `ask.rs` parses the requests of agents, `respond.rs` the responses of people,
//! `views.rs` renders requests.

mod ask;
mod respond;
mod views;

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::middleware::map_response;
use domain::{Caller, Interaction, InteractionId, ProjectId, Refusal, Status};
use engine::{AnswerTarget, Ask, Error, InteractionQuery, NamedConversation};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use store::InteractionFilter;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::pending::PendingQuery;
use super::refusals::{map_fields, reword_refusal};
use ask::HitlRequestBody;
use respond::HitlRespondBody;
use server::App;
use server::handler::{
    ApiError, Authenticated, CommandRequest, IdempotencyKey, PathId, Problems, Query, page, traceparent,
};
use views::{HitlPendingView, HitlRequestView, HitlStatus};

/// Path prefixes, each with the suffix that makes its operation ids unique in the OpenAPI document.
const PREFIXES: [(&str, &str); 2] = [("/hitl", ""), ("/api/v1/agent/hitl", "_long")];

/// Default page size for a conversation.
const PAGE: u32 = 200;

/// Operations of this dialect, under both prefixes.
pub(super) fn operations() -> OpenApiRouter<App> {
    PREFIXES.into_iter().fold(OpenApiRouter::new(), |all, (prefix, suffix)| {
        let mut here = OpenApiRouter::new().nest(prefix, unprefixed());
        for item in here.get_openapi_mut().paths.paths.values_mut() {
            for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
                operation.operation_id = operation.operation_id.take().map(|id| id + suffix);
            }
        }
        all.merge(here)
    })
}

fn unprefixed() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(hitl_conversation_pending))
        .routes(routes!(hitl_project_pending))
        .routes(routes!(hitl_request))
        .routes(routes!(hitl_ask))
        .routes(routes!(hitl_respond))
        .routes(routes!(hitl_cancel))
        .layer(map_response(reword_refusal))
}

/// Reply to a command.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "success": true, "message": "Response received" }))]
pub(super) struct HitlReply {
    /// Whether the command was carried out.
    success: bool,
    /// Message for the user.
    message: String,
}

fn success(message: impl Into<String>) -> Json<HitlReply> {
    Json(HitlReply { success: true, message: message.into() })
}

/// Lists the pending requests of a conversation, oldest first.
#[utoipa::path(get, path = "/conversations/{conversation}/pending", tag = "hitl",
    params(("conversation" = String, Path, description = "A session or its channel"), PendingQuery),
    responses((status = 200, description = "Page of pending requests", body = HitlPendingView), Problems))]
async fn hitl_conversation_pending(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(conversation): PathId<String>,
    Query(query): Query<PendingQuery>,
) -> Result<Json<HitlPendingView>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit.or(Some(PAGE)))?;
    let session = app.engine.find_session(&caller, &conversation).await?.ok_or(Refusal::NotFound("session"))?;
    let filter = match app.engine.resolve_name(&caller, &conversation).await? {
        // All sessions of the channel.
        Some(NamedConversation::Channel(_)) => InteractionFilter { channel: Some(conversation.clone()), ..pending() },
        Some(NamedConversation::Session(_)) | None => InteractionFilter { session: Some(session.id), ..pending() },
    };
    let query = InteractionQuery { filter, ..InteractionQuery::default() };
    let (found, next) = app.engine.interaction_list(&caller, query, page).await?;
    Ok(Json(HitlPendingView::of(found, next, Some(&conversation))))
}

/// Lists the pending requests of the project, oldest first.
#[utoipa::path(get, path = "/projects/{project}/pending", tag = "hitl",
    params(("project" = String, Path, description = "The caller's project, by id or name"), PendingQuery),
    responses((status = 200, description = "Page of pending requests", body = HitlPendingView), Problems))]
async fn hitl_project_pending(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(project): PathId<String>,
    Query(query): Query<PendingQuery>,
) -> Result<Json<HitlPendingView>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    if !is_callers_project(&app, &caller, &project).await? {
        return Err(Refusal::NotFound("project").into());
    }
    let query = InteractionQuery { filter: pending(), ..InteractionQuery::default() };
    let (found, next) = app.engine.interaction_list(&caller, query, page).await?;
    Ok(Json(HitlPendingView::of(found, next, None)))
}

async fn is_callers_project(app: &App, caller: &Caller, project: &str) -> Result<bool, Error> {
    if project.parse::<ProjectId>().is_ok_and(|id| id == caller.scope.project) {
        return Ok(true);
    }
    let me = app.engine.me_get(caller).await?;
    Ok(me.projects.iter().any(|place| place.project == caller.scope.project && place.name == project))
}

fn pending() -> InteractionFilter {
    InteractionFilter { status: Some(Status::Pending), ..InteractionFilter::default() }
}

/// Returns one request with its state.
#[utoipa::path(get, path = "/requests/{request}", tag = "hitl",
    params(("request" = String, Path, description = "Identifier of the question, `int_…`")),
    responses((status = 200, description = "Request with its current status", body = HitlRequestView), Problems))]
async fn hitl_request(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(request): PathId<String>,
) -> Result<Json<HitlRequestView>, ApiError> {
    let found = load(&app, &caller, &request).await?;
    let status = match &found.question.call_id {
        Some(call) => match app.engine.action_get(&caller, found.origin.session, call.clone(), Duration::ZERO).await {
            Ok(acted) => HitlStatus::of(&found, Some((&acted.action.state, acted.at))),
            Err(Error::Refused(Refusal::NotFound(_))) => HitlStatus::of(&found, None),
            Err(error) => return Err(error.into()),
        },
        None => HitlStatus::of(&found, None),
    };
    Ok(Json(HitlRequestView::new(found, None, status)))
}

/// Creates a request in an existing conversation. Without `timeout_seconds` the default of this API applies.
#[utoipa::path(post, path = "/requests", tag = "hitl", request_body = HitlRequestBody,
    params(IdempotencyKey,
           ("traceparent" = Option<String>, Header, description = "W3C trace context, returned with the answer")),
    responses((status = 201, description = "Request that was created", body = HitlRequestView), Problems))]
async fn hitl_ask(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
    CommandRequest { body, idempotency }: CommandRequest<HitlRequestBody>,
) -> Result<(StatusCode, Json<HitlRequestView>), ApiError> {
    caller.require(domain::access::Right::Ask)?;
    let conversation = body.conversation().to_owned();
    let session = app.engine.find_own_session(&caller, &conversation).await?.ok_or(Refusal::NotFound("session"))?;
    let ask = Ask { traceparent: traceparent(&headers), ..body.into_ask()? };
    let asked = app
        .engine
        .interaction_ask(&caller, session.id, ask, idempotency)
        .await
        .map_err(|error| map_fields(error, ask::FIELDS))?;
    let status = HitlStatus::of(&asked, None);
    Ok((StatusCode::CREATED, Json(HitlRequestView::new(asked, Some(&conversation), status))))
}

/// Responds to a request, in the form of its type. The first response wins.
#[utoipa::path(post, path = "/respond", tag = "hitl", request_body = HitlRespondBody,
    params(IdempotencyKey),
    responses((status = 200, description = "The response was accepted", body = HitlReply), Problems))]
async fn hitl_respond(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<HitlRespondBody>,
) -> Result<Json<HitlReply>, ApiError> {
    caller.require(domain::access::Right::Answer)?;
    let target = AnswerTarget::Question(parse_id(&body.request_id)?);
    let subject = app.engine.read_subject(&caller, target).await?;
    let (draft, note) = respond::draft(body, &subject.asked.question)?;
    let fields = respond::fields(&subject.asked.question);
    let answered = app.engine.answer_subject(&caller, subject, draft, idempotency).await;
    let answered = answered.map_err(|error| map_fields(error, fields))?;
    let recorded = match answered.status() {
        Status::Pending => "Response recorded; other people still have to respond",
        Status::Answered | Status::AutoResolved | Status::Expired | Status::Cancelled => "Response received",
    };
    Ok(success(match note {
        Some(note) => format!("{recorded}; {note}"),
        None => recorded.to_owned(),
    }))
}

/// Body that cancels a request.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({ "request_id": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "reason": "no longer needed" }))]
pub(super) struct HitlCancelBody {
    /// Identifier of the request.
    request_id: String,
    /// Reason for the cancellation.
    reason: Option<String>,
}

/// Cancels a request that waits for an answer.
#[utoipa::path(post, path = "/cancel", tag = "hitl", request_body = HitlCancelBody,
    params(IdempotencyKey),
    responses((status = 200, description = "The request was cancelled", body = HitlReply), Problems))]
async fn hitl_cancel(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: HitlCancelBody { request_id, reason }, idempotency }: CommandRequest<HitlCancelBody>,
) -> Result<Json<HitlReply>, ApiError> {
    let id = parse_id(&request_id)?;
    app.engine.interaction_cancel(&caller, id, reason, idempotency).await?;
    Ok(success("Request cancelled"))
}

async fn load(app: &App, caller: &Caller, request: &str) -> Result<Interaction, ApiError> {
    Ok(app.engine.interaction_get(caller, parse_id(request)?, Duration::ZERO).await?)
}

/// Parses the id of a request. A malformed id is reported as not found.
fn parse_id(request: &str) -> Result<InteractionId, Refusal> {
    request.parse().map_err(|_| Refusal::NotFound("interaction"))
}
