//! Messages of clients: what each one asks the engine to do.

use domain::{AnswerDraft, Effect, Interaction, Kind, Outcome, Problem, Refusal};
use engine::{AnswerTarget, Chat};
use protocol::AnswerBody;
use serde_json::Value;

use super::messages::{
    ClientMessage, DecisionMessage, Decisions, ServerMessage, ToolResult, UserMessage, Verb, tool_and_arguments,
};
use super::names::NameTarget;
use super::{Approvals, error_message, error_text};
use crate::refusals::map_fields;
use server::handler::{ApiError, parse_object, parse_part};

/// Maximum number of decisions in one message.
const MOST: usize = 100;

/// Fields of an answer and their place in a decision about a tool call.
const CALL_FIELDS: &[(&str, &str)] = &[
    ("/arguments", "/modified_arguments"),
    ("/effect", "/decision"),
    ("/option", "/decision"),
    ("/options", "/decision"),
];
/// Fields of an answer and their place in a decision about any other question, whose answer is in `modified_arguments`.
const QUESTION_FIELDS: &[(&str, &str)] = &[
    ("/data", "/modified_arguments/data"),
    ("/effect", "/modified_arguments/effect"),
    ("/option", "/modified_arguments/option"),
    ("/options", "/modified_arguments/options"),
    ("/arguments", "/modified_arguments/arguments"),
];

impl Approvals {
    /// Handles a message of the client. Results are sent as events of the session; only refusals are replied to.
    pub(super) async fn handle_message(&mut self, text: &str) -> Vec<ServerMessage> {
        let message = parse_object::<serde_json::Map<String, Value>>(text.as_bytes())
            .and_then(|fields| parse_part::<ClientMessage>("", Value::Object(fields)));
        match message {
            Err(error) => vec![error_message(error, None)],
            Ok(ClientMessage::UserMessage(UserMessage { content, .. })) => {
                error_replies(self.send_message(content).await, None)
            }
            Ok(ClientMessage::HitlDecision(decision)) => self.decide(decision).await,
            Ok(ClientMessage::HitlDecisions(Decisions { decisions })) => self.decide_all(decisions).await,
            Ok(ClientMessage::ToolResult(result)) => {
                let call = result.call_id.clone();
                error_replies(self.report_result(result).await, Some(call))
            }
        }
    }

    /// Sends a message to the agent. Where no session of a channel listens, the engine starts one.
    async fn send_message(&mut self, content: String) -> Result<(), ApiError> {
        let conversation = Some(self.names.session().map_or_else(|| self.name.clone(), |session| session.to_string()));
        let chat = Chat { conversation, agent: self.agent.clone(), content, metadata: Value::Null };
        self.app.engine.send_chat_message(&self.caller, chat, None).await?;
        Ok(())
    }

    async fn decide_all(&mut self, decisions: Vec<Value>) -> Vec<ServerMessage> {
        if decisions.is_empty() || decisions.len() > MOST {
            return vec![error_message(ApiError::invalid("/decisions", format!("must be 1 to {MOST}")), None)];
        }
        let mut replies = Vec::new();
        for (index, decision) in decisions.into_iter().enumerate() {
            let call = decision["call_id"].as_str().map(str::to_owned);
            match parse_part::<DecisionMessage>(&format!("/decisions/{index}"), decision) {
                Ok(decision) => {
                    let under = |error: ApiError| error.map_pointers(|pointer| format!("/decisions/{index}{pointer}"));
                    replies.extend(error_replies(self.answer(decision).await.map_err(under), call));
                }
                Err(error) => replies.push(error_message(error, call)),
            }
        }
        replies
    }

    async fn decide(&mut self, decision: DecisionMessage) -> Vec<ServerMessage> {
        let call = decision.call_id.clone();
        error_replies(self.answer(decision).await, Some(call))
    }

