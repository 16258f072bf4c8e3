//! Ends a question now as its deadline would.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId};

use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Applies the fallback, or expires the question. A fallback that approves or provides needs the right to answer.
    pub async fn expire(
        &self,
        caller: &Caller,
        id: InteractionId,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Steer)?;
        let (scope, actor) = (caller.scope, caller.actor.clone());
        self.command(caller, once, move |work| {
            let (mut session, interaction) = work.question(&scope, id)?;
            let was = interaction.status();
            let change = interaction.clone().expire(work.ids.answer(work.now), &actor, work.now)?;
            if let Some(effect) = interaction.question.fallback_effect() {
                interaction.may_end_with(&work.caller()?, effect)?;
            }
            let interaction = work.changed(&mut session, was, change)?;
            let session = work.terminated(session, &interaction)?;
            work.saved(&session)?;
            Ok(interaction)
        })
        .await
    }
}
