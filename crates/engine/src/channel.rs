//! Follows a channel: every session that goes on in it, and every one that begins.

use std::collections::BTreeMap;

use domain::access::Right;
use domain::{Caller, Event, Scope, Session, SessionId};
use store::{Cost, Reads, Topic};

use crate::conversation::{begun_in, live_in, newest_in};
use crate::portion::Portion;
use crate::{Engine, Error, Listener};

/// Reads the events of all sessions of a channel, each session's in their order.
#[derive(Debug)]
pub struct ChannelFollower {
    engine: Engine,
    scope: Scope,
    channel: String,
    listener: Listener,
    portion: Portion,
    /// The sessions that are followed, and up to which event each is.
    places: BTreeMap<SessionId, u64>,
    /// Where to begin with a session that is not followed yet.
    beginning: Beginning,
    /// The newest session that is known: later ones have begun since.
    newest: Option<SessionId>,
    /// Whose events were given last: the others come first the next time.
    last: Option<SessionId>,
}

/// Where a follower of a channel begins.
#[derive(Debug, Clone)]
pub enum Beginning {
    /// Sessions that were there are followed from now on, later ones from their beginning.
    Now,
    /// Every session is followed from its beginning, but for those of which something is known already.
    After(BTreeMap<SessionId, u64>),
}

/// What comes next in a channel.
#[derive(Debug, Clone)]
pub enum InChannel {
    /// A session that was not followed until now: it was there, has begun, or goes on again.
    Joined(SessionId),
    /// Events of one session; at least one.
    Events(Vec<Event>),
}

enum Look {
    Joined(Box<Session>),
    Events(SessionId, Vec<Event>),
    /// There is nothing to read up to this event.
    Bare(SessionId, u64),
    /// It has ended, and everything was told.
    Over(SessionId),
    Nothing,
}

impl Engine {
    /// Follows a channel.
    pub async fn follow_channel(
        &self,
        caller: &Caller,
        channel: &str,
        beginning: Beginning,
    ) -> Result<ChannelFollower, Error> {
        caller.require(Right::Read)?;
        let (scope, name) = (caller.scope, channel.to_owned());
        let listener = self.bell.listen(Topic::Channel(scope.project, name.clone()));
        let newest = self.read(Cost::Point, move |reads| newest_in(reads, &scope, &name)).await?;
        let places = match &beginning {
            Beginning::Now => BTreeMap::new(),
            Beginning::After(places) => places.clone(),
        };
        Ok(ChannelFollower {
            engine: self.clone(),
            scope,
            channel: channel.to_owned(),
            listener,
            portion: Portion::default(),
            places,
            beginning,
            newest: newest.map(|newest| newest.id),
            last: None,
        })
    }
}

impl ChannelFollower {
    /// What comes next. It may be dropped while it waits.
    pub async fn next(&mut self) -> Result<InChannel, Error> {
        loop {
            let (scope, channel, places) = (self.scope, self.channel.clone(), self.places.clone());
            let (newest, last, limit) = (self.newest, self.last, self.portion.limit());
            let look = move |reads: &mut dyn Reads| match fresh(reads, &scope, &channel, (&places, newest))? {
                (Some(fresh), _) => Ok(Look::Joined(Box::new(fresh))),
                (None, live) => look(reads, &scope, &live, (&places, last), limit),
            };
            match self.engine.read(Cost::Point, look).await? {
                Look::Joined(session) => {
                    self.joined(&session);
                    return Ok(InChannel::Joined(session.id));
                }
                Look::Events(session, mut events) => {
                    self.portion.cut(&mut events, |event| event);
                    self.last = Some(session);
                    if let Some(end) = events.last() {
                        self.places.insert(session, end.seq);
                        return Ok(InChannel::Events(events));
                    }
                }
                Look::Bare(session, end) => drop(self.places.insert(session, end)),
                Look::Over(session) => self.left(session),
                Look::Nothing => self.listener.heard().await,
            }
        }
    }

    fn left(&mut self, session: SessionId) {
        if let (Some(place), Beginning::After(known)) = (self.places.remove(&session), &mut self.beginning) {
            known.insert(session, place);
        }
    }

    fn joined(&mut self, session: &Session) {
        let later = self.newest.is_none_or(|newest| session.id > newest);
        self.newest = self.newest.max(Some(session.id));
        let after = match &self.beginning {
            Beginning::Now if later => 0,
            Beginning::Now => session.last_seq,
            // One that had ended and goes on again is told from where it was left.
            Beginning::After(known) => known.get(&session.id).copied().unwrap_or_default(),
        };
        self.places.insert(session.id, after);
    }
}

/// A session that is not followed yet: the oldest that goes on, or has begun since, and perhaps ended. Else those that go on.
fn fresh(
    reads: &mut dyn Reads,
    scope: &Scope,
    channel: &str,
    (places, newest): (&BTreeMap<SessionId, u64>, Option<SessionId>),
) -> Result<(Option<Session>, Vec<Session>), Error> {
    let live = live_in(reads, scope, channel)?;
    let begun = begun_in(reads, scope, channel, newest)?;
    let unknown = live.iter().chain(&begun).filter(|session| !places.contains_key(&session.id));
    Ok((unknown.min_by_key(|session| session.id).cloned(), live))
}

fn look(
    reads: &mut dyn Reads,
    scope: &Scope,
    live: &[Session],
    (places, last): (&BTreeMap<SessionId, u64>, Option<SessionId>),
    limit: u32,
) -> Result<Look, Error> {
    let (next, before): (Vec<_>, Vec<_>) = places.iter().partition(|(id, _)| Some(**id) > last);
    for (&id, &place) in next.into_iter().chain(before) {
        let stands = match live.iter().find(|session| session.id == id) {
            Some(session) => (session.last_seq, false),
            None => match reads.session(scope, id)? {
                Some(session) => (session.last_seq, session.ended.is_some()),
                None => return Ok(Look::Over(id)),
            },
        };
        match stands {
            (end, _) if end > place => {
                let events = reads.events(scope, id, place, limit)?;
                return Ok(if events.is_empty() { Look::Bare(id, end) } else { Look::Events(id, events) });
            }
            (_, true) => return Ok(Look::Over(id)),
            _ => {}
        }
    }
    Ok(Look::Nothing)
}
