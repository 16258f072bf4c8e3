//! The four durable operations as the engine issues them, without what is around it: the same calls in the same order, on the
//! same objects of the domain.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::audit::{Entry, How, particulars};
use domain::interaction::Change;
use domain::{
    Actor, ActorKind, AnswerDraft, AnswerId, Caller, Credential, EntryId, EntryPoint, EventDraft, EventId, Interaction,
    InteractionId, KeyId, LeaseId, ProjectId, Question, Refusal, Role, Scope, Session, SessionHead, SessionId,
    SessionInput, SignedDuration, Status, Step, StepId, TenantId, Timestamp,
};
use serde_json::json;
use store::{Store, StoreError, Tx, UseCaseError, transact};
use uuid::Uuid;

use crate::Fallible;

/// How many questions of a session may be open.
const MOST_OPEN: u32 = 1000;

/// Why an operation was undone.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undone {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
}

impl UseCaseError for Undone {
    fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            Self::Refused(_) => None,
        }
    }
}

/// One project, the agent that asks in it and the person who answers.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) scope: Scope,
    agent: Actor,
    person: Caller,
    question: Question,
    number: AtomicU64,
    /// Whether what happens is put on the audit trail, as the engine does.
    audits: bool,
}

impl Desk {
    /// Makes the project that keys are made for by default, or finds it.
    pub(crate) async fn open(store: &dyn Store) -> Fallible<Self> {
        let fresh = Scope {
            tenant: TenantId::from_uuid(Uuid::from_u128(1 << 64)),
            project: ProjectId::from_uuid(Uuid::from_u128(2 << 64)),
        };
        let scope = transact::<_, StoreError, _>(store, move |tx| tx.scope_ensure("default", "default", fresh)).await?;
        let person = Caller {
            credential: Credential::Key(KeyId::from_uuid(Uuid::nil())),
            scope,
            role: Role::Operator,
            actor: Actor { kind: ActorKind::User, name: "bench-person".into() },
            groups: Vec::new(),
            from: None,
            entry_point: EntryPoint::Http,
        };
        let agent = Actor { kind: ActorKind::Agent, name: "bench-agent".into() };
        // What `http_loop.rs` asks as well.
        let question = question(json!({
            "kind": "approval", "title": "Deploy 1.4 to production?", "required": true, "fallback": "deny",
            "deadline": "2100-01-01T00:00:00Z",
            "action": { "tool": "deploy", "arguments": { "version": "1.4", "target": "production" } },
        }))?;
        Ok(Self { scope, agent, person, question, number: AtomicU64::new(1), audits: true })
    }

    /// The same without an audit trail: to see what that costs, and to fill a store with questions alone.
    pub(crate) fn without_trail(self) -> Self {
        Self { audits: false, ..self }
    }

    /// An id that sorts by time, and by number within a millisecond.
    fn fresh(&self, now: Timestamp) -> Uuid {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or_default();
        let number = self.number.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut bytes = [0; 10];
        bytes[4..].copy_from_slice(&number[2..]);
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
    }

    /// Opens a session.
    pub(crate) fn start(&self, tx: &mut dyn Tx) -> Result<Session, Undone> {
        let now = tx.now()?;
        let (id, step) = (SessionId::from_uuid(self.fresh(now)), StepId::from_uuid(self.fresh(now)));
        let brief = SessionHead {
            agent_version: None,
            channel: id.uuid().to_string(),
            agent: Some("deployer".into()),
            title: Some("Release 1.4".into()),
            ..SessionHead::default()
        };
        let step = Step::begin(step, id, brief.agent.clone(), now);
        let (mut session, happening) = Session::start(id, self.scope, brief, step.id, self.agent.clone(), now);
        self.audited(tx, &session, None, &happening, now)?;
        let event = session.record(EventId::from_uuid(self.fresh(now)), happening, None, now);
        tx.session_insert(&session, &SessionInput::default())?;
        tx.step_insert(&self.scope, &step)?;
        tx.event_append(&self.scope, &event)?;
        Ok(session)
    }

    /// Puts a question into a session that is locked, or new; the session is saved by the caller.
    pub(crate) fn put(
        &self,
        tx: &mut dyn Tx,
        session: &mut Session,
        question: &Question,
        seconds: Option<i64>,
    ) -> Result<InteractionId, Undone> {
        let now = tx.now()?;
        session.opened(question.kind.blocks(), MOST_OPEN)?;
        let id = InteractionId::from_uuid(self.fresh(now));
        let deadline = seconds.and_then(|seconds| now.saturating_add(SignedDuration::from_secs(seconds)).ok());
        let warn_at = deadline.and_then(|deadline| deadline.saturating_sub(SignedDuration::from_secs(60)).ok());
        let question = Question { deadline, warn_at, ..question.clone() };
        let (interaction, happening) = Interaction::ask(id, session, self.agent.clone(), question, now);
        tx.interaction_insert(&interaction)?;
        self.happened(tx, session, id, happening, now)?;
        Ok(id)
    }

