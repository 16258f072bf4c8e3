//! `react`: a conversation with a hosted agent, as an event stream that pauses for interactions.
//!
//! A session is named by its channel, which the client may choose, or by its id. It outlives every stream that shows
//! it.
//!
//! This module has the operations. `events.rs` translates events of a session, `position.rs` is the format of
//! `Last-Event-ID`, `request.rs` renders questions, `answer.rs` parses responses.

mod answer;
mod events;
mod position;
mod request;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use domain::{Caller, Interaction, InteractionId, Refusal, Session, SessionId, Status, Timestamp};
use engine::{AnswerTarget, ChannelStart, Chat, Error, Idempotency, NamedConversation};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::refusals::{ExtraFields, map_fields, reword_refusal};
use events::{ReactEvents, StreamEnd};
use position::{Position, Positions};
use server::App;
use server::handler::{
    ApiError, Authenticated, CommandRequest, EventSource, IdempotencyKey, Problems, Query, StreamCaller, stream_events,
};

/// Number of events that are checked for unsent ones.
const PAGE: u32 = 200;

/// Operations of this dialect.
pub(super) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(react_chat_stream, react_session_stream))
        .routes(routes!(react_interaction_response))
        .layer(map_response(reword_refusal))
}

/// Body of a message to an agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({ "message": "用户消息", "sessionId": "session-123", "userId": "user-456" }))]
pub(super) struct ReactChatBody {
    /// Text of the message.
    message: String,
    /// Name of the conversation. A new one is started if it is absent or unknown.
    session_id: Option<String>,
    /// Name of the client's user, stored in the metadata of a new session. It is not a credential.
    user_id: Option<String>,
    /// Name of the agent. If absent: the agent that listens; for a new session the agent of the previous session, else the only agent, else the agent `default`.
    agent: Option<String>,
}

/// Sends a message to an agent and streams the events until the end of its turn.
#[utoipa::path(post, path = "/api/agent/chat/react/stream", tag = "react", request_body = ReactChatBody,
    params(IdempotencyKey),
    responses((status = 200, description = "The event stream", content_type = "text/event-stream", body = String,
               example = json!("id: 0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01:3\nevent: STARTED\ndata: {\"type\":\"STARTED\",…}\n\n")), Problems))]
async fn react_chat_stream(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<ReactChatBody>,
) -> Result<Response, ApiError> {
    let ReactChatBody { message, session_id, user_id, agent } = body;
    let metadata = user_id.map_or(Value::Null, |user| json!({ "user_id": user }));
    let conversation = session_id.clone().filter(|name| !name.is_empty());
    let chat = Chat { conversation: conversation.clone(), agent, content: message, metadata };
    let said = app.engine.send_chat_message(&caller, chat, idempotency).await;
    let (session, before) =
        said.map_err(|error| map_fields(error, &[("/content", "/message"), ("/channel", "/sessionId")]))?;
    let name = conversation.unwrap_or_else(|| session.head.channel.clone());
    let events = ReactEvents::new(name, StreamEnd::Turn, Positions::of(session.id, Position::after(before)));
    stream_session(&app, caller, session.id, (events, before)).await
}

/// Query of the stream.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct ReactStreamQuery {
    /// Name of the conversation.
    #[param(rename = "sessionId")]
    session_id: String,
    /// Ticket from `POST /v1/tickets`, in place of a key, for browsers. It opens one stream.
    #[expect(dead_code, reason = "the authentication extractor reads the ticket from the query")]
    ticket: Option<String>,
}

/// Streams a conversation, from the event after `Last-Event-ID` to the end of its session.
#[utoipa::path(get, path = "/api/agent/chat/react/stream", tag = "react",
    params(ReactStreamQuery, ("Last-Event-ID" = Option<String>, Header, description = "Id of the last received event")),
    responses((status = 200, description = "The event stream", content_type = "text/event-stream", body = String,
               example = json!("id: 0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01:3\nevent: STARTED\ndata: {\"type\":\"STARTED\",…}\n\n")),
              (status = 204, description = "The session has ended and all its events were received"), Problems))]
