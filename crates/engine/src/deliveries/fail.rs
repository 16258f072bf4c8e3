//! Fails a delivery that the agent could not process.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, LeaseId};

use crate::deliveries;
use crate::interactions;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Marks a delivery as failed, with a reason. If `again` is set, the answer is offered again instead.
    pub async fn delivery_fail(
        &self,
        caller: &Caller,
        (id, lease): (InteractionId, LeaseId),
        reason: String,
        again: bool,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Take)?;
        sessions::control::check_reason("/reason", Some(&reason))?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let (mut session, interaction) = deliveries::lock(work, &scope, id)?;
            let was = interaction.status();
            let change = interaction.fail(lease, reason.clone(), again, work.now)?;
            let interaction = interactions::apply_change(work, &mut session, was, change)?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }
}
