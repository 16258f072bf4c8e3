//! Follows the log from a cursor: nothing is missed, nothing is repeated.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::access::Right;
use domain::{Caller, Event, InteractionId, SessionId};
use parking_lot::Mutex;
use store::{Cost, Cursor, Page, Topic};

use crate::access::sight::{Remembered, Sight};
use crate::run::fair_gate::Entrant;
use crate::run::read_batch::BatchSize;
use crate::{Engine, Error, Listener};

/// Reads a session's events one after the other, for as long as it is asked to.
#[derive(Debug)]
pub struct SessionFollower {
    engine: Engine,
    caller: Caller,
    session: SessionId,
    after: u64,
    listener: Listener,
    portion: BatchSize,
}

/// Reads a project's events in commit order.
#[derive(Debug)]
pub struct ProjectFollower {
    engine: Engine,
    caller: Caller,
    after: Cursor,
    listener: Listener,
    portion: BatchSize,
    /// Which sessions an agent sees that does not see all.
    remembered: Arc<Mutex<Remembered>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

impl Engine {
    /// The events of a session that are about one question, after a number.
    pub async fn events_about(
        &self,
        caller: &Caller,
        (session, about): (SessionId, InteractionId),
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, Error> {
        caller.require(Right::Read)?;
        let (scope, reader) = (caller.scope, caller.clone());
        self.list(caller, move |reads| {
            Sight::of(reads, &reader)?.session(reads, &scope, session)?;
            Ok(reads.events_about(&scope, session, about, Page { after: Some(after), limit })?.into_vec())
        })
        .await
    }

    /// Events of a session after a number; waits for one if there is none.
    pub async fn events(
        &self,
        caller: &Caller,
        session: SessionId,
        after: u64,
        limit: u32,
        wait: Duration,
    ) -> Result<Vec<Event>, Error> {
        let mut follower = self.follow(caller, session, after).await?;
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

    /// Follows a session.
    pub async fn follow(&self, caller: &Caller, session: SessionId, after: u64) -> Result<SessionFollower, Error> {
        caller.require(Right::Read)?;
        let listener = self.bell.listen(Topic::Session(session));
        let (caller, engine) = (caller.clone(), self.clone());
        let reader = caller.clone();
        self.read(Cost::Point, move |reads| Sight::of(reads, &reader)?.session(reads, &reader.scope, session)).await?;
        Ok(SessionFollower { engine, caller, session, after, listener, portion: BatchSize::default() })
    }

    /// Follows a project, from a cursor or from now on.
    pub async fn follow_project(&self, caller: &Caller, after: Option<Cursor>) -> Result<ProjectFollower, Error> {
        caller.require(Right::Read)?;
        let listener = self.bell.listen(Topic::Project(caller.scope.project));
        let scope = caller.scope;
        let after = match after {
            Some(after) => after,
            None => self.read(Cost::Point, move |reads| Ok(reads.project_head(&scope)?)).await?,
        };
        let (engine, caller, remembered) = (self.clone(), caller.clone(), Arc::default());
        Ok(ProjectFollower { engine, caller, after, listener, portion: BatchSize::default(), remembered })
    }
}

impl SessionFollower {
    /// Where it is.
    #[must_use]
    pub const fn cursor(&self) -> u64 {
        self.after
    }

    /// The next events; at least one.
    pub async fn next(&mut self) -> Result<Vec<Event>, Error> {
        loop {
            let (caller, session, after) = (self.caller.clone(), self.session, self.after);
            let limit = self.portion.limit();
            let read = self.engine.read(Cost::Point, move |reads| {
                // What an agent reads may have been narrowed since it began to.
                if let sight @ Sight::Own(_) = Sight::of(reads, &caller)? {
                    sight.session(reads, &caller.scope, session)?;
                }
                Ok(reads.events(&caller.scope, session, after, limit)?)
            });
            let mut found = read.await?.into_vec();
            self.portion.cut(&mut found, |event| event);
            if let Some(last) = found.last() {
                self.after = last.seq;
                return Ok(found);
            }
            self.listener.heard().await;
        }
    }
}

impl ProjectFollower {
    /// Where it is.
    #[must_use]
    pub const fn cursor(&self) -> Cursor {
        self.after
    }

    /// The next events that its reader sees, each with its cursor; at least one.
    pub async fn next(&mut self) -> Result<Vec<(Cursor, Event)>, Error> {
        loop {
            let (caller, after, limit) = (self.caller.clone(), self.after, self.portion.limit());
            let remembered = Arc::clone(&self.remembered);
            let read = self.engine.read(Cost::Point, move |reads| {
                let found = reads.project_events(&caller.scope, after, limit)?;
                let sight = Sight::of(reads, &caller)?;
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
            self.portion.cut(&mut found.events, |(_, event)| event);
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
                self.listener.heard().await;
            }
        }
    }
}
