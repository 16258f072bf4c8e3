//! Records the answer of a policy or a service in place of a person's answer.

use domain::access::Right;
use domain::{AnswerDraft, AutoSource, Caller, Interaction, InteractionId};

use crate::interactions::plan::{AnswerForm, AnswerSubject};
use crate::{Engine, Error, Idempotency, interactions};

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
        let form = AnswerForm::Automatic(source);
        interactions::answer::judge_and_save(self, caller, form, (plan, subject), idempotency).await
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
        let form = AnswerForm::Automatic(source);
        interactions::answer::judge_and_save(self, caller, form, (plan, Some(subject)), idempotency).await
    }
}
