//! Follows a channel: every session that goes on in it, and every one that begins.

use std::collections::BTreeMap;

use domain::access::Right;
use domain::{Caller, Event, Scope, Session, SessionId};
use store::{Cost, Reads, Topic};

use crate::conversation::{live_in, newest_in};
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
    /// Whose events were given last: the others come first the next time.
    last: Option<SessionId>,
}

/// Where a follower of a channel begins.
#[derive(Debug, Clone)]
pub enum Beginning {
    /// Sessions that were there are followed from now on, later ones from their beginning.
    Now(Option<SessionId>),
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
    Joined(Session),
    Events(SessionId, Vec<Event>),
    /// There is nothing to read up to this event.
    Bare(SessionId, u64),
    /// It has ended, and everything was told.
    Over(SessionId),
    Nothing,
}

impl Engine {
    /// Follows a channel from now on.
    pub async fn follow_channel(&self, caller: &Caller, channel: &str) -> Result<ChannelFollower, Error> {
        let (scope, name) = (caller.scope, channel.to_owned());
        let newest = self.read(Cost::Point, move |reads| newest_in(reads, &scope, &name)).await?;
        self.follow_channel_from(caller, channel, Beginning::Now(newest.map(|newest| newest.id)))
    }

    /// Follows a channel.
    pub fn follow_channel_from(
        &self,
        caller: &Caller,
        channel: &str,
        beginning: Beginning,
    ) -> Result<ChannelFollower, Error> {
        caller.require(Right::Read)?;
        let places = match &beginning {
            Beginning::Now(_) => BTreeMap::new(),
            Beginning::After(places) => places.clone(),
        };
        Ok(ChannelFollower {
            engine: self.clone(),
            scope: caller.scope,
            listener: self.bell.listen(Topic::Channel(caller.scope.project, channel.to_owned())),
            channel: channel.to_owned(),
            portion: Portion::default(),
            places,
            beginning,
            last: None,
        })
    }
}

impl ChannelFollower {
    /// What comes next. It may be dropped while it waits.
    pub async fn next(&mut self) -> Result<InChannel, Error> {
        loop {
            let (scope, channel, places) = (self.scope, self.channel.clone(), self.places.clone());
            let (last, limit) = (self.last, self.portion.limit());
            let look = move |reads: &mut dyn Reads| look(reads, &scope, &channel, (&places, last), limit);
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
        let after = match &mut self.beginning {
            Beginning::Now(newest) => {
                let later = newest.is_none_or(|newest| session.id > newest);
                *newest = (*newest).max(Some(session.id));
                if later { 0 } else { session.last_seq }
            }
            // One that had ended and goes on again is told from where it was left.
            Beginning::After(known) => known.get(&session.id).copied().unwrap_or_default(),
        };
        self.places.insert(session.id, after);
    }
}

fn look(
    reads: &mut dyn Reads,
    scope: &Scope,
    channel: &str,
    (places, last): (&BTreeMap<SessionId, u64>, Option<SessionId>),
    limit: u32,
) -> Result<Look, Error> {
    let live = live_in(reads, scope, channel)?;
    // The oldest first, as they came.
    if let Some(fresh) = live.iter().rev().find(|session| !places.contains_key(&session.id)) {
        return Ok(Look::Joined(fresh.clone()));
    }
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
