//! What a client means by the name that it has for a conversation.

use domain::access::Right;
use domain::{Caller, Scope, Session, SessionId, text};
use store::{Cost, Page, Reads, SessionFilter};

use crate::fair_gate::Entrant;
use crate::sight::Sight;
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
    /// own channel is called so, which goes on when the session has ended. Any other name that a channel can have is one, which need not have a
    /// session yet; what no channel can be called stands for nothing.
    pub async fn named(&self, caller: &Caller, name: &str) -> Result<Option<Named>, Error> {
        caller.require(Right::Read)?;
        let (caller, name) = (caller.clone(), name.to_owned());
        self.read(Cost::Point, move |reads| {
            let sight = Sight::of(reads, &caller)?;
            let found = named(reads, &caller.scope, &name)?;
            Ok(found.filter(|found| !matches!(found, Named::Session(session) if !sight.sees(session))))
        })
        .await
    }

    /// The session that a name stands for, where one is wanted and there is one: of a channel the newest that goes on, else the newest.
    pub async fn conversation(&self, caller: &Caller, name: &str) -> Result<Option<Session>, Error> {
        caller.require(Right::Read)?;
        let (caller, name) = (caller.clone(), name.to_owned());
        self.read(Cost::Point, move |reads| {
            let sight = Sight::of(reads, &caller)?;
            conversation(reads, (&caller.scope, &sight), &name)
        })
        .await
    }

    /// The session in which somebody asks who knows it by a name: of a channel the newest of their own that goes on, if there is one.
    pub async fn own_conversation(&self, caller: &Caller, name: &str) -> Result<Option<Session>, Error> {
        caller.require(Right::Read)?;
        let (scope, actor, name) = (caller.scope, caller.actor.clone(), name.to_owned());
        let (reader, caller) = (Entrant::of(caller), caller.clone());
        self.list_patiently(reader, move |reads| {
            if let Some(Named::Channel(_)) = named(reads, &scope, &name)? {
                let own = |one: &Session| one.belongs_to(&actor).is_ok();
                let filter = SessionFilter { live: true, ..of_channel(&name, None) };
                let own = first_of(reads, &scope, &filter, own)?;
                if own.is_some() {
                    return Ok(own);
                }
            }
            let sight = Sight::of(reads, &caller)?;
            conversation(reads, (&scope, &sight), &name)
        })
        .await
    }

    /// The sessions of a channel that were begun after this one, the newest first.
    pub async fn begun_in(&self, caller: &Caller, channel: &str, after: SessionId) -> Result<Vec<Session>, Error> {
        caller.require(Right::Read)?;
        let (reader, caller, channel) = (Entrant::of(caller), caller.clone(), channel.to_owned());
        self.list_patiently(reader, move |reads| {
            let sight = Sight::of(reads, &caller)?;
            let mut found = begun_in(reads, &caller.scope, &channel, Some(after))?;
            found.retain(|session| sight.sees(session));
            Ok(found)
        })
        .await
    }

    /// The sessions of a channel that have not ended, the newest first.
    pub async fn live_in(&self, caller: &Caller, channel: &str) -> Result<Vec<Session>, Error> {
        caller.require(Right::Read)?;
        let (reader, caller, channel) = (Entrant::of(caller), caller.clone(), channel.to_owned());
        self.list_patiently(reader, move |reads| {
            let sight = Sight::of(reads, &caller)?;
            let mut found = live_in(reads, &caller.scope, &channel)?;
            found.retain(|session| sight.sees(session));
            Ok(found)
        })
        .await
    }
}

pub(crate) fn named(reads: &mut dyn Reads, scope: &Scope, name: &str) -> Result<Option<Named>, Error> {
    if !text::is_identifier(name) {
        // No channel is called so, and one of the stores cannot be asked for NUL.
        return Ok(None);
    }
    let Ok(id) = name.parse::<SessionId>() else { return Ok(Some(Named::Channel(None))) };
    let found = reads.session(scope, id)?;
    if name.starts_with(SessionId::PREFIX) {
        return Ok(found.map(|found| Named::Session(Box::new(found))));
    }
    Ok(Some(match found {
        Some(found) if found.head.channel != name => Named::Session(Box::new(found)),
        found => Named::Channel(found.map(|found| found.id)),
    }))
}

/// The session that a name stands for, among those that its reader sees.
fn conversation(reads: &mut dyn Reads, (scope, sight): (&Scope, &Sight), name: &str) -> Result<Option<Session>, Error> {
    match named(reads, scope, name)? {
        None => Ok(None),
        Some(Named::Session(session)) => Ok(Some(*session).filter(|session| sight.sees(session))),
        Some(Named::Channel(_)) => {
            let any = SessionFilter { belongs_to: sight.limited_to(), ..of_channel(name, None) };
            let live = SessionFilter { live: true, ..any.clone() };
            match reads.sessions(scope, &live, Page { after: None, limit: 1 })?.pop() {
                None => Ok(reads.sessions(scope, &any, Page { after: None, limit: 1 })?.pop()),
                live => Ok(live),
            }
        }
    }
}

