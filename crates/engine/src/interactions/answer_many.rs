//! Many answers in one call: each is judged on its own, and none is lost because another failed.

use domain::{AnswerDraft, Caller, Interaction, InteractionId};

use crate::{Engine, Error, Idempotency};

/// One answer of many.
#[derive(Debug, Clone)]
pub struct AnswerEntry {
    /// Which question.
    pub interaction: InteractionId,
    /// What is said.
    pub draft: AnswerDraft,
    /// Names this answer, so that repeating the whole call repeats none of them.
    pub once: Option<Idempotency>,
}

/// What became of one answer of many.
#[derive(Debug)]
pub struct AnswerResult {
    /// Which question.
    pub interaction: InteractionId,
    /// What it is now, or why not.
    pub result: Result<Interaction, Error>,
}

impl Engine {
    /// Binds an idempotency key to the whole call, so that it cannot be used with another list of answers.
    pub async fn answer_many_as(&self, caller: &Caller, call: Idempotency) -> Result<(), Error> {
        self.command(caller, Some(call), |_| Ok(())).await
    }

    /// Takes many answers, in the order given, and hands on what became of each at once: questions may be large.
    pub async fn answer_many(&self, caller: &Caller, entries: Vec<AnswerEntry>, mut take: impl FnMut(AnswerResult)) {
        for AnswerEntry { interaction, draft, once } in entries {
            let result = self.answer(caller, interaction, draft, once).await;
            take(AnswerResult { interaction, result });
        }
    }
}
