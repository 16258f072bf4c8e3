//! The agent could not go on from the answer.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, LeaseId};

use crate::sessions::control::checked;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Ends a delivery badly and visibly, or has it offered again.
    pub async fn fail(
        &self,
        caller: &Caller,
        (id, lease): (InteractionId, LeaseId),
        reason: String,
        again: bool,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Take)?;
        checked("/reason", Some(&reason))?;
        let by = caller.clone();
        self.command(caller, once, move |work| {
            let (mut session, interaction) = work.delivery(&by, id)?;
            let was = interaction.status();
            let change = interaction.fail(lease, reason.clone(), again, work.now)?;
            let interaction = work.changed(&mut session, was, change)?;
            work.saved(&session)?;
            Ok(interaction)
        })
        .await
    }
}
