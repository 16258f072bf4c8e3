//! Closes a question without an answer.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId};

use crate::access;
use crate::interactions;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Closes a question without an answer. The actor that asked may withdraw it; any other caller needs the right to steer.
    pub async fn interaction_cancel(
        &self,
        caller: &Caller,
        id: InteractionId,
        reason: Option<String>,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        sessions::control::check_reason("/reason", reason.as_deref())?;
        self.command(caller, idempotency, move |work| {
            let caller = work.caller()?;
            let (mut session, interaction) = access::lock_question(work, &caller, id)?;
            // A hosted agent and the holder of a key with its name are different callers.
            let origin = &interaction.origin;
            if !caller.actor.is_same_person(&origin.asked_by) || origin.hosted != caller.is_worker() {
                caller.require(Right::Steer)?;
            }
            let was = interaction.status();
            let reason = reason.clone().unwrap_or_else(|| "withdrawn".into());
            let change = interaction.cancel(caller.actor, reason, work.now)?;
            let interaction = interactions::apply_change(work, &mut session, was, change)?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }
}