async fn react_session_stream(
    State(app): State<App>,
    StreamCaller(caller): StreamCaller,
    Query(query): Query<ReactStreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let name = query.session_id;
    let positions: Positions = match headers.get("last-event-id") {
        None => Positions::default(),
        Some(value) => value
            .to_str()
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| ApiError::HeaderInvalid("Last-Event-ID: not an event of this stream".into()))?,
    };
    if let Some(NamedConversation::Channel(_)) = app.engine.resolve_name(&caller, &name).await? {
        return stream_channel(&app, caller, name, positions).await;
    }
    let session = app.engine.find_session(&caller, &name).await?.ok_or(Refusal::NotFound("session"))?;
    let until = session.ended.as_ref().map_or(StreamEnd::Session, |_| StreamEnd::Event(session.last_seq));
    let position = positions.within(session.id);
    let mut events = ReactEvents::new(name, until, Positions::of(session.id, position));
    if session.ended.is_some() && is_fully_read(&app, &caller, &session, &mut events, position).await? {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    stream_session(&app, caller, session.id, (events, position.before())).await
}

/// Streams all running sessions of a channel and those that begin in it, and finishes the sessions in which the reader
/// was. Where all sessions have ended, the newest is streamed as well.
async fn stream_channel(app: &App, caller: Caller, name: String, positions: Positions) -> Result<Response, ApiError> {
    let last = positions.0.keys().max().copied();
    let mut known = sessions_read(app, &caller, &name, positions).await?;
    if let Some(last) = last {
        // Sessions that began and ended since the reader disconnected are streamed as well.
        let begun = app.engine.sessions_begun_after(&caller, &name, last).await?.into_iter().take(position::MOST);
        known.extend(begun.map(|session| (session.id, (session, Position::after(0)))));
    }
    let live = app.engine.live_sessions(&caller, &name).await?;
    if live.is_empty() {
        let newest = app.engine.find_session(&caller, &name).await?.ok_or(Refusal::NotFound("session"))?;
        known.entry(newest.id).or_insert((newest, Position::after(0)));
    }
    let positions = known.iter().map(|(id, (_, position))| (*id, *position)).collect();
    let mut events = ReactEvents::new(name.clone(), StreamEnd::Channel, Positions(positions));
    for (id, (session, position)) in &known {
        if session.ended.is_none() {
            events.expect_end(*id, None);
        } else if !is_fully_read(app, &caller, session, &mut events, *position).await? {
            events.expect_end(*id, Some(session.last_seq));
        }
    }
    // A session that runs now is streamed to its end, even if it ends before the follower starts.
    live.iter().for_each(|session| events.expect_end(session.id, None));
    if events.is_complete() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut after: BTreeMap<_, _> = live.iter().map(|session| (session.id, 0)).collect();
    after.extend(known.iter().map(|(id, (_, position))| (*id, position.before())));
    let follower = app.engine.channel_follow(&caller, &name, ChannelStart::After(after)).await?;
    stream_events(events, app, caller, EventSource::Channel(follower))
}

