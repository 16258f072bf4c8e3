//! Runs commands in transactions: `Work` gives a command its transaction, the caller, the time, ids and the effects to perform after the commit.
//!
//! A caller is authenticated when a request, a message or a stream begins. Before its transaction runs, the key may be revoked, the visit may end,
//! or the person may get other groups. The transaction therefore reads the credential again, by primary key.

use std::sync::Arc;

use domain::audit::{AuditDraft, Entry, How, Particulars};
use domain::{Actor, Caller, EntryPoint, Event, EventDraft, InteractionId, Refusal, Scope, Session, Timestamp};
use store::{Cost, Reads, StoreError, Topic, Tx};

use crate::access;
use crate::run::effects::Effects;
use crate::run::open_counts::{OpenChanges, save_open_counts};
use crate::{Engine, Error, Ids, Settings};

/// Number of attempts of a transaction whose row other nodes write at the same time.
const MOST_ATTEMPTS: u32 = 5;

/// Context of one command in its transaction.
pub(crate) struct Work<'a> {
    pub(crate) tx: &'a mut dyn Tx,
    pub(crate) now: Timestamp,
    pub(crate) ids: &'a Ids,
    pub(crate) settings: &'a Settings,
    pub(crate) originator: &'a Originator,
    pub(crate) effects: &'a mut Effects,
    /// Caller for whom the command runs.
    pub(crate) caller_state: CallerState,
    /// Questions that the command has opened and closed so far. They are counted at its end.
    pub(crate) open_changes: OpenChanges,
}

/// Caller of a transaction, before and after the credential was read again.
#[derive(Debug, Default)]
pub(crate) struct CallerState {
    /// Caller as authenticated at the start of the request. `None` where Holdpoint itself acts.
    presented: Option<Caller>,
    /// Caller as read in this transaction. `None` until the credential is read.
    found: Option<Caller>,
}

/// Actor, entry point and credential of a command, as the audit trail records them.
#[derive(Debug, Clone)]
pub(crate) struct Originator {
    pub(crate) actor: Actor,
    pub(crate) how: How,
}

impl Originator {
    /// Originator of a caller's command. Only [`Engine::transact_by`] uses it, because it reads the credential again.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { actor: caller.actor.clone(), how: How::of(caller) }
    }

    /// Originator of a worker's command, which acts in the name of the agent that it runs.
    pub(crate) fn worker(agent: &Actor) -> Self {
        Self { actor: agent.clone(), how: How::by(EntryPoint::Worker) }
    }

    /// Originator of a command of Holdpoint itself, through an entry point that needs no key.
    pub(crate) fn system(entry_point: EntryPoint) -> Self {
        Self { actor: Actor::system(), how: How::by(entry_point) }
    }
}

