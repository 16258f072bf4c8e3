//! Names that this dialect has for kinds, statuses and events.

use domain::{AutoSource, Kind, Resolution, SessionStatus, Status, StepStatus};

/// Type of a question; the nearest one for kinds that this dialect does not have.
pub(super) const fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Approval => "APPROVAL",
        Kind::Confirmation => "CONFIRMATION",
        Kind::Review => "REVIEW",
        Kind::Notice => "INFORMATION",
        Kind::Form | Kind::Choice | Kind::Question | Kind::Secret | Kind::Custom(_) => "INPUT_FORM",
    }
}

/// Status of a question. A cancelled question counts as resolved automatically.
pub(super) const fn status(status: Status) -> &'static str {
    match status {
        Status::Pending => "PENDING",
        Status::Answered => "ANSWERED",
        Status::Expired => "EXPIRED",
        Status::AutoResolved | Status::Cancelled => "AUTO_RESOLVED",
    }
}

/// Source of the response to a question.
pub(super) const fn source(resolution: &Resolution) -> &'static str {
    match resolution {
        Resolution::Answered { .. } => "USER",
        Resolution::AutoResolved { source: AutoSource::AutoPolicy, .. } => "AUTO_POLICY",
        Resolution::AutoResolved { source: AutoSource::System, .. }
        | Resolution::Expired
        | Resolution::Cancelled { .. } => "SYSTEM",
    }
}

/// Status of a session.
pub(super) const fn session(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::New => "NEW",
        SessionStatus::Running => "RUNNING",
        SessionStatus::WaitingUserInput => "WAITING_USER_INPUT",
        SessionStatus::Paused => "PAUSED",
        SessionStatus::Completed => "COMPLETED",
        SessionStatus::Failed => "FAILED",
        SessionStatus::Cancelled => "CANCELLED",
    }
}

/// Status of a step.
pub(super) const fn step(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "PENDING",
        StepStatus::Running => "RUNNING",
        StepStatus::BlockedWaitingUser => "BLOCKED_WAITING_USER",
        StepStatus::Completed => "COMPLETED",
        StepStatus::Failed => "FAILED",
        StepStatus::Skipped => "SKIPPED",
        StepStatus::Cancelled => "CANCELLED",
    }
}

/// Type of an event.
pub(super) fn event(name: &str) -> String {
    match name {
        "interaction.asked" => "HUMAN_INTERACTION_REQUIRED".into(),
        "interaction.answered" => "HUMAN_INTERACTION_RESPONDED".into(),
        "interaction.expired" => "HUMAN_INTERACTION_EXPIRED".into(),
        "interaction.auto_resolved" | "interaction.cancelled" => "HUMAN_INTERACTION_AUTO_RESOLVED".into(),
        name => {
            let renamed = match name.split_once('.') {
                Some(("interaction", rest)) => format!("human_interaction_{rest}"),
                Some(("session", rest)) => format!("flow_{rest}"),
                Some((noun, rest)) => format!("{noun}_{rest}"),
                None => name.to_owned(),
            };
            renamed.to_ascii_uppercase()
        }
    }
}

/// Name of the stream event for an event about a question; `None` for other events, which are streamed as `flow`.
pub(super) fn stream_event(name: &str) -> Option<&'static str> {
    match name {
        "interaction.asked" => Some("humanInteractionRequired"),
        "interaction.answered"
        | "interaction.expired"
        | "interaction.auto_resolved"
        | "interaction.cancelled"
        | "interaction.overdue"
        | "interaction.handed_over" => Some("humanInteractionStatusChanged"),
        _ => None,
    }
}
