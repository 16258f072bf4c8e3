//! Decisions of people about actions, with which learnt rules are compared.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Actor, Effect, Interaction, InteractionId, Resolution, State, Verdict};

/// Decision of a person about one action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Question that was answered.
    pub interaction: InteractionId,
    /// Effect of the answer.
    pub effect: Effect,
    /// Person who decided; with a quorum, the person whose answer completed it.
    pub by: Actor,
    /// Time of the decision.
    pub at: Timestamp,
}

impl Decision {
    /// Decision that closed a question. `None` while the question is open, and if it was resolved automatically, expired or was cancelled.
    #[must_use]
    pub fn of(interaction: &Interaction) -> Option<Self> {
        let State::Resolved { resolution: Resolution::Answered { answer, .. }, at, .. } = &interaction.state else {
            return None;
        };
        Some(Self { interaction: interaction.id, effect: answer.effect, by: answer.by.clone(), at: *at })
    }

    /// Whether a rule with this verdict would do the opposite of the decision.
    #[must_use]
    pub const fn is_contradicted_by(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Allow => self.effect.holds_back(),
            Verdict::Ask => false,
            Verdict::Deny => matches!(self.effect, Effect::Approve),
        }
    }
}
