//! A policy or a service answers in place of a person.

use domain::access::Right;
use domain::{AnswerDraft, AutoSource, Caller, Effect, Interaction, InteractionId};

use crate::answer::Prepared;
use crate::propose::MOST_RULINGS;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Answers in the name of a policy or of a service, on the record. What holds back may go past the audience; what approves or provides needs
    /// the right to answer.
    pub async fn auto(
        &self,
        caller: &Caller,
        id: InteractionId,
        source: AutoSource,
        mut draft: AnswerDraft,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Automate)?;
        let (question, proof) = self.prove_form(caller, id, &draft).await?;
        let secrets = Self::set_aside(question.as_ref(), &mut draft);
        let prepared = Prepared { draft, proof, secrets };
        let mut ruled = 0;
        loop {
            match self.auto_answered(caller, (id, source), prepared.clone(), once.clone()).await {
                // The policy changed between the ruling and the transaction.
                Err(error) if ruled < MOST_RULINGS && self.rules_again(&error).await => ruled += 1,
                other => return other,
            }
        }
    }

    async fn auto_answered(
        &self,
        caller: &Caller,
        (id, source): (InteractionId, AutoSource),
        Prepared { draft, proof, secrets }: Prepared,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        let by_now = self.by_now(caller, id, &draft).await?;
        let (vault, policies) = (std::sync::Arc::clone(&self.vault), std::sync::Arc::clone(&self.policies));
        let (scope, actor) = (caller.scope, caller.actor.clone());
        self.command(caller, once, move |work| {
            let (mut session, interaction) = work.question(&scope, id)?;
            let was = interaction.status();
            let signature = (work.ids.answer(work.now), actor.clone(), source);
            let effect = interaction.question.effect_of(&draft).unwrap_or(Effect::Approve);
            let change = interaction.clone().auto(signature, draft.clone(), proof, work.now)?;
            if let Some(by_now) = &by_now {
                if let Some(judged) = by_now.approved() {
                    work.still_in_force(&scope, judged, &policies)?;
                }
                by_now.allows()?;
                by_now.needs_no_person()?;
            }
            interaction.may_end_with(&work.caller()?, effect)?;
            let interaction = work.changed(&mut session, was, change)?;
            work.secrets_given(&vault, &mut session, &interaction, secrets.as_ref())?;
            let session = work.terminated(session, &interaction)?;
            work.saved(&session)?;
            Ok(interaction)
        })
        .await
    }
}
