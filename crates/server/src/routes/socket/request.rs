//! A message on the socket of `/v1`: an operation, what it is about, and the body that it has over HTTP.

use std::str::FromStr;

use domain::{Caller, InteractionId, SessionId};
use engine::{Acted, Ask, Idempotency, Propose};
use protocol::{
    ActionView, AnswerBody, EmptyBody, InteractionView, OutcomeBody, PermitBody, SubscribeBody, UnsubscribeBody,
};
use serde_json::{Map, Value};

use crate::App;
use crate::command::{ONCE, names_once, parsed, part};
use crate::error::ApiError;
use crate::routes::actions::{proposed, reported};
use crate::routes::interactions::asked;
use crate::trace::{LONGEST, TRACEPARENT};

/// Every type of request.
const REQUESTS: [&str; 8] = ["subscribe", "unsubscribe", "propose", "action", "start", "outcome", "ask", "answer"];

/// A request that could be read.
pub(super) struct Request {
    pub(super) id: Option<String>,
    pub(super) wish: Wish,
    pub(super) once: Option<Idempotency>,
}

/// What is wanted.
pub(super) enum Wish {
    Subscribe(SubscribeBody),
    Unsubscribe(UnsubscribeBody),
    Propose(SessionId, Propose),
    Action(SessionId, String),
    Start(SessionId, String, PermitBody),
    Outcome(SessionId, String, OutcomeBody),
    Ask(SessionId, Box<Ask>),
    Answer(InteractionId, Box<AnswerBody>),
}

impl Request {
    /// Reads a message as strictly as a body; or says what is wrong with the one of this id.
    pub(super) fn read(text: &str) -> Result<Self, (Option<String>, ApiError)> {
        let mut fields: Map<String, Value> = parsed(text.as_bytes()).map_err(|error| (None, error))?;
        let id = match fields.remove("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if (1..=64).contains(&id.len()) => Some(id),
            Some(_) => return Err((None, ApiError::wrong("/id", "must be a text of 1 to 64 bytes"))),
        };
        match Self::wanted(fields) {
            Ok((wish, once)) => Ok(Self { id, wish, once }),
            Err(error) => Err((id, error)),
        }
    }

    fn wanted(mut fields: Map<String, Value>) -> Result<(Wish, Option<Idempotency>), ApiError> {
        let kind = text(&mut fields, "type")?;
        // Before the body is looked at as a whole: whoever tries again does so in another trace.
        let trace = if ["propose", "ask"].contains(&kind.as_str()) { trace(&mut fields)? } else { None };
        let once = match fields.remove("idempotency_key") {
            None => None,
            Some(Value::String(key)) if names_once(&key) => {
                let body = serde_json::to_vec(&fields).unwrap_or_default();
                Some(Idempotency::new(key, &format!("WS {kind}"), &body))
            }
            Some(_) => return Err(ApiError::wrong("/idempotency_key", format!("must be {ONCE}"))),
        };
        let wish = match kind.as_str() {
            "subscribe" => Wish::Subscribe(part("", Value::Object(fields))?),
            "unsubscribe" => Wish::Unsubscribe(part("", Value::Object(fields))?),
            "propose" => {
                let session = id(&mut fields, "session")?;
                if fields.contains_key("wait") {
                    return Err(ApiError::wrong("/wait", "is for HTTP: here the decision comes as an event"));
                }
                Wish::Propose(session, proposed(part("", Value::Object(fields))?, trace))
            }
            "action" => {
                let (session, call) = (id(&mut fields, "session")?, call(&mut fields)?);
                let EmptyBody {} = part("", Value::Object(fields))?;
                Wish::Action(session, call)
            }
            "start" => Wish::Start(id(&mut fields, "session")?, call(&mut fields)?, part("", Value::Object(fields))?),
            "outcome" => {
                Wish::Outcome(id(&mut fields, "session")?, call(&mut fields)?, part("", Value::Object(fields))?)
            }
            "ask" => Wish::Ask(id(&mut fields, "session")?, Box::new(asked(part("", Value::Object(fields))?, trace))),
            "answer" => Wish::Answer(id(&mut fields, "interaction")?, Box::new(part("", Value::Object(fields))?)),
            _ => return Err(ApiError::wrong("/type", format!("must be one of {}", REQUESTS.join(", ")))),
        };
        Ok((wish, once))
    }
}

impl Wish {
    /// Carries out what HTTP would, and gives the status and the body that it would.
    pub(super) async fn carried_out(
        self,
        app: &App,
        caller: &Caller,
        once: Option<Idempotency>,
    ) -> Result<(u16, Value), ApiError> {
        let engine = &app.engine;
        let acted = match self {
            Self::Propose(session, propose) => engine.propose(caller, session, propose, once).await?,
            Self::Action(session, call) => engine.action(caller, session, call, std::time::Duration::ZERO).await?,
            Self::Start(session, call, PermitBody { permit, lease_seconds }) => {
                engine.action_start(caller, (session, call), permit, lease_seconds, once).await?
            }
            Self::Outcome(session, call, body) => {
                engine.action_outcome(caller, (session, call), reported(body)?, once).await?
            }
            Self::Ask(session, ask) => {
                let asked = engine.ask(caller, session, *ask, once).await?;
                return Ok((201, shown(&InteractionView::from(asked))));
            }
            Self::Answer(interaction, body) => {
                let answered = engine.answer(caller, interaction, (*body).into(), once).await?;
                return Ok((200, shown(&InteractionView::from(answered))));
            }
            Self::Subscribe(_) | Self::Unsubscribe(_) => return Err(ApiError::Panicked),
        };
        let Acted { proposal, permit, at } = acted;
        let view = ActionView::new(proposal, permit, at);
        Ok((if view.state == "waiting" { 202 } else { 200 }, shown(&view)))
    }
}

fn shown(view: &impl serde::Serialize) -> Value {
    serde_json::to_value(view).unwrap_or_default()
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<String, ApiError> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(ApiError::wrong(format!("/{name}"), "must be a text")),
        None => Err(ApiError::wrong(format!("/{name}"), "is missing")),
    }
}

fn id<T: FromStr<Err: std::fmt::Display>>(fields: &mut Map<String, Value>, name: &str) -> Result<T, ApiError> {
    text(fields, name)?.parse().map_err(|error: T::Err| ApiError::wrong(format!("/{name}"), error.to_string()))
}

/// The trace that a message belongs to, which HTTP would have in a header.
fn trace(fields: &mut Map<String, Value>) -> Result<Option<String>, ApiError> {
    match fields.remove(TRACEPARENT) {
        None | Some(Value::Null) => Ok(None),
        // One that is no trace is passed over, as the header is.
        Some(Value::String(text)) => Ok(Some(text).filter(|text| text.len() <= LONGEST)),
        Some(_) => Err(ApiError::wrong("/traceparent", "must be a text")),
    }
}

fn call(fields: &mut Map<String, Value>) -> Result<String, ApiError> {
    let call = text(fields, "call_id")?;
    if call.contains('\0') { Err(ApiError::wrong("/call_id", "contains NUL")) } else { Ok(call) }
}
