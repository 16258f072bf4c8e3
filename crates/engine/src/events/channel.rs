//! Follows a channel: every session that goes on in it, and every one that begins.

use std::collections::{BTreeMap, VecDeque};

use domain::access::Right;
use domain::{Caller, Event, Session, SessionId};
use store::{Cost, Reads, Topic};

use crate::access::sight::Sight;
use crate::run::fair_gate::Entrant;
use crate::run::read_batch::BatchSize;
use crate::sessions::names::{begun_in, live_in, newest_in};
use crate::{Engine, Error, Listener};

/// Reads the events of all sessions of a channel, each session's in their order.
#[derive(Debug)]
pub struct ChannelFollower {
    engine: Engine,
    caller: Caller,
    reader: Entrant,
    channel: String,
    listener: Listener,
    portion: BatchSize,
    /// The sessions that are followed, and up to which event each is.
    places: BTreeMap<SessionId, u64>,
    /// Where to begin with a session that is not followed yet.
    beginning: ChannelStart,
    /// The newest session that is known: later ones have begun since.
    newest: Option<SessionId>,
    /// The sessions of which there is more to read than was given, as far as they were when they were looked at; the next one first.
    behind: VecDeque<SessionCursor>,
    /// Whether something may have happened since they were looked at.
    rung: bool,
}

/// Where a follower of a channel begins.
#[derive(Debug, Clone)]
pub enum ChannelStart {
    /// Sessions that were there are followed from now on, later ones from their beginning.
    Now,
    /// Every session is followed from its beginning, but for those of which something is known already.
    After(BTreeMap<SessionId, u64>),
}

/// What comes next in a channel.
#[derive(Debug, Clone)]
pub enum ChannelItem {
    /// Sessions that were not followed until now, the oldest first: each was there, has begun, or goes on again.
    Joined(Vec<SessionId>),
    /// Events of one session; at least one.
    Events(Vec<Event>),
}

/// How far a session was when it was looked at.
#[derive(Debug, Clone, Copy)]
struct SessionCursor {
    session: SessionId,
    /// Its last event.
    end: u64,
    /// Whether it goes on no more.
    over: bool,
}

impl Engine {
    /// Follows a channel.
    pub async fn follow_channel(
        &self,
        caller: &Caller,
        channel: &str,
        beginning: ChannelStart,
    ) -> Result<ChannelFollower, Error> {
        caller.require(Right::Read)?;
        let (scope, name) = (caller.scope, channel.to_owned());
        let listener = self.bell.listen(Topic::Channel(scope.project, name.clone()));
        let newest = self.read(Cost::Point, move |reads| newest_in(reads, &scope, &name)).await?;
        let places = match &beginning {
            ChannelStart::Now => BTreeMap::new(),
            ChannelStart::After(places) => places.clone(),
        };
        Ok(ChannelFollower {
            engine: self.clone(),
            caller: caller.clone(),
            reader: Entrant::of(caller),
            channel: channel.to_owned(),
            listener,
            portion: BatchSize::default(),
            places,
            beginning,
            newest: newest.map(|newest| newest.id),
            behind: VecDeque::new(),
            rung: true,
        })
    }
}

impl ChannelFollower {
    /// The sessions that go on in the channel now, the oldest first. They are followed from here on, and [`Self::next`] does not give them again.
    pub async fn begin(&mut self) -> Result<Vec<SessionId>, Error> {
        self.look().await
    }

    /// What comes next. It may be dropped while it waits.
    pub async fn next(&mut self) -> Result<ChannelItem, Error> {
        loop {
            if let Some(head) = self.behind.front().copied() {
                let events = self.read(head).await?;
                if !events.is_empty() {
                    return Ok(ChannelItem::Events(events));
                }
            } else if self.rung {
                let joined = self.look().await?;
                if !joined.is_empty() {
                    return Ok(ChannelItem::Joined(joined));
                }
            } else {
                self.listener.heard().await;
                self.rung = true;
            }
        }
    }

