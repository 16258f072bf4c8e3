//! Asks people on behalf of a hosted step, and journals the question in the same transaction.

use std::sync::Arc;

use domain::suggestion::{self, Counted};
use domain::{Interaction, InteractionId, Question, Refusal};
use serde::Deserialize;
use serde_json::Value;
use store::{Cost, StoreError};

use crate::interactions;
use crate::interactions::forms_check::Account;
use crate::interactions::open::QuestionTerms;
use crate::run::transaction::Originator;
use crate::sessions;
use crate::steps;
use crate::steps::journal::Journal;
use crate::steps::lease::{StepClaim, answer_source};
use crate::{Ask, Engine, Error};

/// Number of frequent answers that are suggested.
const MOST_SUGGESTED: u32 = 3;

impl Engine {
    /// Asks people a question of a step. Returns `None` without asking if the journal is longer than `after`, because others have journalled
    /// something since.
    ///
    /// `journal` gets the id of the question and returns the journal entries to write.
    pub async fn step_ask(
        &self,
        claim: &StepClaim,
        ask: Ask,
        after: u64,
        journal: impl Fn(InteractionId) -> Journal + Send + 'static,
    ) -> Result<Option<Interaction>, Error> {
        let (scope, session) = (claim.scope, claim.session);
        let entry_point =
            self.read(Cost::Point, move |reads| interactions::ask::read_entry_point(reads, &scope, session)).await?;
        let seconds = interactions::ask::time_to_answer(self, &ask.question.kind, ask.deadline_seconds, entry_point)?;
        let question = add_suggestion(self, claim, ask.question).await?;
        let question = interactions::ask::admit(self, Account::of_project(claim.scope), question, seconds).await?;
        let kept = interactions::kept_answer::find(self, claim.scope, &claim.agent.name, true, &question).await?;
        let asking = QuestionTerms { time: seconds, traceparent: ask.traceparent, within_budget: true };
        let (claim, vault) = (claim.clone(), Arc::clone(&self.vault));
        self.transact_as(Originator::worker(&claim.agent), move |work| {
            let (mut session, step) = steps::lock_claimed(work, &claim)?;
            session.require_alive()?;
            // This check comes before any write, because a transaction that returns `None` is committed too.
            if step.lease.as_ref().is_none_or(|lease| lease.journal != after) {
                return Ok(None);
            }
            let asked = interactions::open(work, &mut session, claim.agent.clone(), question.clone(), &asking)?;
            let asked = interactions::kept_answer::answer(work, &vault, &mut session, asked, kept.as_ref())?;
            // The step is read again: a kept secret may have answered the question already, and the answer has woken the step.
            let step = work.tx.step(&claim.scope, step.id)?.ok_or(Refusal::StepLost)?;
            let step =
                steps::append_journal(work, &mut session, step, &journal(asked.id))?.ok_or(StoreError::Conflict)?;
            work.tx.step_save(&claim.scope, &step)?;
            sessions::save(work, &session)?;
            Ok(Some(asked))
        })
        .await
    }

    /// Returns the actions of calls of a step, each with the last question that was asked about it.
    pub async fn step_calls(
        &self,
        claim: &StepClaim,
        calls: Vec<String>,
    ) -> Result<Vec<(Option<domain::Action>, Option<Interaction>)>, Error> {
        let claim = claim.clone();
        self.read(Cost::Point, move |reads| {
            let mut found = Vec::with_capacity(calls.len());
            for call in &calls {
                let action = reads.action(&claim.scope, claim.session, call)?;
                let asked = action.as_ref().and_then(|action| action.asked.last().copied());
                let asked = asked.map(|id| reads.interaction(&claim.scope, id)).transpose()?.flatten();
                found.push((action, asked));
            }
            Ok(found)
        })
        .await
    }

    /// Returns the current state of questions that a step asked itself.
    pub async fn step_questions(
        &self,
        claim: &StepClaim,
        questions: Vec<InteractionId>,
    ) -> Result<Vec<Option<Interaction>>, Error> {
        let scope = claim.scope;
        self.read(Cost::Point, move |reads| {
            questions.iter().map(|id| Ok(reads.interaction(&scope, *id)?)).collect::<Result<_, Error>>()
        })
        .await
    }
}

/// Adds frequent earlier answers to the suggestions of a question.
async fn add_suggestion(engine: &Engine, claim: &StepClaim, mut question: Question) -> Result<Question, Error> {
    let (claim, scope) = (claim.clone(), claim.scope);
    // The admitted question includes the options that its kind implies; they can be suggested too.
    let whole = question.clone().admit().unwrap_or_else(|_| question.clone());
    let asked = whole.clone();
    let counted = engine
        .read(Cost::Point, move |reads| {
            let session = reads.session(&claim.scope, claim.session)?.ok_or(Refusal::NotFound("session"))?;
            let step = reads.step(&claim.scope, claim.step)?;
            let source = answer_source(&session, step.as_ref(), &asked);
            Ok(reads.frequent_answers(&claim.scope, &source, MOST_SUGGESTED)?)
        })
        .await?;
    let mut fitting = Vec::new();
    for (answer, count) in counted {
        let answer = of_count(answer, count);
        if answer.data.is_null()
            || whole.form().is_none()
            || interactions::forms_check::fits(engine, scope, &whole, &answer.data).await?
        {
            fitting.push(answer);
        }
    }
    let analytics = suggestion::analytics(fitting, &whole, MOST_SUGGESTED as usize);
    let (rule, llm) = std::mem::take(&mut question.suggestions)
        .into_iter()
        .partition(|suggestion| suggestion.source == domain::question::SuggestionSource::Rule);
    question.suggestions = suggestion::combine(rule, llm, analytics);
    Ok(question)
}

/// Answer as the store counts it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CountedAnswer {
    option: Option<String>,
    data: Value,
}

fn of_count(answer: Value, count: u64) -> Counted {
    let CountedAnswer { option, data } = serde_json::from_value(answer).unwrap_or_default();
    Counted { option, data, count }
}
