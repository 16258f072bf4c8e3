//! Rules for ending a question without the answers of its audience: before its deadline, or in the name of a policy.

use super::Interaction;
use crate::{Caller, Effect, Kind, Refusal};

impl Interaction {
    /// Refuses a caller who could not cause this effect with an answer of their own. To approve or provide requires the right to answer and
    /// an audience for which one answer is enough. To reject, retry or terminate does not.
    pub fn require_may_end_with(&self, caller: &Caller, effect: Effect) -> Result<(), Refusal> {
        if effect.holds_back() {
            return Ok(());
        }
        self.admit(caller)?;
        let alone = self.question.audience.is_reached_by(&[caller.groups.as_slice()]);
        if alone { Ok(()) } else { Err(Refusal::NeedsOthers(self.id)) }
    }

    /// Whether this is a secret question that was answered with values. Values are delivered only in this case.
    #[must_use]
    pub fn has_ended_with_secrets(&self) -> bool {
        let given = self.final_answer().is_some_and(|answer| answer.effect.carries_form());
        self.question.kind == Kind::Secret && given
    }
}