/// The session of a channel that hears what is said in it: the newest whose agent listens, of the agent that is named if one is. A chat comes
/// before an agent that was given something to do; and an agent of a flow is meant only where people have spoken to no other here.
pub(crate) fn listener_in(
    reads: &mut dyn Reads,
    scope: &Scope,
    channel: &str,
    agent: Option<&str>,
) -> Result<Option<Session>, Error> {
    let filter = SessionFilter { live: true, ..of_channel(channel, agent) };
    let mut busy = Vec::new();
    for session in listed(reads, scope, &filter, |_| true)? {
        if !listens(reads, &session)? {
            continue;
        }
        let luggage = reads.luggage(scope, session.id)?;
        if session.head.flow.is_none() && luggage.is_none_or(|luggage| luggage.input.is_null()) {
            return Ok(Some(session));
        }
        busy.push(session);
    }
    let before = match agent {
        Some(_) => None,
        None => agent_session_in(reads, scope, channel, None)?,
    };
    let meant = agent.map(str::to_owned).or(before.and_then(|before| before.head.agent));
    Ok(busy.into_iter().find(|session| meant.is_none() || session.head.agent == meant))
}

/// Whether the step that a session is at is run by an agent of ours, who hears what is said.
fn listens(reads: &mut dyn Reads, session: &Session) -> Result<bool, Error> {
    if !session.hosted {
        return Ok(false);
    }
    let step = reads.step(&session.scope, session.step)?;
    Ok(step.is_some_and(|step| step.alive() && step.lease.is_some() && step.agent.is_some()))
}

/// The newest session of a channel that was opened for an agent of ours, or for this one, whether it has ended or not. Those of flows and of foreign
/// agents are passed over, and so are questions that were handed over.
pub(crate) fn agent_session_in(
    reads: &mut dyn Reads,
    scope: &Scope,
    channel: &str,
    agent: Option<&str>,
) -> Result<Option<Session>, Error> {
    let own = |session: &Session| session.hosted && session.head.flow.is_none();
    first_of(reads, scope, &of_channel(channel, agent), own)
}

/// The newest session that a filter wants and that is as wanted, read a page at a time.
fn first_of(
    reads: &mut dyn Reads,
    scope: &Scope,
    filter: &SessionFilter,
    wanted: impl Fn(&Session) -> bool,
) -> Result<Option<Session>, Error> {
    let mut after = None;
    loop {
        let mut page = reads.sessions(scope, filter, Page { after, limit: STRIDE })?;
        let last = !page.more;
        after = page.last().map(|session| session.id);
        if let Some(found) = page.iter().position(&wanted) {
            return Ok(Some(page.swap_remove(found)));
        }
        if last {
            return Ok(None);
        }
    }
}

/// The newest session of a channel, whether it has ended or not.
pub(crate) fn newest_in(reads: &mut dyn Reads, scope: &Scope, channel: &str) -> Result<Option<Session>, Error> {
    let filter = of_channel(channel, None);
    Ok(reads.sessions(scope, &filter, Page { after: None, limit: 1 })?.pop())
}

/// The sessions of a channel that were begun after this one, the newest first.
pub(crate) fn begun_in(
    reads: &mut dyn Reads,
    scope: &Scope,
    channel: &str,
    after: Option<SessionId>,
) -> Result<Vec<Session>, Error> {
    if newest_in(reads, scope, channel)?.map(|newest| newest.id) == after {
        return Ok(Vec::new());
    }
    let filter = of_channel(channel, None);
    let mut found = listed(reads, scope, &filter, |session| after.is_none_or(|after| session.id > after))?;
    found.retain(|session| after.is_none_or(|after| session.id > after));
    Ok(found)
}

/// The sessions of a channel that have not ended, the newest first.
pub(crate) fn live_in(reads: &mut dyn Reads, scope: &Scope, channel: &str) -> Result<Vec<Session>, Error> {
    let filter = SessionFilter { live: true, ..of_channel(channel, None) };
    listed(reads, scope, &filter, |_| true)
}

/// The sessions of a channel, of this agent if one is named.
fn of_channel(channel: &str, agent: Option<&str>) -> SessionFilter {
    SessionFilter { channel: Some(channel.to_owned()), agent: agent.map(str::to_owned), ..SessionFilter::default() }
}

/// All sessions that a filter wants, the newest first, up to a page whose last one is not wanted.
fn listed(
    reads: &mut dyn Reads,
    scope: &Scope,
    filter: &SessionFilter,
    wanted: impl Fn(&Session) -> bool,
) -> Result<Vec<Session>, Error> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let more = reads.sessions(scope, filter, Page { after, limit: STRIDE })?;
        let last = !more.more || !more.last().is_some_and(&wanted);
        after = more.last().map(|session| session.id);
        found.extend(more);
        if last {
            return Ok(found);
        }
    }
}
