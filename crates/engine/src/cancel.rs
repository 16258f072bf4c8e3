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
        self.command(caller, once, move |work| {
            let caller = work.caller()?;
            let (mut session, interaction) = work.question_seen(&caller, id)?;
            // An agent that our workers run and a key of its name are not the same.
            let origin = &interaction.origin;
            if !caller.actor.is_same_person(&origin.asked_by) || origin.hosted != caller.is_worker() {
                caller.require(Right::Steer)?;
            }
            let was = interaction.status();
            let reason = reason.clone().unwrap_or_else(|| "withdrawn".into());
            let change = interaction.cancel(caller.actor, reason, work.now)?;
            let interaction = work.changed(&mut session, was, change)?;
            work.saved(&session)?;
            Ok(interaction)
        })
        .await
    }
}
