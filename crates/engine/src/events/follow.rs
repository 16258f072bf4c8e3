//! Follows the event log from a cursor, without gaps and without duplicates.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::access::Right;
use domain::{Caller, Event, InteractionId, SessionId};
use parking_lot::Mutex;
use store::{Cost, Cursor, Page, Reads, Topic};

use crate::access::sight::{Remembered, Sight};
use crate::run::fair_gate::Entrant;
use crate::run::read_batch::BatchSize;
use crate::{Engine, Error, Listener};

/// Reads the events of one session in order.
#[derive(Debug)]
pub struct SessionFollower {
    engine: Engine,
    caller: Caller,
    session: SessionId,
    after: u64,
    listener: Listener,
    batch: BatchSize,
}

/// Reads the events of a project in commit order.
#[derive(Debug)]
pub struct ProjectFollower {
    engine: Engine,
    caller: Caller,
    after: Cursor,
    listener: Listener,
    batch: BatchSize,
    /// Cache of the sessions that the reader may see, for agents that see only a part of the project.
    remembered: Arc<Mutex<Remembered>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

impl Engine {
    /// Events of a session about one question, after the given event number.
    pub async fn event_list_about(
        &self,
        caller: &Caller,
        (session, about): (SessionId, InteractionId),
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.list(caller, move |reads, caller| {
            Sight::of(reads, caller)?.session(reads, &scope, session)?;
            Ok(reads.events_about(&scope, session, about, Page { after: Some(after), limit })?.into_vec())
        })
        .await
    }

    /// Returns the events of a session after the given event number. If there is none, waits up to `wait` for the next.
    pub async fn event_list(
        &self,
        caller: &Caller,
        session: SessionId,
        after: u64,
        limit: u32,
        wait: Duration,
    ) -> Result<Vec<Event>, Error> {
        let mut follower = self.session_follow(caller, session, after).await?;
        let scope = caller.scope;
        let found = self.read(Cost::Point, move |reads| Ok(reads.events(&scope, session, after, limit)?)).await?;
        if !found.is_empty() || wait.is_zero() {
            return Ok(found.into_vec());
        }
        let _waits = self.gates.waits.enter(Entrant::of(caller)).await?;
        let mut found = tokio::time::timeout(wait, follower.next()).await.unwrap_or_else(|_| Ok(Vec::new()))?;
        found.truncate(limit as usize);
        Ok(found)
    }

    /// Creates a follower of a session.
    pub async fn session_follow(
        &self,
        caller: &Caller,
        session: SessionId,
        after: u64,
    ) -> Result<SessionFollower, Error> {
        caller.require(Right::Read)?;
        let listener = self.bell.listen(Topic::Session(session));
        let (caller, engine) = (caller.clone(), self.clone());
        let look = move |reads: &mut dyn Reads, caller: &Caller| {
            Sight::of(reads, caller)?.session(reads, &caller.scope, session)
        };
        self.read_by(&caller, Cost::Point, look).await?;
        Ok(SessionFollower { engine, caller, session, after, listener, batch: BatchSize::default() })
    }

    /// Creates a follower of a project that begins after the cursor, or at the current end of the log.
    pub async fn project_follow(&self, caller: &Caller, after: Option<Cursor>) -> Result<ProjectFollower, Error> {
        caller.require(Right::Read)?;
        let listener = self.bell.listen(Topic::Project(caller.scope.project));
        let scope = caller.scope;
        let after = match after {
            Some(after) => after,
            None => self.read(Cost::Point, move |reads| Ok(reads.project_head(&scope)?)).await?,
        };
        let (engine, caller, remembered) = (self.clone(), caller.clone(), Arc::default());
        Ok(ProjectFollower { engine, caller, after, listener, batch: BatchSize::default(), remembered })
    }
}

impl SessionFollower {
    /// Number of the last event that was read.
    #[must_use]
    pub const fn cursor(&self) -> u64 {
        self.after
    }

    /// Waits for the next events and returns at least one.
    pub async fn next(&mut self) -> Result<Vec<Event>, Error> {
        loop {
            let (session, after, limit) = (self.session, self.after, self.batch.limit());
            let read = self.engine.read_by(&self.caller, Cost::Point, move |reads, caller| {
                // The sight of an agent may have been narrowed since the follower was created.
                if let sight @ Sight::Own(_) = Sight::of(reads, caller)? {
                    sight.session(reads, &caller.scope, session)?;
                }
                Ok(reads.events(&caller.scope, session, after, limit)?)
            });
            let mut found = read.await?.into_vec();
            self.batch.cut(&mut found, |event| event);
            if let Some(last) = found.last() {
                self.after = last.seq;
                return Ok(found);
            }
            self.listener.wait().await;
        }
    }
}

impl ProjectFollower {
    /// Cursor of the last event that was read.
    #[must_use]
    pub const fn cursor(&self) -> Cursor {
        self.after
    }

    /// Waits for the next events that the reader may see, each with its cursor. Returns at least one.
    pub async fn next(&mut self) -> Result<Vec<(Cursor, Event)>, Error> {
        loop {
            let (after, limit) = (self.after, self.batch.limit());
            let remembered = Arc::clone(&self.remembered);
            let read = self.engine.read_by(&self.caller, Cost::Point, move |reads, caller| {
                let found = reads.project_events(&caller.scope, after, limit)?;
                let sight = Sight::of(reads, caller)?;
                let mut remembered = remembered.lock();
                let mut unseen = HashSet::new();
                for (_, event) in &found.events {
                    if !remembered.sees(reads, (&sight, &caller.scope), event.session)? {
                        unseen.insert(event.session);
                    }
                }
                Ok((found, unseen))
            });
            let (mut found, unseen) = read.await?;
            self.batch.cut(&mut found.events, |(_, event)| event);
            if let Some((cursor, _)) = found.events.last() {
                self.after = *cursor;
                found.events.retain(|(_, event)| !unseen.contains(&event.session));
                if found.events.is_empty() {
                    continue;
                }
                return Ok(found.events);
            }
            if found.hidden {
                let scope = self.caller.scope;
                let look = || self.engine.read(Cost::Point, move |reads| Ok(reads.project_head(&scope)?));
                self.engine.settling.beyond(scope.project, after, look).await?;
            } else {
                self.listener.wait().await;
            }
        }
    }
}
