//! Releases a claim on a question.

use domain::{Caller, Interaction, InteractionId};

use crate::access;
use crate::interactions;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Releases the caller's claim on a question. An admin may release the claim of another person.
    pub async fn interaction_release(
        &self,
        caller: &Caller,
        id: InteractionId,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(domain::access::Right::Answer)?;
        self.command(caller, idempotency, move |work| {
            let caller = work.caller()?;
            let (mut session, interaction) = access::lock_question(work, &caller, id)?;
            let was = interaction.status();
            let change = interaction.release(&caller)?;
            let interaction = interactions::apply_change(work, &mut session, was, change)?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }
}
