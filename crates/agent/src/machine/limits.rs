//! How far a step has gone, and whether that is too far.

use domain::agent::Limits;
use serde::{Deserialize, Serialize};

/// What a step has used of its limits since somebody last said something to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spent {
    /// Turns of the model.
    pub(super) iterations: u32,
    /// Turns of which at least one call had to be asked about.
    pub(super) rounds: u32,
    /// Rounds in a row in which people sent the model back to think.
    pub(super) retries: u32,
}

impl Spent {
    /// Counts what people said to a turn, once all of its calls are settled. Turns that nobody was asked about are between two rounds: they
    /// neither count nor break the row.
    pub(super) const fn round_over(&mut self, asked: bool, sent_back: bool) {
        if sent_back {
            self.retries = self.retries.saturating_add(1);
        } else if asked {
            self.retries = 0;
        }
    }

    /// Why the model may not be asked again, where it may not.
    pub(super) fn too_far(&self, limits: &Limits) -> Option<String> {
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

    /// Why people may not be asked about the turn that is under way, where they may not.
    pub(super) fn too_many_rounds(&self, limits: &Limits) -> Option<String> {
        (self.rounds > limits.rounds).then(|| rounds(limits))
    }

    /// Why another round may not begin, where it may not.
    pub(super) fn no_more_rounds(&self, limits: &Limits) -> Option<String> {
        (self.rounds >= limits.rounds).then(|| rounds(limits))
    }
}

fn rounds(limits: &Limits) -> String {
    format!("people would have been asked in more than {} rounds (limit `rounds`)", limits.rounds)
}
