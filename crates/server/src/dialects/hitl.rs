//! The wire of seed 001: requests of four types that wait for a person, their responses, and their status.
//!
//! A conversation is a session, by its id or its channel. A kind of ours that this wire has no type for is shown under the nearest one, with our
//! kind in its metadata, and answered in the form of that type.

mod ask;
mod respond;
mod views;

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::middleware::map_response;
use domain::{Caller, Interaction, InteractionId, ProjectId, Refusal, Status};
use engine::{Ask, Error, InteractionQuery, Named};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use store::{InteractionFilter, Page};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::refusals::{placed, worded};
use crate::App;
use crate::caller::Who;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Id, Query, cursor, limit};
use crate::trace::traceparent;
use ask::HitlRequestBody;
use respond::HitlRespondBody;
use views::{HitlPendingView, HitlRequestView, HitlStatus};

/// Where it is served; the document tells the second from the first by the ends of its names.
const PREFIXES: [(&str, &str); 2] = [("/hitl", ""), ("/api/v1/agent/hitl", "_long")];

/// How many requests of a conversation a page has, unless less is asked for.
const PORTION: u32 = 200;

/// Its operations, under both prefixes.
pub(super) fn operations() -> OpenApiRouter<App> {
    PREFIXES.into_iter().fold(OpenApiRouter::new(), |all, (prefix, suffix)| {
        let mut here = OpenApiRouter::new().nest(prefix, bare());
        for item in here.get_openapi_mut().paths.paths.values_mut() {
            for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
                operation.operation_id = operation.operation_id.take().map(|id| id + suffix);
            }
        }
        all.merge(here)
    })
}

fn bare() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(hitl_conversation_pending))
        .routes(routes!(hitl_project_pending))
        .routes(routes!(hitl_request))
        .routes(routes!(hitl_ask))
        .routes(routes!(hitl_respond))
        .routes(routes!(hitl_cancel))
        .layer(map_response(worded))
}

/// What a command replies.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "success": true, "message": "Response received" }))]
pub(super) struct HitlReply {
    /// Whether it was done.
    success: bool,
    /// What a person may be shown.
    message: String,
}

fn done(message: impl Into<String>) -> Json<HitlReply> {
    Json(HitlReply { success: true, message: message.into() })
}

/// The requests of a conversation that wait for a person, the oldest first.
#[utoipa::path(get, path = "/conversations/{conversation}/pending", tag = "hitl",
    params(("conversation" = String, Path, description = "A session or its channel"), PendingQuery),
    responses((status = 200, description = "What waits", body = HitlPendingView), Problems))]
async fn hitl_conversation_pending(
    State(app): State<App>,
    Who(caller): Who,
    Id(conversation): Id<String>,
    Query(query): Query<PendingQuery>,
) -> Result<Json<HitlPendingView>, ApiError> {
    let page = Page { after: cursor(query.cursor.as_deref())?, limit: limit(query.limit.or(Some(PORTION)))? };
    let session = app.engine.conversation(&caller, &conversation).await?.ok_or(Refusal::NotFound("session"))?;
    let filter = match app.engine.named(&caller, &conversation).await? {
        // Everything that is asked in it, in whichever session.
        Some(Named::Channel(_)) => InteractionFilter { channel: Some(conversation.clone()), ..open() },
        _ => InteractionFilter { session: Some(session.id), ..open() },
    };
    let query = InteractionQuery { filter, ..InteractionQuery::default() };
    let (found, next) = app.engine.interactions(&caller, query, page).await?;
    Ok(Json(HitlPendingView::of(found, next, Some(&conversation))))
}

/// Which part of what waits.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PendingQuery {
    /// Where the page before ended: its `next`.
    cursor: Option<String>,
    /// At most so many, and about 4 MiB; 200 of a conversation and 50 of a project if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// The requests of the project that wait for a person, the oldest first.
#[utoipa::path(get, path = "/projects/{project}/pending", tag = "hitl",
    params(("project" = String, Path, description = "The caller's project, by id or name"), PendingQuery),
    responses((status = 200, description = "What waits", body = HitlPendingView), Problems))]
async fn hitl_project_pending(
    State(app): State<App>,
    Who(caller): Who,
    Id(project): Id<String>,
    Query(query): Query<PendingQuery>,
) -> Result<Json<HitlPendingView>, ApiError> {
    let page = Page { after: cursor(query.cursor.as_deref())?, limit: limit(query.limit)? };
    if !is_of(&app, &caller, &project).await? {
        return Err(Refusal::NotFound("project").into());
    }
    let query = InteractionQuery { filter: open(), ..InteractionQuery::default() };
    let (found, next) = app.engine.interactions(&caller, query, page).await?;
    Ok(Json(HitlPendingView::of(found, next, None)))
}

