//! Resolves the name that a client uses for a conversation to a session or a channel.

use domain::access::Right;
use domain::{Caller, Scope, Session, SessionId, text};
use store::{Cost, Page, Reads, SessionFilter};

use crate::access::sight::Sight;
use crate::run::pages::Pages;
use crate::{Engine, Error};

/// Number of sessions of a channel that are read at once.
const STRIDE: u32 = 200;

/// Meaning of a conversation's name.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedConversation {
    /// One session, also after its end.
    Session(Box<Session>),
    /// A channel with all its present and future sessions. The id is set if the name is the UUID of a session in the channel.
    Channel(Option<SessionId>),
}

impl Engine {
    /// Resolves a name. `ses_…` refers to the session with this id, which only the server assigns. A bare UUID also refers to its session, unless the
    /// session's own channel has that name: a channel continues when the session has ended. Any other valid channel name refers to a channel, which
    /// may have no session yet. An invalid name gives `None`.
    pub async fn resolve_name(&self, caller: &Caller, name: &str) -> Result<Option<NamedConversation>, Error> {
        caller.require(Right::Read)?;
        let name = name.to_owned();
        self.read_by(caller, Cost::Point, move |reads, caller| {
            let sight = Sight::of(reads, caller)?;
            let found = find_named(reads, &caller.scope, &name)?;
            Ok(found.filter(|found| !matches!(found, NamedConversation::Session(session) if !sight.sees(session))))
        })
        .await
    }

    /// Returns the session that a name refers to. For a channel, this is its newest live session, otherwise its newest session.
    pub async fn find_session(&self, caller: &Caller, name: &str) -> Result<Option<Session>, Error> {
        caller.require(Right::Read)?;
        let name = name.to_owned();
        self.read_by(caller, Cost::Point, move |reads, caller| {
            let sight = Sight::of(reads, caller)?;
            conversation(reads, (&caller.scope, &sight), &name)
        })
        .await
    }

    /// Returns the session in which a caller asks. For a channel, this is the caller's own newest live session, if there is one.
    pub async fn find_own_session(&self, caller: &Caller, name: &str) -> Result<Option<Session>, Error> {
        caller.require(Right::Read)?;
        let (scope, name) = (caller.scope, name.to_owned());
        self.list_patiently(caller, move |reads, caller| {
            if let Some(NamedConversation::Channel(_)) = find_named(reads, &scope, &name)? {
                let own = |one: &Session| one.require_owner(&caller.actor).is_ok();
                let filter = SessionFilter { live: true, ..of_channel(&name, None) };
                let own = first_of(reads, &scope, &filter, own)?;
                if own.is_some() {
                    return Ok(own);
                }
            }
            let sight = Sight::of(reads, caller)?;
            conversation(reads, (&scope, &sight), &name)
        })
        .await
    }

    /// Returns the sessions of a channel that began after this one, newest first.
    pub async fn sessions_begun_after(
        &self,
        caller: &Caller,
        channel: &str,
        after: SessionId,
    ) -> Result<Vec<Session>, Error> {
        caller.require(Right::Read)?;
        let channel = channel.to_owned();
        self.list_patiently(caller, move |reads, caller| {
            let sight = Sight::of(reads, caller)?;
            let mut found = sessions_after(reads, &caller.scope, &channel, Some(after))?;
            found.retain(|session| sight.sees(session));
            Ok(found)
        })
        .await
    }

    /// Returns the live sessions of a channel, newest first.
    pub async fn live_sessions(&self, caller: &Caller, channel: &str) -> Result<Vec<Session>, Error> {
        caller.require(Right::Read)?;
        let channel = channel.to_owned();
        self.list_patiently(caller, move |reads, caller| {
            let sight = Sight::of(reads, caller)?;
            let mut found = live_in(reads, &caller.scope, &channel)?;
            found.retain(|session| sight.sees(session));
            Ok(found)
        })
        .await
    }
}

pub(crate) fn find_named(reads: &mut dyn Reads, scope: &Scope, name: &str) -> Result<Option<NamedConversation>, Error> {
    if !text::is_identifier(name) {
        // No channel can have this name, and one of the stores cannot be queried with a NUL character.
        return Ok(None);
    }
    let Ok(id) = name.parse::<SessionId>() else { return Ok(Some(NamedConversation::Channel(None))) };
    let found = reads.session(scope, id)?;
    if name.starts_with(SessionId::PREFIX) {
        return Ok(found.map(|found| NamedConversation::Session(Box::new(found))));
    }
    Ok(Some(match found {
        Some(found) if found.head.channel != name => NamedConversation::Session(Box::new(found)),
        found => NamedConversation::Channel(found.map(|found| found.id)),
    }))
}

