//! Extends the lease of an agent that still works on an answer.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, LeaseId};

use crate::deliveries;
use crate::interactions;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Extends the lease by `seconds` from now, or by the configured length.
    pub async fn delivery_heartbeat(
        &self,
        caller: &Caller,
        (id, lease): (InteractionId, LeaseId),
        seconds: Option<i64>,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Take)?;
        let length = deliveries::take::lease_length(self, seconds)?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let (_, interaction) = deliveries::lock(work, &scope, id)?;
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let interaction = interaction.heartbeat(lease, work.now, until)?;
            interactions::save_lease(work, &interaction)?;
            Ok(interaction)
        })
        .await
    }
}
