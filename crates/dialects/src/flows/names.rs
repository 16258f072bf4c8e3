//! Names that this dialect has for kinds, statuses and events.

use domain::{AutoSource, Event, EventKind, Kind, Resolution, SessionStatus, Status, StepStatus};

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

/// Type of an event. The type of an event that this version does not know is derived from its name.
pub(super) fn event(event: &Event) -> String {
    let word = event.kind().and_then(|kind| event_names(&kind).0);
    word.map_or_else(|| renamed(&event.name), str::to_owned)
}

/// Name of the stream event for an event about a question; `None` for other events, which are streamed as `flow`.
pub(super) const fn stream_event(kind: &EventKind) -> Option<&'static str> {
    event_names(kind).1
}

/// Type of an event, and the name of its stream event. A type of `None` is derived from the name of the event.
const fn event_names(kind: &EventKind) -> (Option<&'static str>, Option<&'static str>) {
    const CHANGED: Option<&str> = Some("humanInteractionStatusChanged");
    match kind {
        EventKind::InteractionAsked(_) => (Some("HUMAN_INTERACTION_REQUIRED"), Some("humanInteractionRequired")),
        EventKind::InteractionAnswered(_) => (Some("HUMAN_INTERACTION_RESPONDED"), CHANGED),
        EventKind::InteractionAutoResolved(_) | EventKind::InteractionCancelled(_) => {
            (Some("HUMAN_INTERACTION_AUTO_RESOLVED"), CHANGED)
        }
        EventKind::InteractionExpired(_) | EventKind::InteractionOverdue(_) | EventKind::InteractionHandedOver(_) => {
            (None, CHANGED)
        }
        EventKind::SessionStarted(_)
        | EventKind::SessionPaused(_)
        | EventKind::SessionResumed(_)
        | EventKind::SessionCancelled(_)
        | EventKind::SessionCompleted(_)
        | EventKind::SessionFailed(_)
        | EventKind::SessionRevived(_)
        | EventKind::StepBegun(_)
        | EventKind::StepCompleted(_)
        | EventKind::StepFailed(_)
        | EventKind::StepRejected(_)
        | EventKind::StepSentBack(_)
        | EventKind::StepSkipped(_)
        | EventKind::StepCancelled(_)
        | EventKind::StepTroubled(_)
        | EventKind::MessageSent(_)
        | EventKind::ModelTurn(_)
        | EventKind::ModelSaid(_)
        | EventKind::ModelThought(_)
        | EventKind::ModelAgain(_)
        | EventKind::ModelFailed(_)
        | EventKind::SuggestionsDropped(_)
        | EventKind::InteractionVoted(_)
        | EventKind::InteractionWarned(_)
        | EventKind::InteractionClaimed(_)
        | EventKind::InteractionReleased(_)
        | EventKind::InteractionAbstained(_)
        | EventKind::InteractionDeserted(_)
        | EventKind::DeliveryTaken(_)
        | EventKind::DeliveryCompleted(_)
        | EventKind::DeliveryFailed(_)
        | EventKind::DeliveryOffered(_)
        | EventKind::DeliveryNotNeeded(_)
        | EventKind::ActionAllowed(_)
        | EventKind::ActionWaiting(_)
        | EventKind::ActionDenied(_)
        | EventKind::ActionRejected(_)
        | EventKind::ActionStarted(_)
        | EventKind::ActionOffered(_)
        | EventKind::ActionDone(_)
        | EventKind::ActionFailed(_)
        | EventKind::ActionUnknown(_)
        | EventKind::ActionUnusable(_)
        | EventKind::GrantGiven(_)
        | EventKind::SecretKept(_)
        | EventKind::SecretUsed(_) => (None, None),
    }
}

/// Returns the type of an event for which this dialect has no own word: `FLOW_PAUSED` for `session.paused`.
fn renamed(name: &str) -> String {
    let renamed = match name.split_once('.') {
        Some(("interaction", rest)) => format!("human_interaction_{rest}"),
        Some(("session", rest)) => format!("flow_{rest}"),
        Some((noun, rest)) => format!("{noun}_{rest}"),
        None => name.to_owned(),
    };
    renamed.to_ascii_uppercase()
}
