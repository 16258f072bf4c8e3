//! Records a person's answer, or many, and saves the automatic answers of `auto_resolve.rs`. The first answer to a question wins; a second person is
//! refused and told who answered first.

use std::sync::Arc;

use domain::access::Right;
use domain::interaction::Change;
use domain::{AnswerDraft, AutoSource, Caller, Effect, Interaction, InteractionId, Refusal, SessionId, Verdict};
use serde_json::Value;

use crate::interactions::close::PlannedAnswer;
use crate::interactions::plan::{AnswerForm, AnswerPlan, AnswerSubject, AnswerTarget};
use crate::policy::ruling::Policies;
use crate::run::transaction::Work;
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
    /// Records a person's answer.
    pub async fn interaction_answer(
        &self,
        caller: &Caller,
        id: InteractionId,
        draft: AnswerDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Answer)?;
        // The schema is needed for edited arguments, and for data that could be meant as arguments.
        let with_schema = [&draft.data].into_iter().chain(&draft.arguments).any(Value::is_object);
        let subject = interactions::plan::read(self, caller.scope, id, with_schema).await?;
        let plan = interactions::plan::prepare(self, caller, id, draft, subject.as_ref()).await?;
        Box::pin(judge_and_save(self, caller, AnswerForm::Person { with_schema }, (plan, subject), idempotency)).await
    }

    /// Reads the question that a caller wants to answer, for [`Engine::answer_subject`]. A question that the caller may not see is `NotFound`.
    pub async fn read_subject(&self, caller: &Caller, target: AnswerTarget) -> Result<AnswerSubject, Error> {
        caller.require(Right::Read)?;
        interactions::plan::read_target(self, caller, target).await
    }

    /// Reads a question of a session that a caller wants to answer, and the name of its step. A question of another session is `NotFound`.
    pub async fn read_subject_with_step(
        &self,
        caller: &Caller,
        session: SessionId,
        id: InteractionId,
    ) -> Result<(AnswerSubject, Option<String>), Error> {
        caller.require(Right::Read)?;
        interactions::plan::read_with_step(self, caller, session, id).await
    }

    /// Records a person's answer to a question that was read before.
    pub async fn answer_subject(
        &self,
        caller: &Caller,
        subject: AnswerSubject,
        draft: AnswerDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Answer)?;
        let id = subject.asked.id;
        let plan = interactions::plan::prepare(self, caller, id, draft, Some(&subject)).await?;
        let plan = AnswerPlan { has_partial_arguments: subject.has_partial_arguments, ..plan };
        let form = AnswerForm::Person { with_schema: true };
        Box::pin(judge_and_save(self, caller, form, (plan, Some(subject)), idempotency)).await
    }

    /// Binds an idempotency key to the whole request, so that it cannot be used with another list of answers.
    pub async fn bind_answers(&self, caller: &Caller, call: Idempotency) -> Result<(), Error> {
        self.command(caller, Some(call), |_| Ok(())).await
    }

    /// Records many answers in the given order. `report` receives each result at once, because the questions in them may be too large to collect.
    pub async fn interaction_answer_many(
        &self,
        caller: &Caller,
        entries: Vec<AnswerEntry>,
        mut report: impl FnMut(AnswerResult),
    ) {
        for AnswerEntry { interaction, draft, idempotency } in entries {
            let result = self.interaction_answer(caller, interaction, draft, idempotency).await;
            report(AnswerResult { interaction, result });
        }
    }
}

