//! Setup of the cases: a store, two projects, and sample values.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::event::MessageSent;
use domain::interaction::Reviewer;
use domain::{
    Actor, ActorKind, AgentEnvironment, AnswerDraft, AnswerId, Caller, Credential, EntryPoint, Event, EventDraft,
    EventId, EventKind, Interaction, InteractionId, KeyId, ProjectId, Question, Role, Scope, Session, SessionHead,
    SessionId, SessionInput, Step, StepId, TenantId, Timestamp,
};
use futures::executor::block_on;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{Cost, Reads, Store, StoreError, StoreResult, Tx, UseCaseError, read, transact};

/// An empty store, with a guard that must outlive it.
pub struct Fixture {
    /// Store that the case tests.
    pub store: Arc<dyn Store>,
    #[expect(dead_code, reason = "dropped after the store")]
    guard: Box<dyn Any + Send + Sync>,
}

impl Fixture {
    /// Creates a fixture from a store and the guard of its directory or database.
    pub fn new(store: Arc<dyn Store>, guard: impl Any + Send + Sync) -> Self {
        Self { store, guard: Box::new(guard) }
    }
}

/// Error of a use case of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CaseError {
    Refused,
    Store(StoreError),
}

impl From<StoreError> for CaseError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl UseCaseError for CaseError {
    fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::Refused => None,
            Self::Store(error) => Some(error),
        }
    }
}

/// A store with two tenants that have a project each.
pub struct World {
    /// Store that the case tests.
    pub store: Arc<dyn Store>,
    /// Project that the cases use.
    pub here: Scope,
    /// Project of another tenant.
    pub elsewhere: Scope,
}

impl World {
    /// Creates both projects in a store.
    pub fn on(store: &Arc<dyn Store>) -> Self {
        let scope = |name: &'static str| {
            let fresh = Scope { tenant: TenantId::from_uuid(fresh()), project: ProjectId::from_uuid(fresh()) };
            block_on(transact::<_, StoreError, _>(&**store, move |tx| tx.scope_ensure(name, "default", fresh))).unwrap()
        };
        Self { store: Arc::clone(store), here: scope("here"), elsewhere: scope("elsewhere") }
    }

    /// Runs a use case and waits for it.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut dyn Tx) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        block_on(transact(&*self.store, work))
    }

    /// Runs a query and waits for it.
    pub fn look<T: Send + 'static>(&self, work: impl FnMut(&mut dyn Reads) -> StoreResult<T> + Send + 'static) -> T {
        block_on(read::<T, StoreError, _>(&*self.store, Cost::Point, work)).unwrap()
    }

    /// Inserts a session with its step.
    #[expect(clippy::must_use_candidate, reason = "some cases need the session only in the store")]
    pub fn session(&self) -> Session {
        self.keep_session(session(self.here, "chat-1", Some("deployer")))
    }

    pub(crate) fn keep_session(&self, session: Session) -> Session {
        let kept = session.clone();
        let step = Step::begin(kept.step, kept.id, kept.head.agent.clone(), kept.created_at);
        self.write(move |tx| {
            tx.session_insert(&kept, &SessionInput::default())?;
            tx.step_insert(&kept.scope, &step)
        })
        .unwrap();
        session
    }

    /// Inserts a question and returns it.
    #[expect(clippy::must_use_candidate, reason = "some cases need the question only in the store")]
    pub fn ask(&self, session: &Session, fields: Value) -> Interaction {
        let asked = asked(session, fields);
        self.keep(&[&asked]);
        asked
    }

    /// Inserts the first revision of a question and saves the others over it.
    pub(crate) fn keep(&self, revisions: &[&Interaction]) {
        let revisions: Vec<Interaction> = revisions.iter().map(|revision| (*revision).clone()).collect();
        self.write(move |tx| {
            for revision in &revisions {
                match revision.revision {
                    1 => tx.interaction_insert(revision)?,
                    _ => tx.interaction_save(revision)?,
                }
            }
            Ok(())
        })
        .unwrap();
    }

    /// Returns the stored question.
    #[must_use]
    pub fn kept(&self, id: InteractionId) -> Option<Interaction> {
        let scope = self.here;
        self.look(move |reads| reads.interaction(&scope, id))
    }
}