    /// Finds out which sessions there are by now, and how far each is; gives those that were not followed until now, the oldest first.
    async fn look(&mut self) -> Result<Vec<SessionId>, Error> {
        let (caller, channel, newest) = (self.caller.clone(), self.channel.clone(), self.newest);
        let followed: Vec<SessionId> = self.places.keys().copied().collect();
        let look = move |reads: &mut dyn Reads| stands(reads, &caller, &channel, (&followed, newest));
        let (fresh, heads) = self.engine.list_patiently(self.reader.clone(), look).await?;
        // What rings from now on was not seen.
        self.rung = false;
        fresh.iter().for_each(|session| self.joined(session));
        let behind =
            |head: &SessionCursor| head.over || self.places.get(&head.session).is_some_and(|place| *place < head.end);
        self.behind = heads.into_iter().filter(behind).collect();
        Ok(fresh.iter().map(|session| session.id).collect())
    }

    /// The next events of a session; none where it has been read as far as it was.
    async fn read(&mut self, head: SessionCursor) -> Result<Vec<Event>, Error> {
        let place = self.places.get(&head.session).copied().unwrap_or(head.end);
        if place >= head.end {
            self.behind.pop_front();
            if head.over {
                self.left(head.session);
            }
            return Ok(Vec::new());
        }
        let (scope, limit) = (self.caller.scope, self.portion.limit());
        let read = self.engine.read(Cost::Point, move |reads| Ok(reads.events(&scope, head.session, place, limit)?));
        let mut events = read.await?.into_vec();
        self.portion.cut(&mut events, |event| event);
        self.places.insert(head.session, events.last().map_or(head.end, |last| last.seq));
        // The others come first the next time.
        self.behind.rotate_left(1);
        Ok(events)
    }

    fn left(&mut self, session: SessionId) {
        if let (Some(place), ChannelStart::After(known)) = (self.places.remove(&session), &mut self.beginning) {
            known.insert(session, place);
        }
    }

    fn joined(&mut self, session: &Session) {
        let later = self.newest.is_none_or(|newest| session.id > newest);
        self.newest = self.newest.max(Some(session.id));
        let after = match &self.beginning {
            ChannelStart::Now if later => 0,
            ChannelStart::Now => session.last_seq,
            // One that had ended and goes on again is told from where it was left.
            ChannelStart::After(known) => known.get(&session.id).copied().unwrap_or_default(),
        };
        self.places.insert(session.id, after);
    }
}

/// The sessions that are not followed yet, the oldest first: those that go on, and those that have begun since, and perhaps ended. And how far
/// each is, the followed ones as well.
fn stands(
    reads: &mut dyn Reads,
    caller: &Caller,
    channel: &str,
    (followed, newest): (&[SessionId], Option<SessionId>),
) -> Result<(Vec<Session>, Vec<SessionCursor>), Error> {
    let (scope, sight) = (&caller.scope, Sight::of(reads, caller)?);
    let mut found: BTreeMap<SessionId, Session> = BTreeMap::new();
    found.extend(begun_in(reads, scope, channel, newest)?.into_iter().map(|session| (session.id, session)));
    found.extend(live_in(reads, scope, channel)?.into_iter().map(|session| (session.id, session)));
    found.retain(|_, session| sight.sees(session));
    let mut heads = Vec::with_capacity(found.len());
    for &id in followed {
        let session = match found.remove(&id) {
            // One that the reader no longer sees has ended for it.
            None => reads.session(scope, id)?.filter(|session| sight.sees(session)),
            live => live,
        };
        heads.push(
            session.map_or(SessionCursor { session: id, end: 0, over: true }, |session| SessionCursor::of(&session)),
        );
    }
    let fresh: Vec<Session> = found.into_values().collect();
    heads.extend(fresh.iter().map(SessionCursor::of));
    Ok((fresh, heads))
}

impl SessionCursor {
    const fn of(session: &Session) -> Self {
        Self { session: session.id, end: session.last_seq, over: session.ended.is_some() }
    }
}
