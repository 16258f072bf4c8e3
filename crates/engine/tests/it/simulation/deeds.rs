//! What became of each thing that somebody wanted.

use domain::{InteractionId, Refusal};
use holdpoint_engine::Error;

use crate::simulation::command::{Command, Reply, What};

/// What somebody knows of their command afterwards.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// It is done, and they were told so.
    Told(Reply),
    /// It is not done, and they were told why.
    Refused(Error),
    /// The process died: it is done, or it is not.
    Unknown,
    /// They waited, and nobody came.
    Asleep,
}

impl Outcome {
    /// From what the engine gave, if it came to anything.
    pub(crate) fn of(result: Option<Result<Reply, Error>>) -> Self {
        match result {
            None => Self::Asleep,
            Some(Ok(reply)) => Self::Told(reply),
            Some(Err(Error::Store(_))) => Self::Unknown,
            Some(Err(error)) => Self::Refused(error),
        }
    }

    /// The line that it has in the story.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Told(Reply::Question(question)) => format!("is told: {} {:?}", question.id, question.state),
            Self::Told(Reply::Session(session)) => format!("is told: {} {:?}", session.id, session.status()),
            Self::Told(Reply::Taken(taken)) => format!("has {} until {:?}", taken.lease, taken.interaction.delivery()),
            Self::Told(Reply::Questions(questions)) => format!("sees {} questions", questions.len()),
            Self::Told(Reply::Events(events)) => format!("reads {} events", events.len()),
            Self::Told(Reply::Stream(events, cursor)) => format!("reads {} events up to {cursor}", events.len()),
            Self::Told(Reply::Many(results)) => format!("is told: {results:?}"),
            Self::Told(Reply::Acted(acted)) => format!("is told: {:?} {:?}", acted.proposal.state, acted.permit),
            Self::Told(Reply::Grant(grant)) => format!("is told: {grant:?}"),
            Self::Told(Reply::Nothing) => "is done".into(),
            Self::Refused(Error::Refused(Refusal::AlreadyResolved(_))) => "is refused: already resolved".into(),
            Self::Refused(error) => format!("is refused: {error:?}"),
            Self::Unknown => "is never answered".into(),
            Self::Asleep => "waits in vain".into(),
        }
    }
}

/// One thing that was wanted, and what became of it. Many answers are many deeds.
#[derive(Debug, Clone)]
pub(crate) struct Deed {
    pub command: Command,
    pub what: What,
    pub outcome: Outcome,
    /// The idempotency key, where it has one.
    pub key: Option<String>,
}

impl Deed {
    /// The deeds of a command.
    pub(crate) fn each(command: Command, outcome: Outcome) -> Vec<Self> {
        let key = |part: usize| command.keyed.then(|| format!("{}-{part}", command.number));
        let What::AnswerMany { entries } = command.what.clone() else {
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
            Self { command: command.clone(), what: What::Answer { id, draft }, outcome, key: key(part) }
        };
        entries.into_iter().enumerate().map(deed).collect()
    }

    /// Whether it may have changed something.
    pub(crate) fn may_have_happened(&self) -> bool {
        matches!(self.outcome, Outcome::Told(_) | Outcome::Unknown)
    }

    /// Whose it is.
    pub(crate) fn by(&self) -> &str {
        &self.command.by.actor.name
    }

    /// The question that it is about.
    pub(crate) fn about(&self) -> Option<InteractionId> {
        match self.what {
            What::Answer { id, .. }
            | What::Auto { id, .. }
            | What::Cancel { id }
            | What::Expire { id }
            | What::Claim { id }
            | What::Release { id }
            | What::Take { id, .. }
            | What::Heartbeat { id, .. }
            | What::Complete { id, .. }
            | What::Fail { id, .. }
            | What::Look { id, .. } => Some(id),
            _ => None,
        }
    }
}
