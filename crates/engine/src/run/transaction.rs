//! What every command shares: the transaction, the time, fresh ids, and what is to be performed after the commit.

use std::sync::Arc;

use domain::audit::{Entry, How, particulars};
use domain::{Actor, Caller, EntryPoint, Event, EventDraft, InteractionId, Scope, Session, Timestamp};
use store::{Cost, Reads, StoreError, Topic, Tx};

use crate::access::current_caller::CallerState;
use crate::interactions::open_count::OpenChanges;
use crate::run::effects::Effects;
use crate::{Engine, Error, Ids, Settings, interactions};

/// How often a row is written again that other nodes write at the same moment.
const MOST_MEETINGS: u32 = 5;

/// One command at work.
pub(crate) struct Work<'a> {
    pub(crate) tx: &'a mut dyn Tx,
    pub(crate) now: Timestamp,
    pub(crate) ids: &'a Ids,
    pub(crate) settings: &'a Settings,
    pub(crate) originator: &'a Originator,
    pub(crate) effects: &'a mut Effects,
    /// The caller for whom it runs.
    pub(crate) caller_state: CallerState,
    /// The questions that it has opened and closed so far: counted at its end.
    pub(crate) open: OpenChanges,
}

/// Who does it, and how: what the audit trail says of everything that a command does.
#[derive(Debug, Clone)]
pub(crate) struct Originator {
    pub(crate) actor: Actor,
    pub(crate) how: How,
}

impl Originator {
    /// A caller. Only for [`Engine::transact_by`], which reads the credential again.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { actor: caller.actor.clone(), how: How::of(caller) }
    }

    /// A worker, in the name of the agent that it runs.
    pub(crate) fn worker(agent: &Actor) -> Self {
        Self { actor: agent.clone(), how: How::by(EntryPoint::Worker) }
    }

    /// Holdpoint itself, through a door that needs no key.
    pub(crate) fn system(wire: EntryPoint) -> Self {
        Self { actor: Actor::system(), how: How::by(wire) }
    }
}

impl Work<'_> {
    /// Records what happened, numbered by its session: as an event, and on the audit trail.
    pub(crate) fn record_event(
        &mut self,
        session: &mut Session,
        about: Option<InteractionId>,
        happening: EventDraft,
    ) -> Result<Event, Error> {
        let event = self.prepare_event(session, about, happening)?;
        self.tx.event_append(&session.scope, &event)?;
        Ok(event)
    }

    /// Numbers what happened and puts it on the audit trail. The event is still to be appended: the session may be new.
    pub(crate) fn prepare_event(
        &mut self,
        session: &mut Session,
        about: Option<InteractionId>,
        happening: EventDraft,
    ) -> Result<Event, Error> {
        let entry = self.audit_entry(&session.scope, &happening);
        let event = session.record(self.ids.event(self.now), happening, about, self.now);
        let entry = Entry { session: Some(session.id), event: Some(event.seq), interaction: about, ..entry };
        self.tx.audit_append(&entry.written())?;
        Ok(event)
    }

    /// Puts on the audit trail what was done outside any session.
    pub(crate) fn append_audit(&mut self, scope: &Scope, happening: &EventDraft) -> Result<(), Error> {
        let entry = self.audit_entry(scope, happening);
        Ok(self.tx.audit_append(&entry.written())?)
    }

    fn audit_entry(&self, scope: &Scope, happening: &EventDraft) -> Entry {
        let (by, data) = particulars(happening, &self.originator.actor);
        Entry {
            id: self.ids.entry(self.now),
            scope: *scope,
            at: self.now,
            name: happening.name.to_owned(),
            by,
            how: self.originator.how.clone(),
            session: None,
            event: None,
            interaction: None,
            data,
        }
    }

    /// Has everybody woken who watches a session.
    pub(crate) fn ring_watchers(&mut self, session: &Session) {
        self.effects.topics.push(Topic::Session(session.id));
        self.effects.topics.push(Topic::Project(session.scope.project));
        self.effects.topics.push(Topic::Channel(session.scope.project, session.head.channel.clone()));
    }

    /// Has the timers look at this moment, if it comes before the one that they sleep until.
    pub(crate) fn wake_at(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.effects.wake_at = Some(self.effects.wake_at.map_or(at, |earlier| earlier.min(at)));
    }
}

impl Engine {
    /// Runs in one transaction what nobody asked for.
    pub(crate) async fn transact<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        self.transact_as(Originator::system(EntryPoint::Timer), work).await
    }

    /// The same, and again where another node has written the same row meanwhile.
    pub(crate) async fn transact_again<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Clone + Send + 'static,
    {
        for _ in 1..MOST_MEETINGS {
            match self.transact(work.clone()).await {
                Err(Error::Store(StoreError::Conflict)) => {}
                other => return other,
            }
        }
        self.transact(work).await
    }

    /// Runs a command in one transaction, and performs its effects after the commit. A caller's commands go through [`Self::transact_by`].
    pub(crate) async fn transact_as<T, F>(&self, originator: Originator, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        // Nothing that the closure holds may keep the store alive: it is dropped on the store's own thread.
        let (ids, settings, engine) = (Arc::clone(&self.ids), Arc::clone(&self.settings), self.clone());
        let work = move |tx: &mut dyn Tx| {
            let now = tx.now()?;
            let mut effects = Effects::default();
            let work_with = &mut Work {
                tx,
                now,
                ids: &ids,
                settings: &settings,
                originator: &originator,
                effects: &mut effects,
                caller_state: CallerState::default(),
                open: OpenChanges::default(),
            };
            let result = work(work_with)?;
            interactions::save_open_counts(work_with)?;
            Ok::<_, Error>((result, effects))
        };
        store::transact_then(self.store.as_ref(), work, move |effects| engine.perform(effects)).await
    }

    /// Runs a query.
    pub(crate) async fn read<T, F>(&self, cost: Cost, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads) -> Result<T, Error> + Send + 'static,
    {
        store::read(self.store.as_ref(), cost, work).await
    }
}
