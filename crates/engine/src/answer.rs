//! A person answers. The first answer wins, and whoever comes second is told who was first.

use domain::{Caller, Draft, Interaction, InteractionId};

use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Takes a person's answer.
    pub async fn answer(
        &self,
        caller: &Caller,
        id: InteractionId,
        mut draft: Draft,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(domain::access::Right::Answer)?;
        let (question, proof) = self.prove_form(caller, id, &draft).await?;
        let secrets = Self::set_aside(question.as_ref(), &mut draft);
        let alongside = self.alongside(caller, id, &draft).await?;
        let engine = self.clone();
        let caller_then = caller.clone();
        let vault = std::sync::Arc::clone(&self.vault);
        self.command(caller, once, move |work| {
            let scope = caller_then.scope;
            let (mut session, interaction) = work.question(&scope, id)?;
            let reviewer = interaction.admit(&caller_then)?;
            if let Some((judged, _)) = &alongside.edit {
                work.still_in_force(&scope, judged, &engine)?;
            }
            work.alongside = alongside.clone();
            let was = interaction.status();
            let change = interaction.answer(&reviewer, work.ids.answer(work.now), draft.clone(), proof, work.now)?;
            let interaction = work.changed(&mut session, was, change)?;
            work.secrets_given(&vault, &mut session, &interaction, secrets.as_ref())?;
            let session = work.terminated(session, &interaction)?;
            work.saved(&session)?;
            Ok(interaction)
        })
        .await
    }
}
