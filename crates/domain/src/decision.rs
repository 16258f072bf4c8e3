//! What a person decided about an action, as later rules are held against it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Actor, Effect, Interaction, InteractionId, Resolution, State, Verdict};

/// A person's word about one action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The question that was answered.
    pub interaction: InteractionId,
    /// Which way.
    pub effect: Effect,
    /// Who; with a quorum, who completed it.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
}

impl Decision {
    /// The decision that ended a question. None while it is open, and where it ended by itself or was withdrawn.
    #[must_use]
    pub fn of(interaction: &Interaction) -> Option<Self> {
        let State::Resolved { resolution: Resolution::Answered { answer, .. }, at, .. } = &interaction.state else {
            return None;
        };
        Some(Self { interaction: interaction.id, effect: answer.effect, by: answer.by.clone(), at: *at })
    }

    /// Whether a rule that says this would do the opposite of what was decided.
    #[must_use]
    pub const fn contradicted_by(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Allow => self.effect.holds_back(),
            Verdict::Ask => false,
            Verdict::Deny => matches!(self.effect, Effect::Approve),
        }
    }
}
