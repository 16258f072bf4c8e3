//! What a client means by the name that it has for a conversation.

use domain::access::Right;
use domain::{Caller, Scope, Session, SessionId};
use store::{Cost, Page, Reads, SessionFilter};

use crate::{Engine, Error};

/// How many sessions of a channel are read at once.
const STRIDE: u32 = 200;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Named {
    /// One session, for good.
    Session(Box<Session>),
    /// A channel: every session that is in it, and every one that will be.
    Channel(Option<SessionId>),
}

impl Engine {
    /// What a name stands for. `ses_…` is that session and no other: an id is given, never chosen; so is the UUID in it, unless the session's
    /// own channel is called so, which goes on when the session has ended. Any other name is a channel, which need not have a session yet.
    pub async fn named(&self, caller: &Caller, name: &str) -> Result<Option<Named>, Error> {
        caller.require(Right::Read)?;
        let (scope, name) = (caller.scope, name.to_owned());
        self.read(Cost::Point, move |reads| named(reads, &scope, &name)).await
    }

    /// The session that is spoken to by a name, where there is one: of a channel the newest that listens, else the newest that goes on, else the
    /// newest, because what has ended goes on in a new session of its channel.
    pub async fn conversation(&self, caller: &Caller, name: &str) -> Result<Option<Session>, Error> {
        caller.require(Right::Read)?;
        let (scope, name) = (caller.scope, name.to_owned());
        self.read(Cost::Point, move |reads| conversation(reads, &scope, &name)).await
    }

    /// The session in which somebody asks who knows it by a name: of a channel the newest of their own that goes on, if there is one.
    pub async fn own_conversation(&self, caller: &Caller, name: &str) -> Result<Option<Session>, Error> {
        caller.require(Right::Read)?;
        let (scope, actor, name) = (caller.scope, caller.actor.clone(), name.to_owned());
        self.read(Cost::Point, move |reads| {
            if let Some(Named::Channel(_)) = named(reads, &scope, &name)? {
                let own = live_in(reads, &scope, &name)?.into_iter().find(|one| one.belongs_to(&actor).is_ok());
                if own.is_some() {
                    return Ok(own);
                }
            }
            conversation(reads, &scope, &name)
        })
        .await
    }

    /// The sessions of a channel that have not ended, the newest first.
    pub async fn live_in(&self, caller: &Caller, channel: &str) -> Result<Vec<Session>, Error> {
        caller.require(Right::Read)?;
        let (scope, channel) = (caller.scope, channel.to_owned());
        self.read(Cost::Point, move |reads| live_in(reads, &scope, &channel)).await
    }
}

fn named(reads: &mut dyn Reads, scope: &Scope, name: &str) -> Result<Option<Named>, Error> {
    if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        // No channel is called so, and one of the stores cannot be asked for NUL.
        return Ok(None);
    }
    let Ok(id) = name.parse::<SessionId>() else { return Ok(Some(Named::Channel(None))) };
    let found = reads.session(scope, id)?;
    if name.starts_with(SessionId::PREFIX) {
        return Ok(found.map(|found| Named::Session(Box::new(found))));
    }
    Ok(Some(match found {
        Some(found) if found.brief.channel != name => Named::Session(Box::new(found)),
        found => Named::Channel(found.map(|found| found.id)),
    }))
}

/// The session that is spoken to by a name.
pub(crate) fn conversation(reads: &mut dyn Reads, scope: &Scope, name: &str) -> Result<Option<Session>, Error> {
    match named(reads, scope, name)? {
        None => Ok(None),
        Some(Named::Session(session)) => Ok(Some(*session)),
        Some(Named::Channel(_)) => {
            let (mut best, mut rank) = (None, 0);
            for session in live_in(reads, scope, name)? {
                let its = listening(reads, &session)?;
                if its > rank {
                    (best, rank) = (Some(session), its);
                }
            }
            if best.is_some() {
                return Ok(best);
            }
            newest_in(reads, scope, name)
        }
    }
}

/// How much a session that goes on is one that people talk to.
fn listening(reads: &mut dyn Reads, session: &Session) -> Result<u8, Error> {
    if !session.driven {
        return Ok(1);
    }
    let chats = session.brief.flow.is_none()
        && reads.luggage(&session.scope, session.id)?.is_none_or(|luggage| luggage.input.is_null());
    Ok(if chats { 3 } else { 2 })
}

/// The newest session of a channel, whether it has ended or not.
pub(crate) fn newest_in(reads: &mut dyn Reads, scope: &Scope, channel: &str) -> Result<Option<Session>, Error> {
    let filter = SessionFilter { channel: Some(channel.to_owned()), ..SessionFilter::default() };
    Ok(reads.sessions(scope, &filter, Page { after: None, limit: 1 })?.pop())
}

/// The sessions of a channel that have not ended, the newest first.
pub(crate) fn live_in(reads: &mut dyn Reads, scope: &Scope, channel: &str) -> Result<Vec<Session>, Error> {
    let filter = SessionFilter { channel: Some(channel.to_owned()), live: true, ..SessionFilter::default() };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let more = reads.sessions(scope, &filter, Page { after, limit: STRIDE })?;
        let last = more.len() < STRIDE as usize;
        after = more.last().map(|session| session.id);
        found.extend(more);
        if last {
            return Ok(found);
        }
    }
}
