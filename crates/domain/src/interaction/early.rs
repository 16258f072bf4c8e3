//! Ending a question other than by the answers of its audience: before its time, or in the name of a policy.

use super::{Interaction, State};
use crate::{Caller, Effect, Kind, Refusal};

impl Interaction {
    /// Refuses whoever could not bring about this effect by an answer of their own: to approve or provide needs the right to answer, and as
    /// many people as the audience says. To hold back does not.
    pub fn may_end_with(&self, caller: &Caller, effect: Effect) -> Result<(), Refusal> {
        if effect.holds_back() {
            return Ok(());
        }
        self.admit(caller)?;
        let alone = self.question.audience.enough(&[caller.groups.as_slice()]);
        if alone { Ok(()) } else { Err(Refusal::NeedsOthers(self.id)) }
    }

    /// Whether it is a secret question that ended with the values that somebody gave. Only then are values handed out.
    #[must_use]
    pub fn ended_with_secrets(&self) -> bool {
        let State::Resolved { resolution, .. } = &self.state else { return false };
        let given = resolution.answer().is_some_and(|answer| answer.effect.carries_form());
        self.question.kind == Kind::Secret && given
    }
}
