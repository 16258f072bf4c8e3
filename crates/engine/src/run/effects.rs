//! Performs the effects that a use case leaves for the time after its commit: rings, metrics and log lines.

use domain::{ProjectId, SignedDuration, Timestamp};
use store::Topic;

use crate::Engine;
use crate::run;
use crate::run::telemetry::QuestionReport;

/// Effects of one transaction. They are performed after the commit, and dropped if the transaction fails.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) topics: Vec<Topic>,
    pub(crate) wake_at: Option<Timestamp>,
    pub(crate) reports: Vec<QuestionReport>,
    /// Time for which an answer waited until its agent took it.
    pub(crate) taken_after: Option<SignedDuration>,
    /// Versions of project policies that are stored; they need not be stored again.
    pub(crate) policies_kept: Vec<(ProjectId, String)>,
}

impl Engine {
    /// Performs the effects of a committed transaction. Rings follow the commit, so that a woken reader finds the change.
    pub(crate) fn perform(&self, effects: Effects) {
        let Effects { mut topics, wake_at, reports, taken_after, policies_kept } = effects;
        self.policies.remember(policies_kept);
        topics.dedup();
        if wake_at.is_some_and(|at| run::timers::sleep_until(self, at)) {
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