    async fn answer(&mut self, decision: DecisionMessage) -> Result<(), ApiError> {
        let unknown = || ApiError::from(Refusal::NotFound("interaction"));
        let target = match self.call_target(&decision.call_id) {
            None => return Err(unknown()),
            Some(NameTarget::Call(session, call)) => AnswerTarget::Call(session, call),
            Some(NameTarget::Question(id)) => AnswerTarget::Question(id),
        };
        let subject = self.app.engine.read_subject(&self.caller, target).await?;
        let asked = &subject.asked;
        let here = match self.names.session() {
            Some(session) => asked.origin.session == session,
            None => asked.origin.channel == self.name,
        };
        if !here {
            return Err(unknown());
        }
        let draft = answer_draft(asked, decision)?;
        let fields = if asked.question.kind == Kind::Approval { CALL_FIELDS } else { QUESTION_FIELDS };
        let answered =
            self.app.engine.answer_subject(&self.caller, subject.with_partial_arguments(), draft, None).await;
        answered.map(drop).map_err(|error| map_fields(error, fields))
    }

    fn call_target(&self, name: &str) -> Option<NameTarget> {
        // PostgreSQL text cannot contain NUL.
        self.names.target(name).filter(|_| !name.contains('\0'))
    }

    /// Reports the outcome of a call that this client ran.
    async fn report_result(&mut self, ToolResult { call_id, result, error }: ToolResult) -> Result<(), ApiError> {
        let Some(NameTarget::Call(session, call)) = self.call_target(&call_id) else {
            return Err(Refusal::NotFound("action").into());
        };
        let here = match self.names.session() {
            Some(only) => only == session,
            None => self.app.engine.session(&self.caller, session).await?.0.head.channel == self.name,
        };
        if !here {
            return Err(Refusal::NotFound("action").into());
        }
        let result = result.unwrap_or_default();
        let outcome = match error.filter(|error| !error.is_null()) {
            Some(error) => Outcome::Failed { message: error_text(&error), result },
            None => Outcome::Done { result },
        };
        let place = (session, call);
        // The run is known where this connection received the call. Otherwise the dialect has no way to name it.
        let run = self.running.iter().find(|running| running.call == place).and_then(|running| running.run);
        self.app.engine.action_outcome(&self.caller, place.clone(), outcome, run, None).await?;
        self.running.retain(|running| running.call != place);
        Ok(())
    }
}

/// Translates a decision into an answer. A question that is not a tool approval is answered by `edit`, with the answer
/// in `modified_arguments`.
fn answer_draft(asked: &Interaction, decision: DecisionMessage) -> Result<AnswerDraft, ApiError> {
    let DecisionMessage { decision, modified_arguments, feedback, .. } = decision;
    if decision == Verb::Approve {
        check_unchanged(asked, modified_arguments.as_ref())?;
    }
    let effect = |effect| AnswerDraft { effect: Some(effect), feedback: feedback.clone(), ..AnswerDraft::default() };
    Ok(match (decision, &asked.question.kind) {
        (Verb::Reject, _) => effect(Effect::Reject),
        // `approve` does not name an option, which these kinds need.
        (Verb::Approve, Kind::Choice | Kind::Notice) => AnswerDraft { feedback, ..AnswerDraft::default() },
        (Verb::Approve, _) => effect(Effect::Approve),
        (Verb::Edit, Kind::Approval) => AnswerDraft { arguments: modified_arguments, ..effect(Effect::Edit) },
        (Verb::Edit, _) => {
            let body: AnswerBody = parse_part("/modified_arguments", modified_arguments.unwrap_or_default())?;
            AnswerDraft { feedback: body.feedback.clone().or(feedback), ..body.into() }
        }
    })
}

/// Refuses an approval with arguments that differ from those shown, for every kind of question.
fn check_unchanged(asked: &Interaction, given: Option<&Value>) -> Result<(), ApiError> {
    let (Some(call), Some(given)) = (&asked.question.call, given) else { return Ok(()) };
    if *given == call.arguments || *given == tool_and_arguments(asked).1 {
        return Ok(());
    }
    Err(Refusal::AnswerInvalid(vec![Problem::new("/modified_arguments", domain::answer::AS_PROPOSED)]).into())
}

fn error_replies(done: Result<(), ApiError>, call: Option<String>) -> Vec<ServerMessage> {
    done.err().map(|error| error_message(error, call)).into_iter().collect()
}
