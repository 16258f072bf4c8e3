//! Reports questions in metrics and log lines after the commit.

use domain::{Interaction, Status, Timestamp};

/// Report that a question was asked or closed.
#[derive(Debug)]
pub(crate) struct QuestionReport {
    status: Status,
    kind: &'static str,
    interaction: String,
    channel: String,
    /// Time from asking to closing, by the times in the store: a restart in between does not shorten it.
    waited_seconds: Option<f64>,
}

impl QuestionReport {
    /// Creates the report of a new question.
    pub(crate) fn asked(interaction: &Interaction) -> Self {
        Self::of(interaction, None)
    }

    /// Creates the report of a closed question.
    pub(crate) fn closed(interaction: &Interaction) -> Self {
        Self::of(interaction, interaction.resolved_at())
    }

    fn of(interaction: &Interaction, closed: Option<Timestamp>) -> Self {
        Self {
            status: interaction.status(),
            kind: interaction.question.kind.name(),
            interaction: interaction.id.to_string(),
            channel: interaction.origin.channel.clone(),
            waited_seconds: closed.map(|at| at.duration_since(interaction.origin.at).as_secs_f64().max(0.0)),
        }
    }

    /// Writes the log line and updates the metrics.
    pub(crate) fn report(&self) {
        let name = match self.status {
            Status::Pending => "interactionCreated",
            Status::Answered => "interactionResponded",
            Status::AutoResolved => "interactionAutoResolved",
            Status::Expired => "interactionExpired",
            Status::Cancelled => "interactionCancelled",
        };
        let counter = match self.status {
            Status::Pending => "flow_interaction_created_total",
            Status::Answered => "flow_interaction_responded_total",
            Status::AutoResolved => "flow_interaction_auto_resolved_total",
            Status::Expired => "flow_interaction_expired_total",
            Status::Cancelled => "flow_interaction_cancelled_total",
        };
        metrics::counter!(counter, "kind" => self.kind).increment(1);
        if let Some(seconds) = self.waited_seconds {
            metrics::histogram!("flow_interaction_wait_duration_seconds", "kind" => self.kind, "status" => self.status.name())
                .record(seconds);
        }
        let span = tracing::Span::current();
        span.record("interactionId", self.interaction.as_str());
        span.record("chatSessionId", self.channel.as_str());
        span.record("interactionStatus", self.status.name());
        tracing::info!(
            interactionId = self.interaction,
            chatSessionId = self.channel,
            interactionStatus = self.status.name(),
            kind = self.kind,
            waited_seconds = self.waited_seconds,
            "{name}"
        );
    }
}
