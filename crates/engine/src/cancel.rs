//! Withdraws a question, or closes it without an answer.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId};

use crate::control::checked;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Closes a question without an answer. Whoever asked may withdraw it.
    pub async fn cancel(
        &self,
        caller: &Caller,
        id: InteractionId,
        reason: Option<String>,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        checked("/reason", reason.as_deref())?;
        let caller_then = caller.clone();
        self.command(caller, once, move |work| {
            let (mut session, interaction) = work.question_seen(&caller_then, id)?;
            // An agent that our workers run and a key of its name are not the same.
            let origin = &interaction.origin;
            if origin.asked_by.name != caller_then.actor.name || origin.driven != caller_then.is_worker() {
                caller_then.require(Right::Steer)?;
            }
            let was = interaction.status();
            let reason = reason.clone().unwrap_or_else(|| "withdrawn".into());
            let change = interaction.cancel(caller_then.actor.clone(), reason, work.now)?;
            let interaction = work.changed(&mut session, was, change)?;
            work.saved(&session)?;
            Ok(interaction)
        })
        .await
    }
}