impl Work<'_> {
    /// Actor of the request.
    pub(crate) const fn by(&self) -> &Actor {
        &self.originator.actor
    }

    /// Returns the caller as of this transaction. The credential is read once per transaction: a use case that takes a lock calls this after it has
    /// the lock.
    pub(crate) fn caller(&mut self) -> Result<Caller, Error> {
        if let Some(found) = &self.caller_state.found {
            return Ok(found.clone());
        }
        let presented = self.caller_state.presented.as_ref().ok_or(Error::Unauthenticated)?;
        let found =
            access::authenticate::read_caller(&mut *self.tx, presented, self.now)?.ok_or(Error::Unauthenticated)?;
        if !presented.role.is_within(found.role) {
            // Checks before the transaction were made for a role that the caller no longer has.
            return Err(Refusal::RoleForbids { role: found.role }.into());
        }
        self.caller_state.found = Some(found.clone());
        Ok(found)
    }

    /// Records an event draft as the next event of its session, and in the audit trail.
    pub(crate) fn record_event(
        &mut self,
        session: &mut Session,
        about: Option<InteractionId>,
        draft: EventDraft,
    ) -> Result<Event, Error> {
        let event = self.prepare_event(session, about, &draft)?;
        self.tx.event_append(&session.scope, &event)?;
        Ok(event)
    }

    /// Numbers an event and appends it to the audit trail. The caller appends the event itself, after it has stored the session. Only use cases that
    /// insert a session need this.
    pub(crate) fn prepare_event(
        &mut self,
        session: &mut Session,
        about: Option<InteractionId>,
        draft: &EventDraft,
    ) -> Result<Event, Error> {
        let entry = self.audit_entry(&session.scope, draft.into());
        let event = session.record(self.ids.event(self.now), draft, about, self.now);
        let entry = Entry { session: Some(session.id), event: Some(event.seq), interaction: about, ..entry };
        self.tx.audit_append(&entry.written())?;
        Ok(event)
    }

    /// Appends a change outside any session to the audit trail.
    pub(crate) fn append_audit(&mut self, scope: &Scope, draft: &AuditDraft) -> Result<(), Error> {
        let entry = self.audit_entry(scope, draft.into());
        Ok(self.tx.audit_append(&entry.written())?)
    }

    fn audit_entry(&self, scope: &Scope, particulars: Particulars) -> Entry {
        let Originator { actor, how } = self.originator;
        particulars.into_entry(self.ids.entry(self.now), *scope, self.now, actor, how)
    }

    /// Wakes the watchers of a session, of its project and of its channel after the commit.
    pub(crate) fn ring_watchers(&mut self, session: &Session) {
        self.effects.topics.push(Topic::Session(session.id));
        self.effects.topics.push(Topic::Project(session.scope.project));
        self.effects.topics.push(Topic::Channel(session.scope.project, session.head.channel.clone()));
    }

    /// Makes the timers wake at this time, if it is earlier than the time until which they sleep.
    pub(crate) fn wake_at(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.effects.wake_at = Some(self.effects.wake_at.map_or(at, |earlier| earlier.min(at)));
    }
}

impl Engine {
    /// Runs a transaction of Holdpoint itself, without a caller.
    pub(crate) async fn transact<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        self.transact_as(Originator::system(EntryPoint::Timer), work).await
    }

    /// Like [`Self::transact`], but retries if another node has written the same row meanwhile.
    pub(crate) async fn transact_again<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Clone + Send + 'static,
    {
        retry_conflicts(MOST_ATTEMPTS, || self.transact(work.clone())).await
    }

    /// Runs a command in one transaction, and performs its effects after the commit. Commands of callers go through [`Self::transact_by`].
    pub(crate) async fn transact_as<T, F>(&self, originator: Originator, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        // `work` must hold nothing that keeps the store alive, because it is dropped on the store's own thread.
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
                open_changes: OpenChanges::default(),
            };
            let result = work(work_with)?;
            save_open_counts(work_with)?;
            Ok::<_, Error>((result, effects))
        };
        store::transact_then(self.store.as_ref(), work, move |effects| engine.perform(effects)).await
    }

    /// Runs a caller's command in one transaction. The command is refused and changes nothing if the credential is no longer valid, or if the
    /// caller's role has fallen since authentication.
    pub(crate) async fn transact_by<T, F>(&self, caller: &Caller, mut command: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        let presented = caller.clone();
        self.transact_as(Originator::of(caller), move |work| {
            work.caller_state = CallerState { presented: Some(presented.clone()), found: None };
            let done = command(work);
            // A refusal can disclose something too, so the credential is checked before one is returned. After any other error the transaction
            // cannot be read.
            if matches!(done, Ok(_) | Err(Error::Refused(_))) {
                work.caller()?;
            }
            done
        })
        .await
    }

    /// Runs a query that only reads.
    pub(crate) async fn read<T, F>(&self, cost: Cost, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads) -> Result<T, Error> + Send + 'static,
    {
        store::read(self.store.as_ref(), cost, work).await
    }

    /// Runs a query that depends on what the caller may see.
    pub(crate) async fn read_by<T, F>(&self, caller: &Caller, cost: Cost, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads, &Caller) -> Result<T, Error> + Send + 'static,
    {
        let caller = caller.clone();
        self.read(cost, move |reads| work(reads, &caller)).await
    }
}

/// Runs `attempt` until it meets no other transaction that writes the same rows, at most `most` times.
pub(crate) async fn retry_conflicts<T, F>(most: u32, mut attempt: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    for _ in 1..most {
        match attempt().await {
            Err(Error::Store(StoreError::Conflict)) => {}
            other => return other,
        }
    }
    attempt().await
}
