//! A message on the socket of `/v1`: an operation, what it is about, and the body that it has over HTTP.

use std::str::FromStr;

use domain::{Caller, InteractionId, Problem, SessionId};
use engine::{Acted, Idempotency, Propose};
use protocol::{
    AnswerBody, EmptyBody, InteractionView, OutcomeBody, PermitBody, ProposalView, ProposeBody, SubscribeBody,
    UnsubscribeBody,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::App;
use crate::command::{ONCE, names_once, parsed, plain, pointer};
use crate::error::ApiError;

/// Every type of request.
const REQUESTS: [&str; 7] = ["subscribe", "unsubscribe", "propose", "action", "start", "outcome", "answer"];

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
    Propose(SessionId, ProposeBody),
    Action(SessionId, String),
    Start(SessionId, String, PermitBody),
    Outcome(SessionId, String, OutcomeBody),
    Answer(InteractionId, Box<AnswerBody>),
}

/// Something that is wrong with a message.
pub(super) fn wrong(pointer: &str, message: &str) -> ApiError {
    ApiError::BodyInvalid(vec![Problem::new(pointer, message)])
}

impl Request {
    /// Reads a message as strictly as a body; or says what is wrong with the one of this id.
    pub(super) fn read(text: &str) -> Result<Self, (Option<String>, ApiError)> {
        let mut fields: Map<String, Value> = parsed(text.as_bytes()).map_err(|error| (None, error))?;
        let id = match fields.remove("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if (1..=64).contains(&id.len()) => Some(id),
            Some(_) => return Err((None, wrong("/id", "must be a text of 1 to 64 bytes"))),
        };
        match Self::wanted(fields) {
            Ok((wish, once)) => Ok(Self { id, wish, once }),
            Err(error) => Err((id, error)),
        }
    }

    fn wanted(mut fields: Map<String, Value>) -> Result<(Wish, Option<Idempotency>), ApiError> {
        let kind = text(&mut fields, "type")?;
        let once = match fields.remove("idempotency_key") {
            None => None,
            Some(Value::String(key)) if names_once(&key) => {
                let body = serde_json::to_vec(&fields).unwrap_or_default();
                Some(Idempotency::new(key, &format!("WS {kind}"), &body))
            }
            Some(_) => return Err(wrong("/idempotency_key", &format!("must be {ONCE}"))),
        };
        let wish = match kind.as_str() {
            "subscribe" => Wish::Subscribe(body(fields)?),
            "unsubscribe" => Wish::Unsubscribe(body(fields)?),
            "propose" => {
                let session = id(&mut fields, "session")?;
                if fields.contains_key("wait") {
                    return Err(wrong("/wait", "is for HTTP: here the decision comes as an event"));
                }
                Wish::Propose(session, body(fields)?)
            }
            "action" => {
                let (session, call) = (id(&mut fields, "session")?, call(&mut fields)?);
                let EmptyBody {} = body(fields)?;
                Wish::Action(session, call)
            }
            "start" => Wish::Start(id(&mut fields, "session")?, call(&mut fields)?, body(fields)?),
            "outcome" => Wish::Outcome(id(&mut fields, "session")?, call(&mut fields)?, body(fields)?),
            "answer" => Wish::Answer(id(&mut fields, "interaction")?, Box::new(body(fields)?)),
            _ => return Err(wrong("/type", &format!("must be one of {}", REQUESTS.join(", ")))),
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
            Self::Propose(session, body) => {
                let propose = Propose {
                    action: body.action(),
                    call: body.call_id,
                    context: body.context,
                    traceparent: None,
                    repeatable: false,
                    client: false,
                };
                engine.propose(caller, session, propose, once).await?
            }
            Self::Action(session, call) => engine.action(caller, session, call, std::time::Duration::ZERO).await?,
            Self::Start(session, call, PermitBody { permit, lease_seconds }) => {
                engine.action_start(caller, (session, call), permit, lease_seconds, once).await?
            }
            Self::Outcome(session, call, body) => {
                engine.action_outcome(caller, (session, call), body.into(), once).await?
            }
            Self::Answer(interaction, body) => {
                let answered = engine.answer(caller, interaction, (*body).into(), once).await?;
                return Ok((200, shown(&InteractionView::from(answered))));
            }
            Self::Subscribe(_) | Self::Unsubscribe(_) => return Err(ApiError::Panicked),
        };
        let Acted { proposal, permit, at } = acted;
        let view = ProposalView::new(proposal, permit, at);
        Ok((if view.state == "waiting" { 202 } else { 200 }, shown(&view)))
    }
}

fn shown(view: &impl serde::Serialize) -> Value {
    serde_json::to_value(view).unwrap_or_default()
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<String, ApiError> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(wrong(&format!("/{name}"), "must be a text")),
        None => Err(wrong(&format!("/{name}"), "is missing")),
    }
}

fn id<T: FromStr<Err: std::fmt::Display>>(fields: &mut Map<String, Value>, name: &str) -> Result<T, ApiError> {
    text(fields, name)?.parse().map_err(|error: T::Err| wrong(&format!("/{name}"), &error.to_string()))
}

fn call(fields: &mut Map<String, Value>) -> Result<String, ApiError> {
    let call = text(fields, "call_id")?;
    if call.contains('\0') { Err(wrong("/call_id", "contains NUL")) } else { Ok(call) }
}

fn body<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let at = pointer(error.path());
        ApiError::BodyInvalid(vec![Problem::new(at, plain(&error.into_inner()))])
    })
}
