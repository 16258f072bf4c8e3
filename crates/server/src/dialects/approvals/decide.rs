//! What a client says, carried out.

use domain::{Draft, Effect, Interaction, Kind, Outcome, SessionId};
use engine::Chat;
use protocol::AnswerBody;
use serde_json::Value;

use super::words::{Decision, Decisions, Message, Said, ToolResult, UserMessage, Verb};
use super::{Approvals, text_of, wrong};
use crate::command::{parsed, part};
use crate::error::ApiError;

/// How many decisions one message may carry.
const MOST: usize = 100;

impl Approvals {
    /// Does what a message says. What comes of it is told by the session's own events; only what is refused is replied.
    pub(super) async fn said(&mut self, text: &str) -> Vec<Message> {
        let said = parsed::<serde_json::Map<String, Value>>(text.as_bytes())
            .and_then(|fields| part::<Said>("", Value::Object(fields)));
        match said {
            Err(error) => vec![wrong(error, None)],
            Ok(Said::UserMessage(UserMessage { content, .. })) => refused(self.tell(content).await, None),
            Ok(Said::HitlDecision(decision)) => self.decide(decision).await,
            Ok(Said::HitlDecisions(Decisions { decisions })) => self.decide_all(decisions).await,
            Ok(Said::ToolResult(result)) => {
                let call = result.call_id.clone();
                refused(self.report(result).await, Some(call))
            }
        }
    }

    /// Says something to the agent; where there is no session, or it has ended, the engine begins one in the channel.
    async fn tell(&mut self, content: String) -> Result<(), ApiError> {
        let last = super::meant(&self.app, &self.caller, &self.name).await?;
        if let Some(last) = last.filter(|last| last.ended.is_none() || self.name.starts_with(SessionId::PREFIX)) {
            if self.session != Some(last.id) {
                self.attend(last.id, None).await?;
            }
            self.app.engine.message(&self.caller, last.id, (content, false), None).await?;
            return Ok(());
        }
        let (conversation, agent) = (Some(self.name.clone()), self.agent.clone());
        let chat = Chat { conversation, agent, content, metadata: Value::Null };
        let (session, before) = self.app.engine.chat(&self.caller, chat, None).await?;
        self.attend(session.id, Some(before)).await?;
        Ok(())
    }

    async fn decide_all(&mut self, decisions: Vec<Value>) -> Vec<Message> {
        if decisions.is_empty() || decisions.len() > MOST {
            return vec![wrong(ApiError::wrong("/decisions", format!("must be 1 to {MOST}")), None)];
        }
        let mut replies = Vec::new();
        for (index, decision) in decisions.into_iter().enumerate() {
            let call = decision["call_id"].as_str().map(str::to_owned);
            match part::<Decision>(&format!("/decisions/{index}"), decision) {
                Ok(decision) => replies.extend(self.decide(decision).await),
                Err(error) => replies.push(wrong(error, call)),
            }
        }
        replies
    }

    async fn decide(&mut self, decision: Decision) -> Vec<Message> {
        let call = decision.call_id.clone();
        refused(self.decided(decision).await, Some(call))
    }

    async fn decided(&mut self, decision: Decision) -> Result<(), ApiError> {
        let session = self.session.ok_or(domain::Refusal::NotFound("session"))?;
        if decision.call_id.contains('\0') {
            return Err(domain::Refusal::NotFound("interaction").into());
        }
        let asked = self.app.engine.question_meant(&self.caller, session, &decision.call_id).await?;
        self.app.engine.answer(&self.caller, asked.id, meant(&asked, decision)?, None).await?;
        Ok(())
    }

    /// Takes this client's word for what became of a call that it was given.
    async fn report(&mut self, ToolResult { call_id, result, error }: ToolResult) -> Result<(), ApiError> {
        let session = self.session.ok_or(domain::Refusal::NotFound("session"))?;
        if call_id.contains('\0') {
            return Err(domain::Refusal::NotFound("action").into());
        }
        let result = result.unwrap_or_default();
        let outcome = match error.filter(|error| !error.is_null()) {
            Some(error) => Outcome::Failed { message: text_of(&error), result },
            None => Outcome::Done { result },
        };
        self.app.engine.action_outcome(&self.caller, (session, call_id.clone()), outcome, None).await?;
        self.handed.retain(|handed| *handed != call_id);
        Ok(())
    }
}

/// A decision as an answer. What is no approval of a tool is answered by `edit`, with the answer in place of arguments.
fn meant(asked: &Interaction, decision: Decision) -> Result<Draft, ApiError> {
    let Decision { decision, modified_arguments, feedback, .. } = decision;
    let effect = |effect| Draft { effect: Some(effect), feedback: feedback.clone(), ..Draft::default() };
    Ok(match (decision, &asked.question.kind) {
        (Verb::Reject, _) => effect(Effect::Reject),
        // Which of the options is not said: whoever sees them has to name one.
        (Verb::Approve, Kind::Choice | Kind::Notice) => Draft { feedback, ..Draft::default() },
        (Verb::Approve, _) => effect(Effect::Approve),
        (Verb::Edit, Kind::Approval) => Draft { arguments: modified_arguments, ..effect(Effect::Edit) },
        (Verb::Edit, _) => {
            let body: AnswerBody = part("/modified_arguments", modified_arguments.unwrap_or_default())?;
            Draft { feedback: body.feedback.clone().or(feedback), ..body.into() }
        }
    })
}

fn refused(done: Result<(), ApiError>, call: Option<String>) -> Vec<Message> {
    done.err().map(|error| wrong(error, call)).into_iter().collect()
}
