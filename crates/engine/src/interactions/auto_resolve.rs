//! Records the answer of a policy or a service in place of a person's answer.

use domain::access::Right;
use domain::{AnswerDraft, AutoSource, Caller, Effect, Interaction, InteractionId};

use crate::interactions::close::PlannedAnswer;
use crate::interactions::plan::{AnswerPlan, AnswerSubject};
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
        let plan = interactions::plan::prepare(self, caller, id, draft, subject.as_ref()).await?;
        judge_and_save(self, caller, (plan, subject), source, idempotency).await
    }

    /// Answers a question that was read before in the name of a policy or a service, as [`Engine::interaction_auto`] does.
    pub async fn auto_resolve_subject(
        &self,
        caller: &Caller,
        subject: AnswerSubject,
        source: AutoSource,
        draft: AnswerDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Automate)?;
        let plan = interactions::plan::prepare(self, caller, subject.asked.id, draft, Some(&subject)).await?;
        judge_and_save(self, caller, (plan, Some(subject)), source, idempotency).await
    }
}

/// Adds the ruling to a plan and saves the answer. Reads and judges again if the policy changes before the transaction.
async fn judge_and_save(
    engine: &Engine,
    caller: &Caller,
    (prepared, subject): (AnswerPlan, Option<AnswerSubject>),
    source: AutoSource,
    idempotency: Option<Idempotency>,
) -> Result<Interaction, Error> {
    let mut first = Some(subject);
    let attempt = || {
        let (first, mut plan, idempotency) = (first.take(), prepared.clone(), idempotency.clone());
        async move {
            let subject = match first {
                Some(subject) => subject,
                None => interactions::plan::read(engine, caller.scope, plan.interaction, false).await?,
            };
            interactions::plan::add_ruling(engine, &mut plan, subject.as_ref()).await?;
            save(engine, caller, source, plan, idempotency).await
        }
    };
    policy::in_force::with_current_ruling(engine, attempt).await
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
