//! The wire of seed 004: a conversation with an agent of ours as a stream that pauses for interactions.
//!
//! A session is known by its channel, which the client may choose, or by its id. It outlives every stream that shows it.

mod answer;
mod place;
mod request;
mod speech;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use domain::{Caller, Interaction, InteractionId, Refusal, Session, SessionId, Status, Timestamp};
use engine::{Beginning, Chat, Error, Idempotency, Named};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::refusals::{Also, placed, worded};
use crate::App;
use crate::caller::{Reading, Who};
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Query;
use crate::sse::{Source, stream_in};
use place::{Place, Places};
use speech::{Speech, Until};

/// How many events are looked through for something to say.
const PORTION: u32 = 200;

/// Its operations.
pub(super) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(react_chat_stream, react_session_stream))
        .routes(routes!(react_interaction_response))
        .layer(map_response(worded))
}

/// Says something to an agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({ "message": "用户消息", "sessionId": "session-123", "userId": "user-456" }))]
pub(super) struct ReactChatBody {
    /// What is said.
    message: String,
    /// The conversation; a new one if absent, or if there is none of that name.
    session_id: Option<String>,
    /// Whom the client speaks for. Kept with a new session; proves nothing.
    user_id: Option<String>,
    /// The agent; if absent whoever listens, and where a session begins that of the session before, else the only one, else the one called `default`.
    agent: Option<String>,
}

/// Says something to an agent, and shows what comes of it until its turn is over.
#[utoipa::path(post, path = "/api/agent/chat/react/stream", tag = "react", request_body = ReactChatBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = String,
               example = json!("id: 0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01:3\nevent: STARTED\ndata: {\"type\":\"STARTED\",…}\n\n")), Problems))]
async fn react_chat_stream(
    State(app): State<App>,
    Who(caller): Who,
    Command { body, once }: Command<ReactChatBody>,
) -> Result<Response, ApiError> {
    let ReactChatBody { message, session_id, user_id, agent } = body;
    let metadata = user_id.map_or(Value::Null, |user| json!({ "user_id": user }));
    let conversation = session_id.clone().filter(|name| !name.is_empty());
    let chat = Chat { conversation: conversation.clone(), agent, content: message, metadata };
    let said = app.engine.chat(&caller, chat, once).await;
    let (session, before) =
        said.map_err(|error| placed(error, &[("/content", "/message"), ("/channel", "/sessionId")]))?;
    let name = conversation.unwrap_or_else(|| session.head.channel.clone());
    let speech = Speech::new(name, Until::Turn, Places::of(session.id, Place::after(before)));
    told(&app, caller, session.id, (speech, before)).await
}

/// Which session.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct ReactStreamQuery {
    /// The conversation.
    #[param(rename = "sessionId")]
    session_id: String,
    /// In place of a key, for browsers: what `POST /v1/tickets` gave, good for one stream.
    #[expect(dead_code, reason = "read before the query is")]
    ticket: Option<String>,
}

/// Shows a conversation again, from the event after the last one seen, until its session has ended.
#[utoipa::path(get, path = "/api/agent/chat/react/stream", tag = "react",
    params(ReactStreamQuery, ("Last-Event-ID" = Option<String>, Header, description = "The last event seen; it names its session")),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = String,
               example = json!("id: 0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01:3\nevent: STARTED\ndata: {\"type\":\"STARTED\",…}\n\n")),
              (status = 204, description = "The session has ended, and everything was seen"), Problems))]
async fn react_session_stream(
    State(app): State<App>,
    Reading(caller): Reading,
    Query(query): Query<ReactStreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let name = query.session_id;
    let places: Places = match headers.get("last-event-id") {
        None => Places::default(),
        Some(value) => value
            .to_str()
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| ApiError::HeaderInvalid("Last-Event-ID: not an event of this stream".into()))?,
    };
    if let Some(Named::Channel(_)) = app.engine.named(&caller, &name).await? {
        return channel_told(&app, caller, name, places).await;
    }
    let session = app.engine.conversation(&caller, &name).await?.ok_or(Refusal::NotFound("session"))?;
    let until = session.ended.as_ref().map_or(Until::Session, |_| Until::Event(session.last_seq));
    let place = places.within(session.id);
    let mut speech = Speech::new(name, until, Places::of(session.id, place));
    if session.ended.is_some()
        && nothing_left(&app, &caller, (session.id, session.last_seq), (&mut speech, place)).await?
    {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    told(&app, caller, session.id, (speech, place.before())).await
}

