//! Reserves a question for one person for a limited time.

use domain::{Caller, Interaction, InteractionId};

use crate::access;
use crate::interactions;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Claims a question for the caller. A second claim by the caller extends the first.
    pub async fn interaction_claim(
        &self,
        caller: &Caller,
        id: InteractionId,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        let length = self.settings().claim;
        self.command(caller, idempotency, move |work| {
            let caller = work.caller()?;
            let (mut session, interaction) = access::lock_question(work, &caller, id)?;
            let reviewer = interaction.admit(&caller)?;
            let was = interaction.status();
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let change = interaction.claim(&reviewer, work.now, until)?;
            let interaction = interactions::apply_change(work, &mut session, was, change)?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }
}
