//! Records a person's answer, or many. The first answer to a question wins; a second person is refused and told who answered first.

use domain::{AnswerDraft, Caller, Interaction, InteractionId, Refusal, Verdict};

use serde_json::Value;

use crate::interactions::plan::AnswerPlan;
use crate::policy::in_force::MOST_RULINGS;
use crate::{Engine, Error, Idempotency, interactions, policy, sessions};

/// Answer in a request with many answers.
#[derive(Debug, Clone)]
pub struct AnswerEntry {
    /// Identifier of the question.
    pub interaction: InteractionId,
    /// Answer to the question.
    pub draft: AnswerDraft,
    /// Idempotency key of this answer, so that a repeated request does not repeat the answer.
    pub idempotency: Option<Idempotency>,
}

/// Result of one answer in a request with many answers.
#[derive(Debug)]
pub struct AnswerResult {
    /// Identifier of the question.
    pub interaction: InteractionId,
    /// Question after the answer, or the reason why the answer failed.
    pub result: Result<Interaction, Error>,
}

impl Engine {
    /// Records a person's answer. The answer is planned again if the policy changes before its transaction.
    pub async fn interaction_answer(
        &self,
        caller: &Caller,
        id: InteractionId,
        draft: AnswerDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(domain::access::Right::Answer)?;
        // The schema is needed for edited arguments, and for data that could be meant as arguments.
        let with_schema = [&draft.data].into_iter().chain(&draft.arguments).any(Value::is_object);
        let mut subject = interactions::plan::read(self, caller.scope, id, with_schema).await?;
        let draft = interactions::plan::prepare(self, caller, id, draft, subject.as_ref()).await?;
        let mut ruled = 0;
        loop {
            let mut plan = draft.clone();
            interactions::plan::add_rulings(self, caller, &mut plan, subject.as_ref()).await?;
            let judged = plan.edit.is_some() || plan.current.is_some();
            match save(self, caller, plan, idempotency.clone()).await {
                // The policy changed between the ruling and the transaction.
                Err(error)
                    if judged && ruled < MOST_RULINGS && policy::in_force::may_judge_again(self, &error).await =>
                {
                    ruled += 1;
                }
                other => return other,
            }
            subject = interactions::plan::read(self, caller.scope, id, with_schema).await?;
        }
    }

    /// Binds an idempotency key to the whole request, so that it cannot be used with another list of answers.
    pub async fn bind_answers(&self, caller: &Caller, call: Idempotency) -> Result<(), Error> {
        self.command(caller, Some(call), |_| Ok(())).await
    }

    /// Records many answers in the given order. `take` receives each result at once, because the questions in them may be too large to collect.
    pub async fn interaction_answer_many(
        &self,
        caller: &Caller,
        entries: Vec<AnswerEntry>,
        mut take: impl FnMut(AnswerResult),
    ) {
        for AnswerEntry { interaction, draft, idempotency } in entries {
            let result = self.interaction_answer(caller, interaction, draft, idempotency).await;
            take(AnswerResult { interaction, result });
        }
    }
}

async fn save(
    engine: &Engine,
    caller: &Caller,
    plan: AnswerPlan,
    idempotency: Option<Idempotency>,
) -> Result<Interaction, Error> {
    let (policies, vault) = (std::sync::Arc::clone(&engine.policies), std::sync::Arc::clone(&engine.vault));
    let scope = caller.scope;
    engine
        .command(caller, idempotency, move |work| {
            let (mut session, interaction) = interactions::lock(work, &scope, plan.interaction)?;
            let reviewer = interaction.admit(&work.caller()?)?;
            for judged in plan.rulings() {
                policy::require_in_force(work, &scope, judged, &policies)?;
            }
            let was = interaction.status();
            let (answer, draft) = (work.ids.answer(work.now), plan.draft.clone());
            let change = interaction.answer(&reviewer, answer, draft, plan.proof, work.now)?;
            if let Some((judged, _)) = plan.edit.as_ref().filter(|(judged, _)| judged.ruling.verdict == Verdict::Deny) {
                // A denied edit is not stored as a vote either, so that no other person can agree to it.
                return Err(Refusal::EditDenied(Box::new(judged.ruling.clone())).into());
            }
            if let Some(current) = &plan.current {
                current.require_not_denied()?;
            }
            let interaction = interactions::apply_answer(work, &mut session, was, change, Some((&plan, &vault)))?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
}