/// Returns the session that a name refers to, among those that the reader may see.
fn conversation(reads: &mut dyn Reads, (scope, sight): (&Scope, &Sight), name: &str) -> Result<Option<Session>, Error> {
    match find_named(reads, scope, name)? {
        None => Ok(None),
        Some(NamedConversation::Session(session)) => Ok(Some(*session).filter(|session| sight.sees(session))),
        Some(NamedConversation::Channel(_)) => {
            let any = SessionFilter { belongs_to: sight.limited_to(), ..of_channel(name, None) };
            let live = SessionFilter { live: true, ..any.clone() };
            match reads.sessions(scope, &live, Page { after: None, limit: 1 })?.pop() {
                None => Ok(reads.sessions(scope, &any, Page { after: None, limit: 1 })?.pop()),
                live => Ok(live),
            }
        }
    }
}

/// Returns the session of a channel that receives messages: the newest whose agent listens, limited to the named agent if there is one. A chat is
/// preferred to a session with an input. A session of a flow is chosen only if no agent is named and the channel never had a session of a hosted
/// agent outside a flow.
pub(crate) fn listener_in(
    reads: &mut dyn Reads,
    scope: &Scope,
    channel: &str,
    agent: Option<&str>,
) -> Result<Option<Session>, Error> {
    let filter = SessionFilter { live: true, ..of_channel(channel, agent) };
    let mut busy = Vec::new();
    for session in read_sessions(reads, scope, &filter, |_| true)? {
        if !listens(reads, &session)? {
            continue;
        }
        let session_input = reads.session_input(scope, session.id)?;
        if session.head.flow.is_none() && session_input.is_none_or(|session_input| session_input.input.is_null()) {
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

/// Whether the current step of a session is run by a hosted agent, which receives messages.
fn listens(reads: &mut dyn Reads, session: &Session) -> Result<bool, Error> {
    if !session.hosted {
        return Ok(false);
    }
    let step = reads.step(&session.scope, session.step)?;
    Ok(step.is_some_and(|step| step.is_alive() && step.lease.is_some() && step.agent.is_some()))
}

/// Returns the newest session of a channel that was opened for a hosted agent, or for the named one, whether it has ended or not. Sessions of
/// flows, of foreign agents and of questions that were handed over are skipped.
pub(crate) fn agent_session_in(
    reads: &mut dyn Reads,
    scope: &Scope,
    channel: &str,
    agent: Option<&str>,
) -> Result<Option<Session>, Error> {
    let own = |session: &Session| session.hosted && session.head.flow.is_none();
    first_of(reads, scope, &of_channel(channel, agent), own)
}

/// Returns the newest session that matches both `filter` and `wanted`. Reads a page at a time.
fn first_of(
    reads: &mut dyn Reads,
    scope: &Scope,
    filter: &SessionFilter,
    wanted: impl Fn(&Session) -> bool,
) -> Result<Option<Session>, Error> {
    let mut pages = Pages::new(STRIDE, |session: &Session| session.id);
    while let Some(page) = pages.next(|page| reads.sessions(scope, filter, page))? {
        if let Some(found) = page.into_iter().find(&wanted) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the newest session of a channel, whether it has ended or not.
pub(crate) fn newest_in(reads: &mut dyn Reads, scope: &Scope, channel: &str) -> Result<Option<Session>, Error> {
    let filter = of_channel(channel, None);
    Ok(reads.sessions(scope, &filter, Page { after: None, limit: 1 })?.pop())
}

/// Returns the sessions of a channel that began after this one, newest first.
pub(crate) fn sessions_after(
    reads: &mut dyn Reads,
    scope: &Scope,
    channel: &str,
    after: Option<SessionId>,
) -> Result<Vec<Session>, Error> {
    if newest_in(reads, scope, channel)?.map(|newest| newest.id) == after {
        return Ok(Vec::new());
    }
    let filter = of_channel(channel, None);
    let mut found = read_sessions(reads, scope, &filter, |session| after.is_none_or(|after| session.id > after))?;
    found.retain(|session| after.is_none_or(|after| session.id > after));
    Ok(found)
}

/// Returns the live sessions of a channel, newest first.
pub(crate) fn live_in(reads: &mut dyn Reads, scope: &Scope, channel: &str) -> Result<Vec<Session>, Error> {
    let filter = SessionFilter { live: true, ..of_channel(channel, None) };
    read_sessions(reads, scope, &filter, |_| true)
}

/// Creates the filter for the sessions of a channel, limited to an agent if one is named.
fn of_channel(channel: &str, agent: Option<&str>) -> SessionFilter {
    SessionFilter { channel: Some(channel.to_owned()), agent: agent.map(str::to_owned), ..SessionFilter::default() }
}

/// Returns the sessions that match `filter`, newest first. Stops after the first page whose last session is not `wanted`.
fn read_sessions(
    reads: &mut dyn Reads,
    scope: &Scope,
    filter: &SessionFilter,
    wanted: impl Fn(&Session) -> bool,
) -> Result<Vec<Session>, Error> {
    let (mut found, mut pages) = (Vec::new(), Pages::new(STRIDE, |session: &Session| session.id));
    while let Some(more) = pages.next(|page| reads.sessions(scope, filter, page))? {
        found.extend(more);
        if !found.last().is_some_and(&wanted) {
            break;
        }
    }
    Ok(found)
}