    /// The agent asks.
    pub(crate) fn ask(&self, tx: &mut dyn Tx, session: SessionId) -> Result<InteractionId, Undone> {
        let mut session = tx.session_lock(&self.scope, session)?.ok_or(Refusal::NotFound("session"))?;
        let id = self.put(tx, &mut session, &self.question, Some(3600))?;
        tx.session_save(&session)?;
        Ok(id)
    }

    /// The person answers.
    pub(crate) fn answer(&self, tx: &mut dyn Tx, id: InteractionId) -> Result<(), Undone> {
        let now = tx.now()?;
        let (mut session, interaction) = self.question(tx, id)?;
        let reviewer = interaction.admit(&self.person)?;
        let draft = AnswerDraft { options: vec!["approve".into()], ..AnswerDraft::default() };
        let change = interaction.answer(&reviewer, AnswerId::from_uuid(self.fresh(now)), draft, None, now)?;
        self.changed(tx, &mut session, Status::Pending, change)?;
        Ok(tx.session_save(&session)?)
    }

    /// The agent takes the answer.
    pub(crate) fn take(&self, tx: &mut dyn Tx, id: InteractionId) -> Result<LeaseId, Undone> {
        let now = tx.now()?;
        let (mut session, interaction) = self.question(tx, id)?;
        session.going_on()?;
        let lease = LeaseId::from_uuid(self.fresh(now));
        let until = now.saturating_add(SignedDuration::from_secs(60)).unwrap_or(now);
        let change = interaction.take(&self.agent, lease, now, until)?;
        self.changed(tx, &mut session, Status::Answered, change)?;
        tx.session_save(&session)?;
        Ok(lease)
    }

    /// The agent has gone on.
    pub(crate) fn complete(&self, tx: &mut dyn Tx, id: InteractionId, lease: LeaseId) -> Result<(), Undone> {
        let now = tx.now()?;
        let (mut session, interaction) = self.question(tx, id)?;
        let change = interaction.complete(lease, now)?;
        self.changed(tx, &mut session, Status::Answered, change)?;
        tx.sealed_drop(&self.scope, id)?;
        Ok(tx.session_save(&session)?)
    }

    fn question(&self, tx: &mut dyn Tx, id: InteractionId) -> Result<(Session, Interaction), Undone> {
        let session = tx.session_of(&self.scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
        let session = tx.session_lock(&self.scope, session)?.ok_or(Refusal::NotFound("session"))?;
        let interaction = tx.interaction(&self.scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
        Ok((session, interaction))
    }

    fn changed(&self, tx: &mut dyn Tx, session: &mut Session, was: Status, change: Change) -> Result<(), Undone> {
        let (interaction, happening) = change;
        if was == Status::Pending && interaction.status() != Status::Pending {
            session.closed(interaction.question.kind.blocks());
        }
        tx.interaction_save(&interaction)?;
        let now = tx.now()?;
        self.happened(tx, session, interaction.id, happening, now)
    }

    fn happened(
        &self,
        tx: &mut dyn Tx,
        session: &mut Session,
        about: InteractionId,
        happening: EventDraft,
        now: Timestamp,
    ) -> Result<(), Undone> {
        self.audited(tx, session, Some(about), &happening, now)?;
        let event = session.record(EventId::from_uuid(self.fresh(now)), happening, Some(about), now);
        Ok(tx.event_append(&self.scope, &event)?)
    }

    fn audited(
        &self,
        tx: &mut dyn Tx,
        session: &Session,
        interaction: Option<InteractionId>,
        happening: &EventDraft,
        now: Timestamp,
    ) -> Result<(), Undone> {
        if !self.audits {
            return Ok(());
        }
        let (by, data) = particulars(happening, &self.agent);
        let entry = Entry {
            id: EntryId::from_uuid(self.fresh(now)),
            scope: self.scope,
            at: now,
            name: happening.name.to_owned(),
            by,
            how: How::of(&self.person),
            session: Some(session.id),
            event: Some(session.last_seq + 1),
            interaction,
            data,
        };
        Ok(tx.audit_append(&entry.written())?)
    }
}

/// A question as an agent would send it; when it is put, its deadline is counted from that moment.
pub(crate) fn question(fields: serde_json::Value) -> Fallible<Question> {
    let question: Question = serde_json::from_value(fields)?;
    question.admit().map_err(|problems| format!("the bench's own question is refused: {problems:?}").into())
}
