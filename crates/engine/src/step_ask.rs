//! A step of ours asks people, and journals that it did, in one transaction.

use std::sync::Arc;

use domain::suggestion::{self, Counted};
use domain::{Interaction, InteractionId, Question, Refusal};
use serde_json::Value;
use store::{Cost, StoreError};

use crate::ask::opened_on;
use crate::drive::{Claim, place_of};
use crate::forms_check::Account;
use crate::journal::Journal;
use crate::work::{Asking, Doer};
use crate::{Ask, Engine, Error};

/// How many of the most frequent answers are suggested.
const MOST_SUGGESTED: u32 = 3;

impl Engine {
    /// Puts a question of a step to people; `None`, and nobody is asked, if the journal is longer than `after`: others journalled something.
    ///
    /// `journal` is told which question it became, and says what is written down of it.
    pub async fn step_ask(
        &self,
        claim: &Claim,
        ask: Ask,
        after: u64,
        journal: impl Fn(InteractionId) -> Journal + Send + 'static,
    ) -> Result<Option<Interaction>, Error> {
        let (scope, session) = (claim.scope, claim.session);
        let wire = self.read(Cost::Point, move |reads| opened_on(reads, &scope, session)).await?;
        let seconds = self.time_to_answer(&ask.question.kind, ask.deadline_seconds, wire)?;
        let question = self.suggested(claim, ask.question).await?;
        let question = self.admitted(Account::of_project(claim.scope), question, seconds).await?;
        let kept = self.kept_for_agent(claim.scope, (&claim.agent.name, true), &question).await?;
        let asking = Asking { time: seconds, traceparent: ask.traceparent, within_budget: true };
        let (claim, vault) = (claim.clone(), Arc::clone(&self.vault));
        self.transact_as(Doer::worker(&claim.agent), move |work| {
            let (mut session, step) = work.fenced(&claim)?;
            session.alive()?;
            // Before anything is written: what is answered with `None` is committed all the same.
            if step.lease.as_ref().is_none_or(|lease| lease.journal != after) {
                return Ok(None);
            }
            let asked = work.ask(&mut session, claim.agent.clone(), question.clone(), &asking)?;
            let asked = work.secrets_found(&vault, &mut session, asked, kept.as_ref())?;
            // Read again: an answer that was found already has been on its way to wake the step.
            let step = work.tx.step(&claim.scope, step.id)?.ok_or(Refusal::StepLost)?;
            let step = work.journalled(&mut session, step, &journal(asked.id))?.ok_or(StoreError::Conflict)?;
            work.tx.step_save(&claim.scope, &step)?;
            work.saved(&session)?;
            Ok(Some(asked))
        })
        .await
    }

    /// Adds what people usually answered here.
    async fn suggested(&self, claim: &Claim, mut question: Question) -> Result<Question, Error> {
        let (claim, scope) = (claim.clone(), claim.scope);
        // The options that a kind implies can be suggested too.
        let whole = question.clone().admit().unwrap_or_else(|_| question.clone());
        let asked = whole.clone();
        let counted = self
            .read(Cost::Point, move |reads| {
                let session = reads.session(&claim.scope, claim.session)?.ok_or(Refusal::NotFound("session"))?;
                let step = reads.step(&claim.scope, claim.step)?;
                let place = place_of(&session, step.as_ref(), &asked);
                Ok(reads.frequent_answers(&claim.scope, &place, MOST_SUGGESTED)?)
            })
            .await?;
        let mut fitting = Vec::new();
        for (answer, count) in counted {
            let answer = of_count(answer, count);
            if answer.data.is_null() || whole.form().is_none() || self.fits(scope, &whole, &answer.data).await? {
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

    /// What became of calls and questions of a step: the proposals, each with the question that was asked about it last.
    pub async fn step_calls(
        &self,
        claim: &Claim,
        calls: Vec<String>,
    ) -> Result<Vec<(Option<domain::Action>, Option<Interaction>)>, Error> {
        let claim = claim.clone();
        self.read(Cost::Point, move |reads| {
            let mut found = Vec::with_capacity(calls.len());
            for call in &calls {
                let proposal = reads.proposal(&claim.scope, claim.session, call)?;
                let asked = proposal.as_ref().and_then(|proposal| proposal.asked.last().copied());
                let asked = asked.map(|id| reads.interaction(&claim.scope, id)).transpose()?.flatten();
                found.push((proposal, asked));
            }
            Ok(found)
        })
        .await
    }

    /// Questions of a step's own, as they are now.
    pub async fn step_questions(
        &self,
        claim: &Claim,
        questions: Vec<InteractionId>,
    ) -> Result<Vec<Option<Interaction>>, Error> {
        let scope = claim.scope;
        self.read(Cost::Point, move |reads| {
            questions.iter().map(|id| Ok(reads.interaction(&scope, *id)?)).collect::<Result<_, Error>>()
        })
        .await
    }
}

fn of_count(answer: Value, count: u64) -> Counted {
    let option = answer.get("option").and_then(Value::as_str).map(str::to_owned);
    let data = answer.get("data").cloned().unwrap_or_default();
    Counted { option, data, count }
}
