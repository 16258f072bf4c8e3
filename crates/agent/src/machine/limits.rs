//! Counters of a step and their comparison with the limits of its agent.

use domain::agent::Limits;
use serde::{Deserialize, Serialize};

/// Use of the limits since a person last wrote to the step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LimitUse {
    /// Turns of the model.
    pub(super) iterations: u32,
    /// Turns in which people were asked about at least one call.
    pub(super) rounds: u32,
    /// Consecutive rounds in which people sent the model back.
    pub(super) retries: u32,
}

impl LimitUse {
    /// Counts a turn whose calls are all settled. A turn that nobody was asked about is not a round: it neither adds to
    /// `retries` nor resets it.
    pub(super) const fn count_settled_turn(&mut self, asked: bool, sent_back: bool) {
        if sent_back {
            self.retries = self.retries.saturating_add(1);
        } else if asked {
            self.retries = 0;
        }
    }

    /// Reason why the model may not be asked again; `None` if it may.
    pub(super) fn exceeded(&self, limits: &Limits) -> Option<String> {
        self.too_many_rounds(limits).or_else(|| {
            if self.retries > limits.retries {
                Some(format!(
                    "people sent the model back more than {} times in a row (limit `retries`)",
                    limits.retries
                ))
            } else if self.iterations >= limits.iterations {
                Some(format!("the model was not done after {} turns (limit `iterations`)", limits.iterations))
            } else {
                None
            }
        })
    }

    /// Reason why people may not be asked about the current turn; `None` if they may.
    pub(super) fn too_many_rounds(&self, limits: &Limits) -> Option<String> {
        (self.rounds > limits.rounds).then(|| rounds(limits))
    }

    /// Reason why another round may not begin; `None` if it may.
    pub(super) fn rounds_used_up(&self, limits: &Limits) -> Option<String> {
        (self.rounds >= limits.rounds).then(|| rounds(limits))
    }
}

fn rounds(limits: &Limits) -> String {
    format!("people would be asked in more than {} rounds, the limit `rounds`", limits.rounds)
}