async fn is_of(app: &App, caller: &Caller, project: &str) -> Result<bool, Error> {
    if project.parse::<ProjectId>().is_ok_and(|id| id == caller.scope.project) {
        return Ok(true);
    }
    let me = app.engine.me(caller).await?;
    Ok(me.projects.iter().any(|place| place.project == caller.scope.project && place.name == project))
}

fn open() -> InteractionFilter {
    InteractionFilter { status: Some(Status::Pending), ..InteractionFilter::default() }
}

/// One request, as far as it is.
#[utoipa::path(get, path = "/requests/{request}", tag = "hitl",
    params(("request" = String, Path, description = "`int_…`")),
    responses((status = 200, description = "The request", body = HitlRequestView), Problems))]
async fn hitl_request(
    State(app): State<App>,
    Who(caller): Who,
    Id(request): Id<String>,
) -> Result<Json<HitlRequestView>, ApiError> {
    let found = named(&app, &caller, &request).await?;
    let status = match &found.question.call_id {
        Some(call) => match app.engine.action(&caller, found.origin.session, call.clone(), Duration::ZERO).await {
            Ok(acted) => HitlStatus::of(&found, Some(acted.proposal.state_name(acted.at))),
            Err(Error::Refused(Refusal::NotFound(_))) => HitlStatus::of(&found, None),
            Err(error) => return Err(error.into()),
        },
        None => HitlStatus::of(&found, None),
    };
    Ok(Json(HitlRequestView::new(found, None, status)))
}

/// Asks a person, in a conversation that there is. Who says nothing of the deadline gets the wire's own.
#[utoipa::path(post, path = "/requests", tag = "hitl", request_body = HitlRequestBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result"),
           ("traceparent" = Option<String>, Header, description = "Given back with the answer")),
    responses((status = 201, description = "The request", body = HitlRequestView), Problems))]
async fn hitl_ask(
    State(app): State<App>,
    Who(caller): Who,
    headers: HeaderMap,
    Command { body, once }: Command<HitlRequestBody>,
) -> Result<(StatusCode, Json<HitlRequestView>), ApiError> {
    caller.require(domain::access::Right::Ask)?;
    let conversation = body.conversation().to_owned();
    let session = app.engine.own_conversation(&caller, &conversation).await?.ok_or(Refusal::NotFound("session"))?;
    let ask = Ask { traceparent: traceparent(&headers), ..body.into_ask()? };
    let asked = app.engine.ask(&caller, session.id, ask, once).await.map_err(|error| placed(error, ask::FIELDS))?;
    let status = HitlStatus::of(&asked, None);
    Ok((StatusCode::CREATED, Json(HitlRequestView::new(asked, Some(&conversation), status))))
}

/// A person responds, in the form of the request's type. The first response wins.
#[utoipa::path(post, path = "/respond", tag = "hitl", request_body = HitlRespondBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "It counts", body = HitlReply), Problems))]
async fn hitl_respond(
    State(app): State<App>,
    Who(caller): Who,
    Command { body, once }: Command<HitlRespondBody>,
) -> Result<Json<HitlReply>, ApiError> {
    caller.require(domain::access::Right::Answer)?;
    let asked = named(&app, &caller, &body.request_id).await?;
    let (draft, note) = respond::draft(body, &asked.question)?;
    let answered = app.engine.answer(&caller, asked.id, draft, once).await;
    let answered = answered.map_err(|error| placed(error, respond::fields(&asked.question)))?;
    let taken = match answered.status() {
        Status::Pending => "Response recorded; others are still to respond",
        _ => "Response received",
    };
    Ok(done(match note {
        Some(note) => format!("{taken}; {note}"),
        None => taken.to_owned(),
    }))
}

/// Withdraws a request.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({ "request_id": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "reason": "no longer needed" }))]
pub(super) struct HitlCancelBody {
    /// Which.
    request_id: String,
    /// Why.
    reason: Option<String>,
}

/// Closes a request without a response.
#[utoipa::path(post, path = "/cancel", tag = "hitl", request_body = HitlCancelBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "It is closed", body = HitlReply), Problems))]
async fn hitl_cancel(
    State(app): State<App>,
    Who(caller): Who,
    Command { body: HitlCancelBody { request_id, reason }, once }: Command<HitlCancelBody>,
) -> Result<Json<HitlReply>, ApiError> {
    let id = id_of(&request_id)?;
    app.engine.cancel(&caller, id, reason, once).await?;
    Ok(done("Request cancelled"))
}

async fn named(app: &App, caller: &Caller, request: &str) -> Result<Interaction, ApiError> {
    Ok(app.engine.interaction(caller, id_of(request)?, Duration::ZERO).await?)
}

/// A name that is no id of ours names nothing that is here.
fn id_of(request: &str) -> Result<InteractionId, Refusal> {
    request.parse().map_err(|_| Refusal::NotFound("interaction"))
}
