//! A person answers. The first answer wins, and whoever comes second is told who was first.

use domain::{AnswerDraft, Caller, FormProof, Interaction, InteractionId, Refusal, Verdict};

use crate::doubt::ByNow;
use crate::keep::SetAside;
use crate::propose::MOST_RULINGS;
use crate::settle::Alongside;
use crate::{Engine, Error, Idempotency};

/// An answer that was looked over before its transaction.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(crate) draft: AnswerDraft,
    pub(crate) proof: Option<FormProof>,
    pub(crate) secrets: Option<SetAside>,
}

impl Engine {
    /// Takes a person's answer.
    pub async fn answer(
        &self,
        caller: &Caller,
        id: InteractionId,
        mut draft: AnswerDraft,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(domain::access::Right::Answer)?;
        let (question, proof) = self.prove_form(caller, id, &draft).await?;
        let secrets = Self::set_aside(question.as_ref(), &mut draft);
        let prepared = Prepared { draft, proof, secrets };
        let mut ruled = 0;
        loop {
            let alongside = self.alongside(caller, id, &prepared.draft).await?;
            let judged = alongside.edit.is_some() || alongside.by_now.is_some();
            match self.answered(caller, id, prepared.clone(), alongside, once.clone()).await {
                // The policy changed between what was looked up in it and the transaction.
                Err(error) if judged && ruled < MOST_RULINGS && self.rules_again(&error).await => ruled += 1,
                other => return other,
            }
        }
    }

    async fn answered(
        &self,
        caller: &Caller,
        id: InteractionId,
        prepared: Prepared,
        alongside: Alongside,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        let Prepared { draft, proof, secrets } = prepared;
        let policies = std::sync::Arc::clone(&self.policies);
        let (scope, vault) = (caller.scope, std::sync::Arc::clone(&self.vault));
        self.command(caller, once, move |work| {
            let (mut session, interaction) = work.question(&scope, id)?;
            let reviewer = interaction.admit(&work.caller()?)?;
            if let Some((judged, _)) = &alongside.edit {
                work.still_in_force(&scope, judged, &policies)?;
            }
            if let Some(judged) = alongside.by_now.as_ref().and_then(ByNow::approved) {
                work.still_in_force(&scope, judged, &policies)?;
            }
            work.alongside = alongside.clone();
            let was = interaction.status();
            let change = interaction.answer(&reviewer, work.ids.answer(work.now), draft.clone(), proof, work.now)?;
            if let Some((judged, _)) =
                alongside.edit.as_ref().filter(|(judged, _)| judged.ruling.verdict == Verdict::Deny)
            {
                // Not even as a vote: nobody else should be brought to agree to it.
                return Err(Refusal::EditDenied(Box::new(judged.ruling.clone())).into());
            }
            if let Some(by_now) = &alongside.by_now {
                by_now.allows()?;
            }
            let interaction = work.changed(&mut session, was, change)?;
            work.doubted(&interaction, alongside.by_now.as_ref())?;
            work.secrets_given(&vault, &mut session, &interaction, secrets.as_ref())?;
            let session = work.terminated(session, &interaction)?;
            work.saved(&session)?;
            Ok(interaction)
        })
        .await
    }
}