/// Adds the rulings to a plan and saves the answer. Reads and judges again if the policy changes before the transaction.
pub(crate) async fn judge_and_save(
    engine: &Engine,
    caller: &Caller,
    form: AnswerForm,
    (prepared, subject): (AnswerPlan, Option<AnswerSubject>),
    idempotency: Option<Idempotency>,
) -> Result<Interaction, Error> {
    let has_call = subject.as_ref().is_some_and(|subject| subject.original.question.call.is_some());
    if form.is_of_person() && !has_call {
        let mut plan = prepared;
        interactions::plan::add_rulings(engine, caller, form, &mut plan, subject.as_ref()).await?;
        return save(engine, caller, form, plan, idempotency).await;
    }
    let mut first = Some(subject);
    let attempt = || {
        let (first, mut plan, idempotency) = (first.take(), prepared.clone(), idempotency.clone());
        async move {
            let subject = match first {
                Some(subject) => subject,
                None => interactions::plan::read(engine, caller.scope, plan.interaction, form.has_schema()).await?,
            };
            interactions::plan::add_rulings(engine, caller, form, &mut plan, subject.as_ref()).await?;
            save(engine, caller, form, plan, idempotency).await
        }
    };
    policy::in_force::with_current_ruling(engine, attempt).await
}

async fn save(
    engine: &Engine,
    caller: &Caller,
    form: AnswerForm,
    plan: AnswerPlan,
    idempotency: Option<Idempotency>,
) -> Result<Interaction, Error> {
    let (policies, vault, scope) = (Arc::clone(&engine.policies), Arc::clone(&engine.vault), caller.scope);
    engine
        .command(caller, idempotency, move |work| {
            let (mut session, interaction) = interactions::lock(work, &scope, plan.interaction)?;
            let was = interaction.status();
            let without_ruling;
            let (change, plan) = match form {
                AnswerForm::Person { .. } => (answer_as_person(work, interaction, &plan, &policies)?, &plan),
                AnswerForm::Automatic(source) => {
                    let change = resolve_automatically(work, interaction, source, &plan, &policies)?;
                    // Without `current`, the answer suspends no learnt rule: only the decision of a person may contradict one.
                    without_ruling = AnswerPlan { current: None, ..plan.clone() };
                    (change, &without_ruling)
                }
            };
            let planned = PlannedAnswer { plan, vault: &vault };
            let interaction = interactions::apply_answer(work, &mut session, was, change, Some(planned))?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
}

/// Answers a question as the caller, who must be a reviewer of it.
fn answer_as_person(
    work: &mut Work<'_>,
    interaction: Interaction,
    plan: &AnswerPlan,
    policies: &Policies,
) -> Result<Change, Error> {
    let reviewer = interaction.admit(&work.caller()?)?;
    for judged in plan.rulings() {
        policy::require_in_force(work, &interaction.scope, judged, policies)?;
    }
    let (answer, draft) = (work.ids.answer(work.now), plan.draft.clone());
    let change = interaction.answer(&reviewer, answer, draft, plan.proof, work.now)?;
    if let Some((judged, _)) = plan.edit.as_ref().filter(|(judged, _)| judged.ruling.verdict == Verdict::Deny) {
        // A denied edit is not stored as a vote either, so that no other person can agree to it.
        return Err(Refusal::EditDenied(Box::new(judged.ruling.clone())).into());
    }
    if let Some(current) = &plan.current {
        current.require_not_denied()?;
    }
    Ok(change)
}

/// Answers a question in the name of a policy or a service.
fn resolve_automatically(
    work: &mut Work<'_>,
    interaction: Interaction,
    source: AutoSource,
    plan: &AnswerPlan,
    policies: &Policies,
) -> Result<Change, Error> {
    let signature = (work.ids.answer(work.now), work.by().clone(), source);
    let effect = interaction.question.effect_of(&plan.draft).unwrap_or(Effect::Approve);
    let change = interaction.clone().auto_resolve(signature, plan.draft.clone(), plan.proof, work.now)?;
    for judged in plan.rulings() {
        policy::require_in_force(work, &interaction.scope, judged, policies)?;
    }
    if let Some(current) = &plan.current {
        current.require_not_denied()?;
        current.require_no_floor_question()?;
    }
    interaction.require_may_end_with(&work.caller()?, effect)?;
    Ok(change)
}
