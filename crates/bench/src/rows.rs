//! Writes rows of the shapes that the engine writes, to measure or fill a store without the engine.
//!
//! The rows are objects of the domain, written through the store's own transactions. A write saves a question, its event
//! and its audit entry as the engine does, but without its checks: permissions, budgets and idempotency keys.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::audit::{Entry, How, Particulars};
use domain::{
    Actor, ActorKind, Caller, Credential, EntryId, EntryPoint, EventDraft, EventId, Interaction, InteractionId, KeyId,
    ProjectId, Question, Refusal, Role, Scope, Session, SessionHead, SessionId, SessionInput, SignedDuration, Step,
    StepId, TenantId, Timestamp,
};
use engine::Settings;
use serde_json::json;
use store::{Store, StoreError, Tx, UseCaseError, transact};
use uuid::Uuid;

use crate::Fallible;

/// Reason why a transaction was rolled back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RowError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
}

impl UseCaseError for RowError {
    fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            Self::Refused(_) => None,
        }
    }
}

/// A question with the event that announces it.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) interaction: Interaction,
    event_draft: EventDraft,
}

/// Writes rows into one project.
#[derive(Debug)]
pub(crate) struct RowWriter {
    pub(crate) scope: Scope,
    agent: Actor,
    how: How,
    question: Question,
    settings: Settings,
    number: AtomicU64,
    /// Whether audit entries are written too.
    audits: bool,
}

impl RowWriter {
    /// Opens the default project and creates it if it is missing.
    pub(crate) async fn open(store: &dyn Store) -> Fallible<Self> {
        let fresh = Scope {
            tenant: TenantId::from_uuid(Uuid::from_u128(1 << 64)),
            project: ProjectId::from_uuid(Uuid::from_u128(2 << 64)),
        };
        let scope = transact::<_, StoreError, _>(store, move |tx| tx.scope_ensure("default", "default", fresh)).await?;
        let how = How::of(&Caller {
            credential: Credential::Key(KeyId::from_uuid(Uuid::nil())),
            scope,
            role: Role::Operator,
            actor: Actor { kind: ActorKind::User, name: "bench-person".into() },
            groups: Vec::new(),
            environment: domain::AgentEnvironment::default(),
            from: None,
            entry_point: EntryPoint::Http,
        });
        let agent = Actor { kind: ActorKind::Agent, name: "bench-agent".into() };
        // This is the question that `http_loop.rs` asks.
        let question = question(json!({
            "kind": "approval", "title": "Deploy 1.4 to production?", "required": true, "fallback": "deny",
            "deadline": "2100-01-01T00:00:00Z",
            "action": { "tool": "deploy", "arguments": { "version": "1.4", "target": "production" } },
        }))?;
        let settings = Settings::default();
        Ok(Self { scope, agent, how, question, settings, number: AtomicU64::new(1), audits: true })
    }

    /// Turns off audit entries, to measure their cost or to fill a store with questions only.
    pub(crate) fn without_trail(self) -> Self {
        Self { audits: false, ..self }
    }

    /// Creates an identifier that sorts by time, and by number within a millisecond.
    fn fresh(&self, now: Timestamp) -> Uuid {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or_default();
        let number = self.number.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut bytes = [0; 10];
        bytes[4..].copy_from_slice(&number[2..]);
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
    }

    /// Writes a session with its step and its first event.
    pub(crate) fn start(&self, tx: &mut dyn Tx) -> Result<Session, RowError> {
        let now = tx.now()?;
        let (id, step) = (SessionId::from_uuid(self.fresh(now)), StepId::from_uuid(self.fresh(now)));
        let head = SessionHead {
            agent_version: None,
            channel: id.uuid().to_string(),
            agent: Some("deployer".into()),
            title: Some("Release 1.4".into()),
            ..SessionHead::default()
        };
        let step = Step::begin(step, id, head.agent.clone(), now);
        let (mut session, event_draft) = Session::start(id, self.scope, head, step.id, self.agent.clone(), now);
        self.append_audit(tx, &session, None, &event_draft, now)?;
        let event = session.record(EventId::from_uuid(self.fresh(now)), &event_draft, None, now);
        tx.session_insert(&session, &SessionInput::default())?;
        tx.step_insert(&self.scope, &step)?;
        tx.event_append(&self.scope, &event)?;
        Ok(session)
    }

    /// Writes a question into a locked or new session. The caller saves the session.
    pub(crate) fn put(
        &self,
        tx: &mut dyn Tx,
        session: &mut Session,
        question: &Question,
        seconds: Option<i64>,
    ) -> Result<Written, RowError> {
        let now = tx.now()?;
        session.count_opened(question.kind.blocks(), self.settings.most_open)?;
        let id = InteractionId::from_uuid(self.fresh(now));
        let question = question.clone().set_time(seconds.map(SignedDuration::from_secs), self.settings.warning, now);
        let (interaction, event_draft) = Interaction::ask(id, session, self.agent.clone(), question, now);
        tx.interaction_insert(&interaction)?;
        let written = Written { interaction, event_draft };
        self.record(tx, session, &written)?;
        Ok(written)
    }

    /// Writes the question of the loop into a session.
    pub(crate) fn insert(&self, tx: &mut dyn Tx, session: SessionId) -> Result<Written, RowError> {
        let mut session = tx.session_lock(&self.scope, session)?.ok_or(Refusal::NotFound("session"))?;
        let written = self.put(tx, &mut session, &self.question, Some(3600))?;
        tx.session_save(&session)?;
        Ok(written)
    }

    /// Writes the question again, with another event and audit entry.
    pub(crate) fn update(&self, tx: &mut dyn Tx, written: &Written) -> Result<Written, RowError> {
        let (scope, mut written) = (&self.scope, written.clone());
        let session = tx.session_lock(scope, written.interaction.origin.session)?;
        let mut session = session.ok_or(Refusal::NotFound("session"))?;
        written.interaction.revision += 1;
        tx.interaction_save(&written.interaction)?;
        self.record(tx, &mut session, &written)?;
        tx.session_save(&session)?;
        Ok(written)
    }

    fn record(&self, tx: &mut dyn Tx, session: &mut Session, written: &Written) -> Result<(), RowError> {
        let (now, about, event_draft) = (tx.now()?, written.interaction.id, &written.event_draft);
        self.append_audit(tx, session, Some(about), event_draft, now)?;
        let event = session.record(EventId::from_uuid(self.fresh(now)), event_draft, Some(about), now);
        Ok(tx.event_append(&self.scope, &event)?)
    }

    fn append_audit(
        &self,
        tx: &mut dyn Tx,
        session: &Session,
        interaction: Option<InteractionId>,
        event_draft: &EventDraft,
        now: Timestamp,
    ) -> Result<(), RowError> {
        if !self.audits {
            return Ok(());
        }
        let id = EntryId::from_uuid(self.fresh(now));
        let entry = Particulars::from(event_draft).into_entry(id, self.scope, now, &self.agent, &self.how);
        let entry = Entry { session: Some(session.id), event: Some(session.last_seq + 1), interaction, ..entry };
        Ok(tx.audit_append(&entry.written())?)
    }
}

/// Builds a question from the fields that an agent sends. Its deadline counts from the moment it is written.
pub(crate) fn question(fields: serde_json::Value) -> Fallible<Question> {
    let question: Question = serde_json::from_value(fields)?;
    question.admit().map_err(|problems| format!("the question of the benchmark is refused: {problems:?}").into())
}
