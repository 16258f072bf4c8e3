//! The content of the store, read without the engine.

use std::collections::BTreeMap;

use domain::{Action, Event, Interaction, InteractionId, Scope, Session, SessionId, Step};
use futures::executor::block_on;
use holdpoint_agent::machine::Input;
use store::{Cost, InteractionFilter, Page, SessionFilter, StepState, Store, StoreError, read};

/// Sessions and questions of the store.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoredState {
    pub sessions: BTreeMap<SessionId, StoredSession>,
    pub questions: BTreeMap<InteractionId, Interaction>,
}

/// One session with its steps, actions and events.
#[derive(Debug, Clone)]
pub(crate) struct StoredSession {
    pub session: Session,
    pub steps: Vec<StoredStep>,
    pub actions: Vec<Action>,
    pub events: Vec<Event>,
    /// Number of questions of the session that have sealed values.
    pub sealed: usize,
}

/// One step with its journal.
#[derive(Debug, Clone)]
pub(crate) struct StoredStep {
    pub step: Step,
    pub state: Option<StepState>,
    pub journal: Vec<(u64, Input)>,
}

impl StoredSession {
    /// Steps of the session, without the attempts that a later attempt continued.
    pub(crate) fn last_attempts(&self) -> impl Iterator<Item = &StoredStep> {
        let next = self.steps.iter().skip(1).map(Some).chain([None]);
        let alone = next.map(|next| next.is_none_or(|next| next.step.attempt == 1));
        self.steps.iter().zip(alone).filter_map(|(kept, alone)| alone.then_some(kept))
    }
}

impl StoredStep {
    /// Inputs of the journal, without their numbers.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.journal.iter().map(|(_, input)| input.clone()).collect()
    }
}

const ALL: u32 = 10_000;

/// Reads the sessions and questions of a scope.
pub(crate) fn look(store: &dyn Store, scope: Scope) -> StoredState {
    let found = read::<_, StoreError, _>(store, Cost::Point, move |reads| {
        let mut sessions = BTreeMap::new();
        for session in reads.sessions(&scope, &SessionFilter::default(), Page { after: None, limit: ALL })? {
            let mut steps = Vec::new();
            for step in reads.steps(&scope, session.id)? {
                let entry = |entry: store::JournalEntry| (entry.seq, serde_json::from_value(entry.body).unwrap());
                let journal = reads.journal(&scope, step.id, Page::first(ALL))?.into_iter().map(entry).collect();
                steps.push(StoredStep { state: reads.step_state(&scope, step.id)?, step, journal });
            }
            let actions = reads.actions(&scope, session.id, "", ALL)?.into_vec();
            let events = reads.events(&scope, session.id, 0, ALL)?.into_vec();
            let sealed = reads.interactions_with_sealed_value(&scope, session.id, "secrets")?.len();
            sessions.insert(session.id, StoredSession { session, steps, actions, events, sealed });
        }
        let questions = reads.interactions(&scope, &InteractionFilter::default(), Page { after: None, limit: ALL })?;
        let questions = questions.into_iter().map(|question| (question.id, question)).collect();
        Ok(StoredState { sessions, questions })
    });
    // Unconstrained: tokio would make a task that reads this often yield, but there is no other task to yield to.
    block_on(tokio::task::unconstrained(found)).unwrap()
}

impl StoredState {
    /// Session that was opened for this task.
    pub(crate) fn of_task(&self, task: &str) -> Option<&StoredSession> {
        self.sessions.values().find(|held| held.session.head.title.as_deref() == Some(task))
    }
}