/// Appends an event to a session under its lock, as every use case does.
pub fn append(tx: &mut dyn Tx, scope: &Scope, session: SessionId, about: Option<InteractionId>) -> StoreResult<Event> {
    let mut session = tx.session_lock(scope, session)?.ok_or(StoreError::Conflict)?;
    let now = tx.now()?;
    let draft = message(format!("message {}", session.last_seq + 1));
    let event = session.record(EventId::from_uuid(fresh()), &draft, about, now);
    tx.session_save(&session)?;
    tx.event_append(scope, &event)?;
    Ok(event)
}

/// Returns the draft of an event with this text.
pub(crate) fn message(content: String) -> EventDraft {
    EventDraft::plain(EventKind::MessageSent(MessageSent { content, requires_reply: false }))
}

/// Returns an id that is greater than all earlier ones.
pub(crate) fn fresh() -> Uuid {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u128(0x0198_f2c4_0000_7000_8000_0000_0000_0000 + u128::from(NUMBER.fetch_add(1, Ordering::Relaxed)))
}

/// Returns the time some seconds after the start of a case.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// Creates an actor of a kind.
pub(crate) fn actor(kind: ActorKind, name: &str) -> Actor {
    Actor { kind, name: name.into() }
}

/// Returns the agent that asks.
pub(crate) fn agent() -> Actor {
    actor(ActorKind::Agent, "deployer")
}

/// Creates a session that a user started at second 0.
pub(crate) fn session(scope: Scope, channel: &str, agent: Option<&str>) -> Session {
    let head = SessionHead {
        agent_version: Some("1.2".into()),
        channel: channel.into(),
        agent: agent.map(str::to_owned),
        title: Some("A title".into()),
        flow: Some("release".into()),
        flow_version: Some("3".into()),
    };
    let (id, step) = (SessionId::from_uuid(fresh()), StepId::from_uuid(fresh()));
    Session::start(id, scope, head, step, actor(ActorKind::User, "starter"), at(0)).0
}

/// Creates a confirmation of a session, with additional fields.
pub(crate) fn asked(session: &Session, fields: Value) -> Interaction {
    let mut question = json!({ "kind": "confirmation", "title": "May I?", "required": true });
    question.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let question: Question = serde_json::from_value(question).unwrap();
    let id = InteractionId::from_uuid(fresh());
    Interaction::ask(id, session, agent(), question.admit().unwrap(), at(1)).0
}

/// Returns the permission of a user to answer a question.
pub(crate) fn reviewer(interaction: &Interaction, name: &str) -> Reviewer {
    let caller = Caller {
        credential: Credential::Key(KeyId::from_uuid(Uuid::nil())),
        scope: interaction.scope,
        role: Role::Operator,
        actor: actor(ActorKind::User, name),
        groups: vec!["ops".into()],
        environment: AgentEnvironment::default(),
        from: None,
        entry_point: EntryPoint::Http,
    };
    interaction.admit(&caller).unwrap()
}

/// Answers a question with its first option, or with a text if it has none.
pub(crate) fn answered(interaction: &Interaction, by: &str, now: Timestamp) -> Interaction {
    let option = interaction.question.options.first().map(|option| option.id.clone());
    let data = if option.is_some() { Value::Null } else { json!("as you like") };
    let draft = AnswerDraft { options: option.into_iter().collect(), data, ..AnswerDraft::default() };
    let reviewer = reviewer(interaction, by);
    interaction.clone().answer(&reviewer, AnswerId::from_uuid(fresh()), draft, None, now).unwrap().0
}
