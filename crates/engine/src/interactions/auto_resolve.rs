//! Records the answer of a policy or a service in place of a person's answer.

use domain::access::Right;
use domain::{AnswerDraft, AutoSource, Caller, Effect, Interaction, InteractionId};

use crate::interactions::close::PlannedAnswer;
use crate::interactions::plan::AnswerPlan;
use crate::{Engine, Error, Idempotency, interactions, policy, sessions};

impl Engine {
    /// Answers a question in the name of a policy or a service. An answer that holds the agent back may come from outside the audience; an answer
    /// that approves or provides needs the right to answer.
    pub async fn interaction_auto(
        &self,
        caller: &Caller,
        id: InteractionId,
        source: AutoSource,
        draft: AnswerDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Automate)?;
        let subject = interactions::plan::read(self, caller.scope, id, false).await?;
        let prepared = interactions::plan::prepare(self, caller, id, draft, subject.as_ref()).await?;
        let mut first = Some(subject);
        let attempt = || {
            let (first, mut plan, idempotency) = (first.take(), prepared.clone(), idempotency.clone());
            async move {
                let subject = match first {
                    Some(subject) => subject,
                    None => interactions::plan::read(self, caller.scope, id, false).await?,
                };
                interactions::plan::add_ruling(self, &mut plan, subject.as_ref()).await?;
                save(self, caller, source, plan, idempotency).await
            }
        };
        policy::in_force::with_current_ruling(self, attempt).await
    }
}

async fn save(
    engine: &Engine,
    caller: &Caller,
    source: AutoSource,
    plan: AnswerPlan,
    idempotency: Option<Idempotency>,
) -> Result<Interaction, Error> {
    let (vault, policies) = (std::sync::Arc::clone(&engine.vault), std::sync::Arc::clone(&engine.policies));
    let scope = caller.scope;
    engine
        .command(caller, idempotency, move |work| {
            let (mut session, interaction) = interactions::lock(work, &scope, plan.interaction)?;
            let was = interaction.status();
            let signature = (work.ids.answer(work.now), work.by().clone(), source);
            let effect = interaction.question.effect_of(&plan.draft).unwrap_or(Effect::Approve);
            let change = interaction.clone().auto_resolve(signature, plan.draft.clone(), plan.proof, work.now)?;
            for judged in plan.rulings() {
                policy::require_in_force(work, &scope, judged, &policies)?;
            }
            if let Some(current) = &plan.current {
                current.require_not_denied()?;
                current.require_no_floor_question()?;
            }
            interaction.require_may_end_with(&work.caller()?, effect)?;
            // Without `current`, the answer suspends no learnt rule: only the decision of a person may contradict one.
            let plan = AnswerPlan { current: None, ..plan.clone() };
            let interaction = interactions::apply_answer(
                work,
                &mut session,
                was,
                change,
                Some(PlannedAnswer { plan: &plan, vault: &vault }),
            )?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
}
