//! Requests on the socket of `/v1`: an operation, its path parameters, and the body that it has over HTTP.

use std::str::FromStr;

use domain::{ActionState, Caller, InteractionId, SessionId};
use engine::{ActionReply, Ask, Idempotency, Propose};
use protocol::{
    ActionView, AnswerBody, EmptyBody, InteractionView, OutcomeBody, PermitBody, SubscribeBody, UnsubscribeBody,
};
use serde_json::{Map, Value};

use crate::App;
use crate::command::{KEY_FORM, is_idempotency_key, parse_object, parse_part};
use crate::error::ApiError;
use crate::middleware::{LONGEST_TRACEPARENT, TRACEPARENT};
use crate::routes::actions::{proposed, reported};
use crate::routes::interactions::ask_from_body;

/// All types of requests.
const REQUESTS: [&str; 8] = ["subscribe", "unsubscribe", "propose", "action", "start", "outcome", "ask", "answer"];

/// A request on a socket, parsed.
pub(super) struct Request {
    pub(super) id: Option<String>,
    pub(super) operation: Operation,
    pub(super) idempotency: Option<Idempotency>,
}

/// The operation of a request.
pub(super) enum Operation {
    Subscribe(SubscribeBody),
    Unsubscribe(UnsubscribeBody),
    Propose(SessionId, Propose),
    GetAction(SessionId, String),
    Start(SessionId, String, PermitBody),
    Outcome(SessionId, String, OutcomeBody),
    Ask(SessionId, Box<Ask>),
    Answer(InteractionId, Box<AnswerBody>),
}

impl Request {
    /// Parses a message as strictly as a body. An error carries the id of the request if that could be read.
    pub(super) fn read(text: &str) -> Result<Self, (Option<String>, ApiError)> {
        let mut fields: Map<String, Value> = parse_object(text.as_bytes()).map_err(|error| (None, error))?;
        let id = match fields.remove("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if (1..=64).contains(&id.len()) => Some(id),
            Some(_) => return Err((None, ApiError::invalid("/id", "must be a text of 1 to 64 bytes"))),
        };
        match Self::operation(fields) {
            Ok((operation, idempotency)) => Ok(Self { id, operation, idempotency }),
            Err(error) => Err((id, error)),
        }
    }

    fn operation(mut fields: Map<String, Value>) -> Result<(Operation, Option<Idempotency>), ApiError> {
        let kind = text(&mut fields, "type")?;
        // Removed before the idempotency digest: a retry belongs to another trace.
        let trace = if ["propose", "ask"].contains(&kind.as_str()) { trace(&mut fields)? } else { None };
        let idempotency = match fields.remove("idempotency_key") {
            None => None,
            Some(Value::String(key)) if is_idempotency_key(&key) => {
                let body = serde_json::to_vec(&fields).unwrap_or_default();
                Some(Idempotency::new(key, &format!("WS {kind}"), &body))
            }
            Some(_) => return Err(ApiError::invalid("/idempotency_key", format!("must be {KEY_FORM}"))),
        };
        let operation = match kind.as_str() {
            "subscribe" => Operation::Subscribe(parse_part("", Value::Object(fields))?),
            "unsubscribe" => Operation::Unsubscribe(parse_part("", Value::Object(fields))?),
            "propose" => {
                let session = id(&mut fields, "session")?;
                if fields.contains_key("wait") {
                    return Err(ApiError::invalid("/wait", "is for HTTP: here the decision comes as an event"));
                }
                Operation::Propose(session, proposed(parse_part("", Value::Object(fields))?, trace))
            }
            "action" => {
                let (session, call) = (id(&mut fields, "session")?, call(&mut fields)?);
                let EmptyBody {} = parse_part("", Value::Object(fields))?;
                Operation::GetAction(session, call)
            }
            "start" => Operation::Start(
                id(&mut fields, "session")?,
                call(&mut fields)?,
                parse_part("", Value::Object(fields))?,
            ),
            "outcome" => Operation::Outcome(
                id(&mut fields, "session")?,
                call(&mut fields)?,
                parse_part("", Value::Object(fields))?,
            ),
            "ask" => Operation::Ask(
                id(&mut fields, "session")?,
                Box::new(ask_from_body(parse_part("", Value::Object(fields))?, trace)),
            ),
            "answer" => {
                Operation::Answer(id(&mut fields, "interaction")?, Box::new(parse_part("", Value::Object(fields))?))
            }
            _ => return Err(ApiError::invalid("/type", format!("must be one of {}", REQUESTS.join(", ")))),
        };
        Ok((operation, idempotency))
    }
}

impl Operation {
    /// Carries out the operation and returns the status and body that HTTP would return.
    pub(super) async fn run(
        self,
        app: &App,
        caller: &Caller,
        idempotency: Option<Idempotency>,
    ) -> Result<(u16, Value), ApiError> {
        let engine = &app.engine;
        let acted = match self {
            Self::Propose(session, propose) => engine.action_propose(caller, session, propose, idempotency).await?,
            Self::GetAction(session, call) => {
                engine.action_get(caller, session, call, std::time::Duration::ZERO).await?
            }
            Self::Start(session, call, PermitBody { permit, lease_seconds }) => {
                engine.action_start(caller, (session, call), permit, lease_seconds, idempotency).await?
            }
            Self::Outcome(session, call, body) => {
                let (outcome, run) = reported(body)?;
                engine.action_outcome(caller, (session, call), outcome, run, idempotency).await?
            }
            Self::Ask(session, ask) => {
                let asked = engine.interaction_ask(caller, session, *ask, idempotency).await?;
                return Ok((201, to_value(&InteractionView::from(asked))));
            }
            Self::Answer(interaction, body) => {
                let answered = engine.interaction_answer(caller, interaction, (*body).into(), idempotency).await?;
                return Ok((200, to_value(&InteractionView::from(answered))));
            }
            Self::Subscribe(_) | Self::Unsubscribe(_) => return Err(ApiError::Panicked),
        };
        let ActionReply { action, permit, at } = acted;
        let status = if matches!(action.state, ActionState::Waiting { .. }) { 202 } else { 200 };
        Ok((status, to_value(&ActionView::new(action, permit, at))))
    }
}

fn to_value(view: &impl serde::Serialize) -> Value {
    serde_json::to_value(view).unwrap_or_default()
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<String, ApiError> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(ApiError::invalid(format!("/{name}"), "must be a text")),
        None => Err(ApiError::invalid(format!("/{name}"), "is missing")),
    }
}

fn id<T: FromStr<Err: std::fmt::Display>>(fields: &mut Map<String, Value>, name: &str) -> Result<T, ApiError> {
    text(fields, name)?.parse().map_err(|error: T::Err| ApiError::invalid(format!("/{name}"), error.to_string()))
}

/// Trace of a message, which HTTP carries in a header.
fn trace(fields: &mut Map<String, Value>) -> Result<Option<String>, ApiError> {
    match fields.remove(TRACEPARENT) {
        None | Some(Value::Null) => Ok(None),
        // An invalid trace is ignored, like the header.
        Some(Value::String(text)) => Ok(Some(text).filter(|text| text.len() <= LONGEST_TRACEPARENT)),
        Some(_) => Err(ApiError::invalid("/traceparent", "must be a text")),
    }
}

fn call(fields: &mut Map<String, Value>) -> Result<String, ApiError> {
    let call = text(fields, "call_id")?;
    if call.contains('\0') { Err(ApiError::invalid("/call_id", "contains NUL")) } else { Ok(call) }
}
