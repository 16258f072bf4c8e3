//! Commands of the simulated callers, and the replies of the engine.

use std::time::Duration;

use domain::{
    AnswerDraft, AutoSource, Caller, Command as Control, Event, Grant, GrantId, Interaction, InteractionId, LeaseId,
    Outcome, Session, SessionId, Timestamp,
};
use holdpoint_engine::{
    ActionReply, AnswerEntry, Ask, Engine, Error, Idempotency, InteractionQuery, Propose, Start, TakenAnswer,
};
use store::{Cursor, InteractionFilter, Page};

/// Long enough that no wait ends by its timeout.
const LONG: Duration = Duration::from_hours(1);

/// A command of one caller. It can be sent again unchanged.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub number: usize,
    pub tenant: usize,
    pub by: Caller,
    pub what: CommandKind,
    pub keyed: bool,
    pub sent_at: Timestamp,
}

/// Use case of a command, with its parameters.
#[derive(Debug, Clone)]
pub(crate) enum CommandKind {
    Start { title: String },
    Ask { session: SessionId, ask: Box<Ask> },
    Answer { id: InteractionId, draft: AnswerDraft },
    AnswerMany { entries: Vec<(InteractionId, AnswerDraft)> },
    Auto { id: InteractionId, draft: AnswerDraft },
    Cancel { id: InteractionId },
    Expire { id: InteractionId },
    Claim { id: InteractionId },
    Release { id: InteractionId },
    Take { id: InteractionId, seconds: i64 },
    Heartbeat { id: InteractionId, lease: LeaseId },
    Complete { id: InteractionId, lease: LeaseId },
    Fail { id: InteractionId, lease: LeaseId, again: bool },
    Control { session: SessionId, command: Control },
    Look { id: InteractionId, sleeps: bool },
    Deliveries { sleeps: bool },
    Inbox,
    ReadSession { reader: usize, session: SessionId, after: u64, sleeps: bool },
    ReadProject { reader: usize, after: Cursor },
    FireDue,
    Tidy,
    Chain,
    Propose { session: SessionId, propose: Propose },
    StartAction { session: SessionId, call: String, permit: String, seconds: i64 },
    Report { session: SessionId, call: String, outcome: Outcome },
    Decided { session: SessionId, call: String, sleeps: bool },
    Revoke { id: GrantId },
    PutPolicy { number: usize },
    Switch { enabled: bool },
}

/// Reply of the engine to a command.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Session(Box<Session>),
    Question(Box<Interaction>),
    Taken(Box<TakenAnswer>),
    Many(Vec<(InteractionId, Result<Interaction, Error>)>),
    Questions(Vec<Interaction>),
    Events(Vec<Event>),
    Stream(Vec<(Cursor, Event)>, Cursor),
    Acted(Box<ActionReply>),
    Grant(Box<Grant>),
    Nothing,
}

impl Command {
    /// Whether the command may wait for another caller.
    pub(crate) fn sleeps(&self) -> bool {
        match self.what {
            CommandKind::Look { sleeps, .. }
            | CommandKind::Deliveries { sleeps }
            | CommandKind::ReadSession { sleeps, .. }
            | CommandKind::Decided { sleeps, .. } => sleeps,
            CommandKind::ReadProject { .. } => true,
            _ => false,
        }
    }

    /// Line of the command in the story.
    pub(crate) fn told(&self) -> String {
        let what = match &self.what {
            CommandKind::Ask { session, ask } => {
                format!("Ask {{ {session}, {:?}, {} }}", ask.question.title, words(ask))
            }
            what => format!("{what:?}"),
        };
        let key = if self.keyed { " (keyed)" } else { "" };
        format!(
            "#{} {}/{}: {what}{key}",
            self.number,
            crate::simulation::cast::TENANTS[self.tenant],
            self.by.actor.name
        )
    }

    fn idempotency(&self, part: usize) -> Option<Idempotency> {
        let operation = std::mem::discriminant(&self.what);
        let key = format!("key-{}-{part}", self.number);
        self.keyed.then(|| Idempotency::new(key, &format!("{operation:?}"), format!("{:?}", self.what).as_bytes()))
    }
}

fn words(ask: &Ask) -> String {
    let question = &ask.question;
    let (kind, audience, fallback) = (question.kind.name(), &question.audience, &question.fallback);
    format!("{kind}, {:?} s, {fallback:?}, {audience:?}", ask.deadline_seconds)
}

