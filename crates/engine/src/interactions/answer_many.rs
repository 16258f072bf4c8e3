//! Records many answers in one request. Each answer succeeds or fails on its own, in its own transaction.

use domain::{AnswerDraft, Caller, Interaction, InteractionId};

use crate::{Engine, Error, Idempotency};

/// Answer in a request with many answers.
#[derive(Debug, Clone)]
pub struct AnswerEntry {
    /// Identifier of the question.
    pub interaction: InteractionId,
    /// Answer to the question.
    pub draft: AnswerDraft,
    /// Idempotency key of this answer, so that a repeated request does not repeat the answer.
    pub once: Option<Idempotency>,
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
    /// Binds an idempotency key to the whole request, so that it cannot be used with another list of answers.
    pub async fn answer_many_as(&self, caller: &Caller, call: Idempotency) -> Result<(), Error> {
        self.command(caller, Some(call), |_| Ok(())).await
    }

    /// Records many answers in the given order. `take` receives each result at once, because the questions in them may be too large to collect.
    pub async fn answer_many(&self, caller: &Caller, entries: Vec<AnswerEntry>, mut take: impl FnMut(AnswerResult)) {
        for AnswerEntry { interaction, draft, once } in entries {
            let result = self.answer(caller, interaction, draft, once).await;
            take(AnswerResult { interaction, result });
        }
    }
}
