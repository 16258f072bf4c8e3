//! Follows all sessions of a channel, those that are open and those that begin later.

use std::collections::{BTreeMap, VecDeque};

use domain::access::Right;
use domain::{Caller, Event, Session, SessionId};
use store::{Cost, Reads, Topic};

use crate::access::sight::Sight;
use crate::run::read_batch::BatchSize;
use crate::sessions;
use crate::{Engine, Error, Listener};

/// Reads the events of all sessions of a channel. The events of each session arrive in order.
#[derive(Debug)]
pub struct ChannelFollower {
    engine: Engine,
    caller: Caller,
    channel: String,
    listener: Listener,
    batch: BatchSize,
    /// Followed sessions, each with the number of the last event that was read.
    cursors: BTreeMap<SessionId, u64>,
    /// Position from which a newly found session is followed.
    beginning: ChannelStart,
    /// Newest known session. A session with a higher id began after the last look.
    newest: Option<SessionId>,
    /// Sessions that have unread events or have ended, as found by the last look. The front session is read next.
    behind: VecDeque<SessionCursor>,
    /// Whether the bell has rung since the last look.
    rung: bool,
}

/// Position from which a follower of a channel begins.
#[derive(Debug, Clone)]
pub enum ChannelStart {
    /// Existing sessions are followed from now on, later sessions from their first event.
    Now,
    /// Every session is followed from its first event, except the given sessions, which are followed from the given event number.
    After(BTreeMap<SessionId, u64>),
}

/// Next item that a follower of a channel returns.
#[derive(Debug, Clone)]
pub enum ChannelItem {
    /// Newly followed sessions, the oldest first: sessions that existed already, sessions that have begun, and failed sessions
    /// that were revived.
    Joined(Vec<SessionId>),
    /// Events of one session, at least one.
    Events(Vec<Event>),
}

/// State of a session at the last look.
#[derive(Debug, Clone, Copy)]
struct SessionCursor {
    session: SessionId,
    /// Number of the session's last event.
    end: u64,
    /// Whether the session has ended, or the reader no longer has access to it.
    over: bool,
}

impl Engine {
    /// Creates a follower of a channel.
    pub async fn channel_follow(
        &self,
        caller: &Caller,
        channel: &str,
        beginning: ChannelStart,
    ) -> Result<ChannelFollower, Error> {
        caller.require(Right::Read)?;
        let (scope, name) = (caller.scope, channel.to_owned());
        let listener = self.bell.listen(Topic::Channel(scope.project, name.clone()));
        let newest = self.read(Cost::Point, move |reads| sessions::names::newest_in(reads, &scope, &name)).await?;
        let cursors = match &beginning {
            ChannelStart::Now => BTreeMap::new(),
            ChannelStart::After(cursors) => cursors.clone(),
        };
        Ok(ChannelFollower {
            engine: self.clone(),
            caller: caller.clone(),
            channel: channel.to_owned(),
            listener,
            batch: BatchSize::default(),
            cursors,
            beginning,
            newest: newest.map(|newest| newest.id),
            behind: VecDeque::new(),
            rung: true,
        })
    }
}

impl ChannelFollower {
    /// Returns the open sessions of the channel, the oldest first. They are followed from here on, and [`Self::next`] does not report
    /// them again.
    pub async fn begin(&mut self) -> Result<Vec<SessionId>, Error> {
        self.look().await
    }

    /// Waits for the next item. The future is safe to drop while it waits.
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
                self.listener.wait().await;
                self.rung = true;
            }
        }
    }

    /// Reads the sessions of the channel and the last event of each. Returns the newly followed sessions, the oldest first.
    async fn look(&mut self) -> Result<Vec<SessionId>, Error> {
        let (channel, newest) = (self.channel.clone(), self.newest);
        let followed: Vec<SessionId> = self.cursors.keys().copied().collect();
        let look =
            move |reads: &mut dyn Reads, caller: &Caller| read_heads(reads, caller, &channel, (&followed, newest));
        let (fresh, heads) = self.engine.list_patiently(&self.caller, look).await?;
        // A ring after this point may announce an event that this read did not see.
        self.rung = false;
        fresh.iter().for_each(|session| self.follow(session));
        let behind = |head: &SessionCursor| {
            head.over || self.cursors.get(&head.session).is_some_and(|cursor| *cursor < head.end)
        };
        self.behind = heads.into_iter().filter(behind).collect();
        Ok(fresh.iter().map(|session| session.id).collect())
    }

    /// Reads the next events of a session. Returns an empty list once the session is read up to the end that the last look found.
    async fn read(&mut self, head: SessionCursor) -> Result<Vec<Event>, Error> {
        let cursor = self.cursors.get(&head.session).copied().unwrap_or(head.end);
        if cursor >= head.end {
            self.behind.pop_front();
            if head.over {
                self.unfollow(head.session);
            }
            return Ok(Vec::new());
        }
        let (scope, limit) = (self.caller.scope, self.batch.limit());
        let read = self.engine.read(Cost::Point, move |reads| Ok(reads.events(&scope, head.session, cursor, limit)?));
        let mut events = read.await?.into_vec();
        self.batch.cut(&mut events, |event| event);
        self.cursors.insert(head.session, events.last().map_or(head.end, |last| last.seq));
        // Moves this session to the back, so that the other sessions are read first.
        self.behind.rotate_left(1);
        Ok(events)
    }

    fn unfollow(&mut self, session: SessionId) {
        if let (Some(cursor), ChannelStart::After(known)) = (self.cursors.remove(&session), &mut self.beginning) {
            known.insert(session, cursor);
        }
    }

    fn follow(&mut self, session: &Session) {
        let later = self.newest.is_none_or(|newest| session.id > newest);
        self.newest = self.newest.max(Some(session.id));
        let after = match &self.beginning {
            ChannelStart::Now if later => 0,
            ChannelStart::Now => session.last_seq,
            // A revived session continues at the event at which it was left.
            ChannelStart::After(known) => known.get(&session.id).copied().unwrap_or_default(),
        };
        self.cursors.insert(session.id, after);
    }
}

/// Finds the sessions that are not followed yet, the oldest first: open sessions, and sessions that began since `newest`, even if they
/// have ended. Also returns the cursors of these and of all followed sessions.
fn read_heads(
    reads: &mut dyn Reads,
    caller: &Caller,
    channel: &str,
    (followed, newest): (&[SessionId], Option<SessionId>),
) -> Result<(Vec<Session>, Vec<SessionCursor>), Error> {
    let (scope, sight) = (&caller.scope, Sight::of(reads, caller)?);
    let mut found: BTreeMap<SessionId, Session> = BTreeMap::new();
    found.extend(
        sessions::names::sessions_after(reads, scope, channel, newest)?
            .into_iter()
            .map(|session| (session.id, session)),
    );
    found.extend(sessions::names::live_in(reads, scope, channel)?.into_iter().map(|session| (session.id, session)));
    found.retain(|_, session| sight.sees(session));
    let mut heads = Vec::with_capacity(found.len());
    for &id in followed {
        let session = match found.remove(&id) {
            // A session that the reader no longer sees counts as ended.
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