/// Sessions of the channel in which the reader has a position. Positions in sessions of other channels are ignored.
async fn sessions_read(
    app: &App,
    caller: &Caller,
    name: &str,
    positions: Positions,
) -> Result<BTreeMap<SessionId, (Session, Position)>, ApiError> {
    let mut known = BTreeMap::new();
    for (id, position) in positions.0 {
        match app.engine.session(caller, id).await {
            Ok((session, ..)) if session.head.channel == name => drop(known.insert(id, (session, position))),
            Ok(_) | Err(Error::Refused(Refusal::NotFound(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(known)
}

/// Whether the reader has received all events of a session that has ended. Without this check browsers would reconnect
/// for ever.
async fn is_fully_read(
    app: &App,
    caller: &Caller,
    session: &Session,
    events: &mut ReactEvents,
    position: Position,
) -> Result<bool, ApiError> {
    events.learn(app, caller, session.id).await?;
    let left = app.engine.event_list(caller, session.id, position.before(), PAGE, Duration::ZERO).await?;
    let read_to_its_end = left.last().map_or(position.before(), |last| last.seq) >= session.last_seq;
    Ok(read_to_its_end && left.iter().all(|event| events.is_silent(event)))
}

async fn stream_session(
    app: &App,
    caller: Caller,
    session: SessionId,
    (events, after): (ReactEvents, u64),
) -> Result<Response, ApiError> {
    let follower = app.engine.session_follow(&caller, session, after).await?;
    stream_events(events, app, caller, EventSource::Session(follower))
}

/// Body of a response.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "sessionId": "session-123", "requestId": "request-456", "selectedOptionId": "approve",
    "feedback": "用户反馈（可选）", "data": { "key": "value" }
}))]
pub(super) struct ReactResponseBody {
    /// Name of the conversation.
    session_id: String,
    /// Identifier of the request.
    request_id: String,
    /// Identifier of the chosen option.
    selected_option_id: String,
    /// Reason, or the input that the option asks for.
    feedback: Option<String>,
    /// The form, or the requested information.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    data: Value,
}

/// Reply to a response.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "success": true, "message": "用户响应已处理，正在恢复执行", "sessionId": "session-123", "timestamp": "2025-10-22T17:00:00Z"
}))]
pub(super) struct ReactReply {
    /// Whether the response was accepted.
    success: bool,
    /// Message for the user.
    message: &'static str,
    /// Name of the conversation.
    session_id: String,
    /// Time when the response was accepted.
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
}

/// Responds to a request. The first response wins, and the agent continues.
#[utoipa::path(post, path = "/api/agent/chat/react/interaction_response", tag = "react", request_body = ReactResponseBody,
    params(IdempotencyKey),
    responses((status = 200, description = "The response was accepted", body = ReactReply), Problems))]
async fn react_interaction_response(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<ReactResponseBody>,
) -> Response {
    let (session_id, at) = (body.session_id.clone(), app.engine.now());
    match answer_request(&app, &caller, body, idempotency).await {
        Ok(answered) => {
            let message = match answered.status() {
                Status::Pending => "用户响应已记录，等待其他人响应",
                Status::Answered | Status::AutoResolved | Status::Expired | Status::Cancelled => {
                    "用户响应已处理，正在恢复执行"
                }
            };
            let timestamp = answered.resolved_at().unwrap_or(at);
            Json(ReactReply { success: true, message, session_id, timestamp }).into_response()
        }
        Err(error) => {
            let mut refused = error.into_response();
            refused.extensions_mut().insert(ExtraFields(json!({ "sessionId": session_id, "timestamp": at })));
            refused
        }
    }
}

async fn answer_request(
    app: &App,
    caller: &Caller,
    body: ReactResponseBody,
    idempotency: Option<Idempotency>,
) -> Result<Interaction, ApiError> {
    caller.require(domain::access::Right::Answer)?;
    let unknown = || Error::from(Refusal::NotFound("interaction"));
    let id: InteractionId = body.request_id.parse().map_err(|_| unknown())?;
    let subject = app.engine.read_subject(caller, AnswerTarget::Question(id)).await?;
    let asked = &subject.asked;
    let by_id = body.session_id.parse::<SessionId>().is_ok_and(|session| session == asked.origin.session);
    if !by_id && asked.origin.channel != body.session_id {
        return Err(unknown().into());
    }
    let draft = answer::draft(body.selected_option_id, body.feedback, body.data, &asked.question);
    let answered = app.engine.answer_subject(caller, subject, draft, idempotency).await;
    answered.map_err(|error| map_fields(error, answer::FIELDS))
}