/// Runs a command on an engine.
#[expect(clippy::too_many_lines, reason = "one arm for each command")]
pub(crate) async fn perform(engine: Engine, command: Command) -> Result<Reply, Error> {
    let (by, idempotency) = (&command.by, command.idempotency(0));
    let question = |result: Result<Interaction, Error>| result.map(|question| Reply::Question(Box::new(question)));
    let none = Page { after: None, limit: 1000 };
    match command.what.clone() {
        CommandKind::Start { title } => {
            let start = Start { title: Some(title), agent: Some("robot".into()), ..Start::default() };
            engine.session_start(by, start, idempotency).await.map(|session| Reply::Session(Box::new(session)))
        }
        CommandKind::Ask { session, ask } => question(engine.interaction_ask(by, session, *ask, idempotency).await),
        CommandKind::Answer { id, draft } => question(engine.interaction_answer(by, id, draft, idempotency).await),
        CommandKind::AnswerMany { entries } => {
            let entry = |(part, (id, draft)): (usize, (InteractionId, AnswerDraft))| AnswerEntry {
                interaction: id,
                draft,
                idempotency: command.idempotency(part),
            };
            let mut results = Vec::new();
            let entries = entries.into_iter().enumerate().map(entry).collect();
            engine.interaction_answer_many(by, entries, |result| results.push(result)).await;
            Ok(Reply::Many(results.into_iter().map(|entry| (entry.interaction, entry.result)).collect()))
        }
        CommandKind::Auto { id, draft } => {
            question(engine.interaction_auto(by, id, AutoSource::AutoPolicy, draft, idempotency).await)
        }
        CommandKind::Cancel { id } => {
            question(engine.interaction_cancel(by, id, Some("no longer needed".into()), idempotency).await)
        }
        CommandKind::Expire { id } => question(engine.interaction_expire(by, id, idempotency).await),
        CommandKind::Claim { id } => question(engine.interaction_claim(by, id, idempotency).await),
        CommandKind::Release { id } => question(engine.interaction_release(by, id, idempotency).await),
        CommandKind::Take { id, seconds } => {
            engine.delivery_take(by, id, Some(seconds), idempotency).await.map(|taken| Reply::Taken(Box::new(taken)))
        }
        CommandKind::Heartbeat { id, lease } => {
            question(engine.delivery_heartbeat(by, (id, lease), Some(120), idempotency).await)
        }
        CommandKind::Complete { id, lease } => question(engine.delivery_complete(by, (id, lease), idempotency).await),
        CommandKind::Fail { id, lease, again } => {
            question(engine.delivery_fail(by, (id, lease), "could not go on".into(), again, idempotency).await)
        }
        CommandKind::Control { session, command } => {
            let steered = engine.session_control(by, session, command, Some("because".into()), idempotency).await;
            steered.map(|session| Reply::Session(Box::new(session)))
        }
        CommandKind::Look { id, sleeps } => question(engine.interaction_get(by, id, patience(sleeps)).await),
        CommandKind::Deliveries { sleeps } => engine
            .delivery_list(by, store::Page::first(100), patience(sleeps))
            .await
            .map(|found| Reply::Questions(found.into_vec())),
        CommandKind::Inbox => {
            let filter = InteractionFilter { status: Some(domain::Status::Pending), ..InteractionFilter::default() };
            let query = InteractionQuery { filter, mine: true, overdue: false };
            engine.interaction_list(by, query, none).await.map(|(found, _)| Reply::Questions(found))
        }
        CommandKind::ReadSession { session, after, sleeps, .. } => {
            engine.event_list(by, session, after, 5, patience(sleeps)).await.map(Reply::Events)
        }
        CommandKind::ReadProject { after, .. } => {
            let mut follower = engine.project_follow(by, Some(after)).await?;
            let events = follower.next().await?;
            Ok(Reply::Stream(events, follower.cursor()))
        }
        CommandKind::FireDue => engine.fire_due().await.map(|_| Reply::Nothing),
        CommandKind::Tidy => engine.run_housekeeping_once().await.map(|()| Reply::Nothing),
        CommandKind::Chain => {
            engine.chain_audit().await?;
            engine.sign_due().await.map(|()| Reply::Nothing)
        }
        CommandKind::Propose { session, propose } => {
            acted(engine.action_propose(by, session, propose, idempotency).await)
        }
        CommandKind::StartAction { session, call, permit, seconds } => {
            acted(engine.action_start(by, (session, call), permit, Some(seconds), idempotency).await)
        }
        CommandKind::Report { session, call, outcome } => {
            acted(engine.action_outcome(by, (session, call), outcome, None, idempotency).await)
        }
        CommandKind::Decided { session, call, sleeps } => {
            acted(engine.action_get(by, session, call, patience(sleeps)).await)
        }
        CommandKind::Revoke { id } => {
            engine.grant_revoke(by, id, idempotency).await.map(|grant| Reply::Grant(Box::new(grant)))
        }
        CommandKind::PutPolicy { number } => {
            let text = crate::simulation::calls::policy(number);
            engine.policy_put(by, text, (None, Some("because".into())), idempotency).await.map(|_| Reply::Nothing)
        }
        CommandKind::Switch { enabled } => {
            engine.policy_switch(by, enabled, "because".into(), idempotency).await.map(|_| Reply::Nothing)
        }
    }
}

fn acted(result: Result<ActionReply, Error>) -> Result<Reply, Error> {
    result.map(|acted| Reply::Acted(Box::new(acted)))
}

const fn patience(sleeps: bool) -> Duration {
    if sleeps { LONG } else { Duration::ZERO }
}
