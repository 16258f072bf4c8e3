//! What a use case leaves to be done after its commit: rings, metrics, log lines.

use domain::{ProjectId, SignedDuration, Timestamp};
use store::Topic;

use crate::Engine;
use crate::run::telemetry::QuestionReport;

/// What is performed after the commit, and never if there is none.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) topics: Vec<Topic>,
    pub(crate) wake_at: Option<Timestamp>,
    pub(crate) reports: Vec<QuestionReport>,
    /// How long an answer had waited when its agent took it.
    pub(crate) taken_after: Option<SignedDuration>,
    /// Policies that are now known to be kept.
    pub(crate) policies_kept: Vec<(ProjectId, String)>,
}

impl Engine {
    /// Commit, then ring.
    pub(crate) fn perform(&self, effects: Effects) {
        let Effects { mut topics, wake_at, reports, taken_after, policies_kept } = effects;
        self.policies.remember(policies_kept);
        topics.dedup();
        if wake_at.is_some_and(|at| self.sooner(at)) {
            topics.push(Topic::Timers);
        }
        topics.iter().for_each(|topic| self.bell.ring(topic));
        if !topics.is_empty() {
            self.store.publish(&topics);
        }
        reports.iter().for_each(QuestionReport::report);
        if let Some(waited) = taken_after {
            metrics::histogram!("flow_delivery_latency_seconds").record(waited.as_secs_f64().max(0.0));
        }
    }
}
