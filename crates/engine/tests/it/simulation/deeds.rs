//! Commands with their outcomes.

use domain::{InteractionId, Refusal};
use holdpoint_engine::Error;

use crate::simulation::command::{Command, CommandKind, Reply};

/// Outcome of a command, as far as its caller knows it.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// The command is done, and the caller got the reply.
    Told(Reply),
    /// The command is not done, and the caller got the reason.
    Refused(Error),
    /// The process crashed: the command may or may not be done.
    Unknown,
    /// The command still waits.
    Asleep,
}

impl Outcome {
    /// Derives the outcome from the engine's result. `None` means that the command still waits.
    pub(crate) fn of(result: Option<Result<Reply, Error>>) -> Self {
        match result {
            None => Self::Asleep,
            Some(Ok(reply)) => Self::Told(reply),
            Some(Err(Error::Store(_))) => Self::Unknown,
            Some(Err(error)) => Self::Refused(error),
        }
    }

    /// Line of the outcome in the story.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Told(Reply::Question(question)) => format!("is told: {} {:?}", question.id, question.state),
            Self::Told(Reply::Session(session)) => format!("is told: {} {:?}", session.id, session.status()),
            Self::Told(Reply::Taken(taken)) => format!("has {} until {:?}", taken.lease, taken.interaction.delivery()),
            Self::Told(Reply::Questions(questions)) => format!("sees {} questions", questions.len()),
            Self::Told(Reply::Events(events)) => format!("reads {} events", events.len()),
            Self::Told(Reply::Stream(events, cursor)) => format!("reads {} events up to {cursor}", events.len()),
            Self::Told(Reply::Many(results)) => format!("is told: {results:?}"),
            Self::Told(Reply::Acted(acted)) => format!("is told: {:?} {:?}", acted.action.state, acted.permit),
            Self::Told(Reply::Grant(grant)) => format!("is told: {grant:?}"),
            Self::Told(Reply::Nothing) => "is done".into(),
            Self::Refused(Error::Refused(Refusal::AlreadyResolved(_))) => "is refused: already resolved".into(),
            Self::Refused(error) => format!("is refused: {error:?}"),
            Self::Unknown => "is never answered".into(),
            Self::Asleep => "waits in vain".into(),
        }
    }
}

/// One use case and its outcome. A batch of answers makes one deed for each answer.
#[derive(Debug, Clone)]
pub(crate) struct PerformedCommand {
    pub command: Command,
    pub what: CommandKind,
    pub outcome: Outcome,
    /// Idempotency key, where the command has one.
    pub key: Option<String>,
}

impl PerformedCommand {
    /// Deeds of a command.
    pub(crate) fn each(command: Command, outcome: Outcome) -> Vec<Self> {
        let key = |part: usize| command.keyed.then(|| format!("{}-{part}", command.number));
        let CommandKind::AnswerMany { entries } = command.what.clone() else {
            let (what, key) = (command.what.clone(), key(0));
            return vec![Self { command, what, outcome, key }];
        };
        let deed = |(part, (id, draft)): (usize, (InteractionId, domain::AnswerDraft))| {
            let outcome = match &outcome {
                Outcome::Told(Reply::Many(results)) => {
                    let result = results[part].1.clone();
                    Outcome::of(Some(result.map(|question| Reply::Question(Box::new(question)))))
                }
                other => other.clone(),
            };
            Self { command: command.clone(), what: CommandKind::Answer { id, draft }, outcome, key: key(part) }
        };
        entries.into_iter().enumerate().map(deed).collect()
    }

    /// Whether the deed may have changed anything.
    pub(crate) fn may_have_happened(&self) -> bool {
        matches!(self.outcome, Outcome::Told(_) | Outcome::Unknown)
    }

    /// Name of the caller.
    pub(crate) fn by(&self) -> &str {
        &self.command.by.actor.name
    }

    /// Question that the deed is about.
    pub(crate) fn about(&self) -> Option<InteractionId> {
        match self.what {
            CommandKind::Answer { id, .. }
            | CommandKind::Auto { id, .. }
            | CommandKind::Cancel { id }
            | CommandKind::Expire { id }
            | CommandKind::Claim { id }
            | CommandKind::Release { id }
            | CommandKind::Take { id, .. }
            | CommandKind::Heartbeat { id, .. }
            | CommandKind::Complete { id, .. }
            | CommandKind::Fail { id, .. }
            | CommandKind::Look { id, .. } => Some(id),
            _ => None,
        }
    }
}
