//! Sends a message to a hosted agent, in an existing conversation or in a new one.

use domain::access::Right;
use domain::{Caller, Problem, Refusal, Scope, Session, SessionId, SessionInput, text};
use serde_json::Value;
use store::{IdempotencyRecord, StoreError};

use crate::access;
use crate::run;
use crate::run::transaction::Work;
use crate::sessions;
use crate::sessions::message::check_content;
use crate::sessions::names::{NamedConversation, agent_session_in, find_named, listener_in};
use crate::steps;
use crate::steps::server_files::OfferedDefinitions;
use crate::{Engine, Error, Idempotency, Start};

/// Agent that is chosen if the caller names none and there are several.
const DEFAULT: &str = "default";

/// Number of attempts if another request begins the same conversation at the same time.
const MOST_ATTEMPTS: u32 = 6;

/// Message of a person, with its conversation and agent.
#[derive(Debug, Clone)]
pub struct Chat {
    /// Session or channel of the conversation. A new conversation begins if absent.
    pub conversation: Option<String>,
    /// Name of the agent. If absent, an existing listener in the channel gets the message. A new session gets the agent of the previous session in
    /// the channel, otherwise the only agent of the project, otherwise the one called `default`.
    pub agent: Option<String>,
    /// Text of the message.
    pub content: String,
    /// Data of the client that is stored with a new session and returned unchanged.
    pub metadata: Value,
}

impl Engine {
    /// Sends a message. Returns the session, and the number of its last event before the message.
    pub async fn send_chat_message(
        &self,
        caller: &Caller,
        chat: Chat,
        idempotency: Option<Idempotency>,
    ) -> Result<(Session, u64), Error> {
        check_content(&chat.content)?;
        check_agent_name(chat.agent.as_deref())?;
        let offered = steps::server_files::offered(self, caller.scope).await?;
        // After a conflict, another request has begun the same conversation, and the next attempt finds it.
        run::transaction::retry_conflicts(MOST_ATTEMPTS, || {
            let (chat, offered) = (chat.clone(), offered.clone());
            self.command(caller, idempotency.clone(), move |work| {
                let caller = work.caller()?;
                let session = match find_current(work, &caller, &chat)? {
                    Some(session) => session,
                    None => begin(work, &caller, &offered, chat.clone())?,
                };
                let before = session.last_seq;
                Ok((sessions::send_message(work, session, &offered, (&caller, &chat.content))?, before))
            })
        })
        .await
    }
}

/// Checks the name of the agent before a store is queried with it, because not every store accepts every text.
fn check_agent_name(agent: Option<&str>) -> Result<(), Error> {
    let mut problems = Vec::new();
    if let Some(agent) = agent {
        text::check_line("/agent", agent, &mut problems);
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

/// Finds and locks the session in which a conversation continues. `None` if a new session has to begin: in a channel, if no agent listens or the
/// named agent does not. An id always refers to its one session.
fn find_current(work: &mut Work<'_>, caller: &Caller, chat: &Chat) -> Result<Option<Session>, Error> {
    let scope = &caller.scope;
    let Some(name) = &chat.conversation else { return Ok(None) };
    let found = match find_named(&mut *work.tx, scope, name)? {
        None => return Ok(None),
        Some(NamedConversation::Session(found)) => found.id,
        Some(NamedConversation::Channel(_)) => {
            let listener = listener_in(&mut *work.tx, scope, name, chat.agent.as_deref())?;
            let Some(listener) = listener else { return Ok(None) };
            let session = access::lock_session(work, caller, listener.id)?;
            // The session may have ended before it was locked.
            return Ok(Some(session).filter(|session| session.ended.is_none()));
        }
    };
    let session = access::lock_session(work, caller, found)?;
    if chat.agent.is_some() && chat.agent != session.head.agent {
        let problem = Problem::new("/agent", "is not the agent of this session");
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    Ok(Some(session))
}

fn begin(work: &mut Work<'_>, caller: &Caller, offered: &OfferedDefinitions, chat: Chat) -> Result<Session, Error> {
    caller.require(Right::Ask)?;
    if chat.conversation.as_ref().is_some_and(|name| name.starts_with(SessionId::PREFIX)) {
        // The server assigns session ids; a client cannot choose one for a new session.
        return Err(Refusal::NotFound("session").into());
    }
    let channel = chat.conversation.as_deref().filter(|name| text::is_identifier(name));
    let before = match (&chat.agent, channel) {
        (None, Some(channel)) => agent_session_in(&mut *work.tx, &caller.scope, channel, None)?,
        _ => None,
    };
    let agent = match chat.agent.or(before.and_then(|before| before.head.agent)) {
        Some(agent) => agent,
        None => choose_agent(work, &caller.scope, offered)?,
    };
    let before = match channel {
        Some(channel) => agent_session_in(&mut *work.tx, &caller.scope, channel, Some(&agent))?,
        None => None,
    };
    // Another request may have begun the conversation since `find_current` found no listener. Its session must not count as the previous one.
    if let Some(channel) = channel
        && listener_in(&mut *work.tx, &caller.scope, channel, Some(&agent))?.is_some()
    {
        return Err(StoreError::Conflict.into());
    }
    let session_input = SessionInput { metadata: chat.metadata, ..SessionInput::default() };
    let start = Start { channel: chat.conversation, agent: Some(agent), session_input, ..Start::default() };
    let session = sessions::open(work, &caller.scope, &caller.actor, offered, start)?;
    reserve_beginning(work, &session, before.as_ref())?;
    if session.hosted { Ok(session) } else { Err(Refusal::NotFound("agent").into()) }
}

/// Reserves the beginning of a conversation with an agent: a concurrent request that begins the same conversation gets a conflict.
fn reserve_beginning(work: &mut Work<'_>, session: &Session, before: Option<&Session>) -> Result<(), Error> {
    let before = before.map(|before| before.id.to_string()).unwrap_or_default();
    let agent = session.head.agent.as_deref().unwrap_or_default();
    // Channel names have no spaces, so the parts of the key are unambiguous.
    let key = format!("conversation {} after {before} with {agent}", session.head.channel);
    let begun = IdempotencyRecord { digest: String::new(), result: String::new() };
    // No actor has an empty name, so this key cannot collide with the idempotency key of a caller.
    Ok(work.tx.idempotency_insert(&session.scope, "", &key, &begun)?)
}

fn choose_agent(work: &mut Work<'_>, scope: &Scope, offered: &OfferedDefinitions) -> Result<String, Error> {
    let names = Vec::from_iter(steps::list_available_agents(work, scope, offered)?);
    match names.as_slice() {
        [] => Err(Refusal::NotFound("agent").into()),
        [only] => Ok(only.clone()),
        several if several.iter().any(|name| name == DEFAULT) => Ok(DEFAULT.to_owned()),
        several => {
            let problem = Problem::new("/agent", format!("name one of {}", several.join(", ")));
            Err(Refusal::QuestionInvalid(vec![problem]).into())
        }
    }
}
