//! What a client says, carried out.

use std::time::Duration;

use domain::{AnswerDraft, Effect, Interaction, Kind, Outcome, Problem, Refusal};
use engine::Chat;
use protocol::AnswerBody;
use serde_json::Value;

use super::names::Meant;
use super::words::{Decision, Decisions, Message, Said, ToolResult, UserMessage, Verb, shown};
use super::{Approvals, text_of, wrong};
use crate::command::{parsed, part};
use crate::dialects::refusals::placed;
use crate::error::ApiError;

/// How many decisions one message may carry.
const MOST: usize = 100;

/// Where the parts of an answer stand in a decision about a call.
const OF_CALL: &[(&str, &str)] = &[
    ("/arguments", "/modified_arguments"),
    ("/effect", "/decision"),
    ("/option", "/decision"),
    ("/options", "/decision"),
];
/// The same of anything else, whose answer stands in place of arguments.
const OF_QUESTION: &[(&str, &str)] = &[
    ("/data", "/modified_arguments/data"),
    ("/effect", "/modified_arguments/effect"),
    ("/option", "/modified_arguments/option"),
    ("/options", "/modified_arguments/options"),
    ("/arguments", "/modified_arguments/arguments"),
];

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

    /// Says something to the agent; where nobody listens in a channel, the engine begins a session in it.
    async fn tell(&mut self, content: String) -> Result<(), ApiError> {
        let conversation = Some(self.names.only().map_or_else(|| self.name.clone(), |session| session.to_string()));
        let chat = Chat { conversation, agent: self.agent.clone(), content, metadata: Value::Null };
        self.app.engine.chat(&self.caller, chat, None).await?;
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
                Ok(decision) => {
                    let under = |error: ApiError| error.at(|pointer| format!("/decisions/{index}{pointer}"));
                    replies.extend(refused(self.decided(decision).await.map_err(under), call));
                }
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
        let unknown = || ApiError::from(Refusal::NotFound("interaction"));
        let asked = match self.meant(&decision.call_id) {
            None => return Err(unknown()),
            Some(Meant::Call(session, call)) => self.app.engine.question_meant(&self.caller, session, &call).await?,
            Some(Meant::Question(id)) => self.app.engine.interaction(&self.caller, id, Duration::ZERO).await?,
        };
        let here = match self.names.only() {
            Some(session) => asked.origin.session == session,
            None => asked.origin.channel == self.name,
        };
        if !here {
            return Err(unknown());
        }
        let mut draft = meant(&asked, decision)?;
        if let Some(given) = draft.arguments.take() {
            draft.arguments = Some(self.app.engine.arguments_meant(&self.caller, asked.id, given).await?);
        }
        let fields = if asked.question.kind == Kind::Approval { OF_CALL } else { OF_QUESTION };
        let answered = self.app.engine.answer(&self.caller, asked.id, draft, None).await;
        answered.map(drop).map_err(|error| placed(error, fields))
    }

    fn meant(&self, name: &str) -> Option<Meant> {
        // One of the stores cannot be asked for NUL.
        self.names.meant(name).filter(|_| !name.contains('\0'))
    }

    /// Takes this client's word for what became of a call that it was given.
    async fn report(&mut self, ToolResult { call_id, result, error }: ToolResult) -> Result<(), ApiError> {
        let Some(Meant::Call(session, call)) = self.meant(&call_id) else {
            return Err(Refusal::NotFound("action").into());
        };
        let here = match self.names.only() {
            Some(only) => only == session,
            None => self.app.engine.session(&self.caller, session).await?.0.head.channel == self.name,
        };
        if !here {
            return Err(Refusal::NotFound("action").into());
        }
        let result = result.unwrap_or_default();
        let outcome = match error.filter(|error| !error.is_null()) {
            Some(error) => Outcome::Failed { message: text_of(&error), result },
            None => Outcome::Done { result },
        };
        let place = (session, call);
        // What this connection was handed is reported for that run; of another one, the wire cannot say for which.
        let run = self.held.iter().find(|held| held.place == place).and_then(|held| held.run);
        self.app.engine.action_outcome(&self.caller, place.clone(), (outcome, run), None).await?;
        self.held.retain(|held| held.place != place);
        Ok(())
    }
}

/// A decision as an answer. What is no approval of a tool is answered by `edit`, with the answer in place of arguments.
fn meant(asked: &Interaction, decision: Decision) -> Result<AnswerDraft, ApiError> {
    let Decision { decision, modified_arguments, feedback, .. } = decision;
    if decision == Verb::Approve {
        as_shown(asked, modified_arguments.as_ref())?;
    }
    let effect = |effect| AnswerDraft { effect: Some(effect), feedback: feedback.clone(), ..AnswerDraft::default() };
    Ok(match (decision, &asked.question.kind) {
        (Verb::Reject, _) => effect(Effect::Reject),
        // Which of the options is not said: whoever sees them has to name one.
        (Verb::Approve, Kind::Choice | Kind::Notice) => AnswerDraft { feedback, ..AnswerDraft::default() },
        (Verb::Approve, _) => effect(Effect::Approve),
        (Verb::Edit, Kind::Approval) => AnswerDraft { arguments: modified_arguments, ..effect(Effect::Edit) },
        (Verb::Edit, _) => {
            let body: AnswerBody = part("/modified_arguments", modified_arguments.unwrap_or_default())?;
            AnswerDraft { feedback: body.feedback.clone().or(feedback), ..body.into() }
        }
    })
}

/// Refuses an approval of other arguments than those of the action that is shown, in whichever kind of question.
fn as_shown(asked: &Interaction, given: Option<&Value>) -> Result<(), ApiError> {
    let (Some(action), Some(given)) = (&asked.question.call, given) else { return Ok(()) };
    if *given == action.arguments || *given == shown(asked).1 {
        return Ok(());
    }
    Err(Refusal::AnswerInvalid(vec![Problem::new("/modified_arguments", domain::answer::AS_PROPOSED)]).into())
}

fn refused(done: Result<(), ApiError>, call: Option<String>) -> Vec<Message> {
    done.err().map(|error| wrong(error, call)).into_iter().collect()
}
