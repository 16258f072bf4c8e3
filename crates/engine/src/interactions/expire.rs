//! Ends a question before its deadline, as the deadline would end it.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId};

use crate::interactions;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Applies the fallback of a question, or expires it if it has none. A fallback that approves or provides needs the right to answer.
    pub async fn interaction_expire(
        &self,
        caller: &Caller,
        id: InteractionId,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Steer)?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let (mut session, interaction) = interactions::lock(work, &scope, id)?;
            let was = interaction.status();
            let change = interaction.clone().expire(work.ids.answer(work.now), work.by(), work.now)?;
            if let Some(effect) = interaction.question.fallback_effect() {
                interaction.require_may_end_with(&work.caller()?, effect)?;
            }
            let interaction = interactions::apply_change(work, &mut session, was, change)?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }
}
