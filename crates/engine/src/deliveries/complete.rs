//! Completes a delivery after the agent has stored its progress.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, LeaseId};

use crate::deliveries;
use crate::interactions;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Marks a delivery as completed. The values that were sealed for it are deleted, except those of a hosted session.
    pub async fn delivery_complete(
        &self,
        caller: &Caller,
        (id, lease): (InteractionId, LeaseId),
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Take)?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let (mut session, interaction) = deliveries::lock(work, &scope, id)?;
            let was = interaction.status();
            let change = interaction.complete(lease, work.now)?;
            let interaction = interactions::apply_change(work, &mut session, was, change)?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }
}