/// Shows every session that goes on in a channel, and every one that begins in it; and to its end every one that the reader was in. Where all have
/// ended, the newest as well.
async fn channel_told(app: &App, caller: Caller, name: String, places: Places) -> Result<Response, ApiError> {
    let last = places.0.keys().max().copied();
    let mut known = known_in(app, &caller, &name, places).await?;
    if let Some(last) = last {
        // What has begun and ended since the reader was here is told as well.
        let begun = app.engine.begun_in(&caller, &name, last).await?.into_iter().take(place::MOST);
        known.extend(begun.map(|session| (session.id, (session, Place::after(0)))));
    }
    let live = app.engine.live_in(&caller, &name).await?;
    if live.is_empty() {
        let newest = app.engine.conversation(&caller, &name).await?.ok_or(Refusal::NotFound("session"))?;
        known.entry(newest.id).or_insert((newest, Place::after(0)));
    }
    let places = known.iter().map(|(id, (_, place))| (*id, *place)).collect();
    let mut speech = Speech::new(name.clone(), Until::Channel, Places(places));
    for (id, (session, place)) in &known {
        if session.ended.is_none() {
            speech.expects(*id, None);
        } else if !nothing_left(app, &caller, (*id, session.last_seq), (&mut speech, *place)).await? {
            speech.expects(*id, Some(session.last_seq));
        }
    }
    // Whatever goes on now is told to its end, though it may end before it is followed.
    live.iter().for_each(|session| speech.expects(session.id, None));
    if speech.all_said() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut after: BTreeMap<_, _> = live.iter().map(|session| (session.id, 0)).collect();
    after.extend(known.iter().map(|(id, (_, place))| (*id, place.before())));
    let follower = app.engine.follow_channel(&caller, &name, Beginning::After(after)).await?;
    stream_in(speech, app, caller, Source::Channel(follower))
}

/// The sessions of a channel that a reader was in. What was heard of others says nothing of these.
async fn known_in(
    app: &App,
    caller: &Caller,
    name: &str,
    places: Places,
) -> Result<BTreeMap<SessionId, (Session, Place)>, ApiError> {
    let mut known = BTreeMap::new();
    for (id, place) in places.0 {
        match app.engine.session(caller, id).await {
            Ok((session, ..)) if session.head.channel == name => drop(known.insert(id, (session, place))),
            Ok(_) | Err(Error::Refused(Refusal::NotFound(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(known)
}

/// Whether whoever was there has heard all that there is to hear of a session that has ended: browsers would connect again for ever.
async fn nothing_left(
    app: &App,
    caller: &Caller,
    (session, end): (SessionId, u64),
    (speech, place): (&mut Speech, Place),
) -> Result<bool, ApiError> {
    speech.meets(app, caller, session).await?;
    let left = app.engine.events(caller, session, place.before(), PORTION, Duration::ZERO).await?;
    let read_to_its_end = left.last().map_or(place.before(), |last| last.seq) >= end;
    Ok(read_to_its_end && left.iter().all(|event| speech.silent(event)))
}

async fn told(
    app: &App,
    caller: Caller,
    session: SessionId,
    (speech, after): (Speech, u64),
) -> Result<Response, ApiError> {
    let follower = app.engine.follow(&caller, session, after).await?;
    stream_in(speech, app, caller, Source::Session(follower))
}

/// What a person chooses.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "sessionId": "session-123", "requestId": "request-456", "selectedOptionId": "approve",
    "feedback": "用户反馈（可选）", "data": { "key": "value" }
}))]
pub(super) struct ReactResponseBody {
    /// The conversation.
    session_id: String,
    /// The request.
    request_id: String,
    /// The option chosen.
    selected_option_id: String,
    /// A reason, or what the option asks for.
    feedback: Option<String>,
    /// The form, or the information.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    data: Value,
}

/// What became of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "success": true, "message": "用户响应已处理，正在恢复执行", "sessionId": "session-123", "timestamp": "2025-10-22T17:00:00Z"
}))]
pub(super) struct ReactReply {
    /// Whether it counts.
    success: bool,
    /// What a person may be shown.
    message: &'static str,
    /// The conversation.
    session_id: String,
    /// When it was taken.
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
}

/// Answers a request. The first answer wins, and its agent goes on.
#[utoipa::path(post, path = "/api/agent/chat/react/interaction_response", tag = "react", request_body = ReactResponseBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "It counts", body = ReactReply), Problems))]
async fn react_interaction_response(
    State(app): State<App>,
    Who(caller): Who,
    Command { body, once }: Command<ReactResponseBody>,
) -> Response {
    let (session_id, at) = (body.session_id.clone(), app.engine.now());
    match responded(&app, &caller, body, once).await {
        Ok(answered) => {
            let message = match answered.status() {
                Status::Pending => "用户响应已记录，等待其他人响应",
                _ => "用户响应已处理，正在恢复执行",
            };
            let timestamp = answered.resolved_at().unwrap_or(at);
            Json(ReactReply { success: true, message, session_id, timestamp }).into_response()
        }
        Err(error) => {
            let mut refused = error.into_response();
            refused.extensions_mut().insert(Also(json!({ "sessionId": session_id, "timestamp": at })));
            refused
        }
    }
}

async fn responded(
    app: &App,
    caller: &Caller,
    body: ReactResponseBody,
    once: Option<Idempotency>,
) -> Result<Interaction, ApiError> {
    caller.require(domain::access::Right::Answer)?;
    let unknown = || Error::from(Refusal::NotFound("interaction"));
    let id: InteractionId = body.request_id.parse().map_err(|_| unknown())?;
    let asked = app.engine.interaction(caller, id, Duration::ZERO).await?;
    let by_id = body.session_id.parse::<SessionId>().is_ok_and(|session| session == asked.origin.session);
    if !by_id && asked.origin.channel != body.session_id {
        return Err(unknown().into());
    }
    let draft = answer::draft(body.selected_option_id, body.feedback, body.data, &asked.question);
    let answered = app.engine.answer(caller, id, draft, once).await;
    answered.map_err(|error| placed(error, answer::FIELDS))
}
