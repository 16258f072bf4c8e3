//! Request bodies and views of answers, including automatic and batch answers.

use domain::{Actor, Answer, AnswerDraft, AnswerId, AutoSource, Effect, EntryPoint, InteractionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{InteractionView, ProblemBody, RememberBody};

/// Answer of a person to a question.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "option": "approve" }))]
pub struct AnswerBody {
    /// Identifier of the chosen option.
    pub option: Option<String>,
    /// Identifiers of the chosen options, for a question that allows several.
    #[serde(default)]
    pub options: Vec<String>,
    /// Effect of the answer, as an alternative to naming an option.
    pub effect: Option<Effect>,
    /// With the effect `edit`: the complete new arguments of the tool, which replace the proposed ones.
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// Data of the form, or the information that was asked for.
    #[serde(default)]
    pub data: Value,
    /// Reason for the answer, or free text.
    pub feedback: Option<String>,
    /// Scope of a grant to create together with this approval, so that later actions that match it run without another question.
    pub remember: Option<RememberBody>,
    /// Whether the given secrets are kept for later sessions of the agent.
    #[serde(default)]
    pub keep: bool,
}

impl From<AnswerBody> for AnswerDraft {
    fn from(body: AnswerBody) -> Self {
        let AnswerBody { option, options, effect, arguments, data, feedback, remember, keep } = body;
        let options = option.into_iter().chain(options).collect();
        Self { options, effect, arguments, data, feedback, remember: remember.map(Into::into), keep }
    }
}

/// Automatic answer to a question, in place of a person.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "option": "approve", "source": "auto_policy", "feedback": "within the usual limits" }))]
pub struct AutoBody {
    /// Source of the answer; `system` if absent.
    pub source: Option<AutoSource>,
    /// Identifier of the chosen option.
    pub option: Option<String>,
    /// Effect of the answer, as an alternative to naming an option.
    pub effect: Option<Effect>,
    /// Data of the form, or the information that was asked for.
    #[serde(default)]
    pub data: Value,
    /// Reason for the answer.
    pub feedback: Option<String>,
}

impl AutoBody {
    /// Converts the body to the source and the answer of the domain.
    #[must_use]
    pub fn into_parts(self) -> (AutoSource, AnswerDraft) {
        let Self { source, option, effect, data, feedback } = self;
        let draft =
            AnswerDraft { options: option.into_iter().collect(), effect, data, feedback, ..AnswerDraft::default() };
        (source.unwrap_or(AutoSource::System), draft)
    }
}

/// Request to close a question without an answer.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "no longer needed" }))]
pub struct CancelBody {
    /// Reason for the cancellation.
    pub reason: Option<String>,
}

/// Request to hand a question over to another channel.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "channel": "second-line", "note": "This one is about money." }))]
pub struct HandOverBody {
    /// Name of the channel; if absent, the question gets a new channel of its own.
    pub channel: Option<String>,
    /// Reason, shown to the people who are asked on the new channel.
    pub note: Option<String>,
}

/// Declaration of a person that they will not answer a question.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "note": "I wrote the change myself." }))]
pub struct AbstainBody {
    /// Reason for the abstention.
    pub note: Option<String>,
}

/// Empty body of a command without parameters.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct EmptyBody {}

/// Several answers in one request.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "answers": [
    { "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "option": "approve" },
    { "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a02", "option": "reject", "feedback": "not today" }
] }))]
pub struct AnswersBody {
    /// The answers, at most 100. Each is validated and applied on its own; one refused answer does not affect the others.
    #[schema(max_items = 100, value_type = Vec<AnswersItem>)]
    pub answers: Vec<Value>,
}

/// One answer of a batch.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswersItem {
    /// Identifier of the question.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// Identifier of the chosen option.
    pub option: Option<String>,
    /// Identifiers of the chosen options, for a question that allows several.
    #[serde(default)]
    pub options: Vec<String>,
    /// Effect of the answer, as an alternative to naming an option.
    pub effect: Option<Effect>,
    /// With the effect `edit`: the complete new arguments of the tool, which replace the proposed ones.
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// Data of the form, or the information that was asked for.
    #[serde(default)]
    pub data: Value,
    /// Reason for the answer, or free text.
    pub feedback: Option<String>,
    /// Scope of a grant to create together with this approval, so that later actions that match it run without another question.
    pub remember: Option<RememberBody>,
    /// Whether the given secrets are kept for later sessions of the agent.
    #[serde(default)]
    pub keep: bool,
}

impl AnswersItem {
    /// Splits the item into the identifier of the question and the answer.
    #[must_use]
    pub fn into_parts(self) -> (InteractionId, AnswerDraft) {
        let Self { interaction, option, options, effect, arguments, data, feedback, remember, keep } = self;
        (interaction, AnswerBody { option, options, effect, arguments, data, feedback, remember, keep }.into())
    }
}

/// Results of a batch of answers, in the order of the request.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "results": [{
    "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a02", "status": 409, "problem": {
        "type": "urn:holdpoint:problem:interaction_already_resolved", "title": "this question is already resolved",
        "status": 409, "code": "interaction_already_resolved" }
}] }))]
pub struct AnswersView {
    /// One result for each answer.
    pub results: Vec<AnswersResult>,
}

/// Result of one answer of a batch.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AnswersResult {
    /// Identifier of the question, as the request gave it.
    pub interaction: String,
    /// HTTP status that this answer would have had as a single request.
    pub status: u16,
    /// The question after the answer, if the answer was accepted. Absent if the results before it exceed 4 MiB; read the question instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<InteractionView>>,
    /// Problem, if the answer was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemBody>,
}

/// An answer that the server accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "ans_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "by": { "kind": "user", "name": "alice" },
    "wire": "http", "at": "2026-11-15T10:01:00Z", "effect": "approve", "option": "approve", "options": ["approve"]
}))]
pub struct AnswerView {
    /// Identifier of the answer.
    #[schema(value_type = String)]
    pub id: AnswerId,
    /// Actor that gave the answer.
    pub by: Actor,
    /// Entry point of the answer: `http` and `ws` are the API under `/v1`; `flows`, `hitl`, `tools` and `react` are the dialects. Absent if
    /// no person answered.
    #[serde(rename = "wire", default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<EntryPoint>,
    /// Time of the answer.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Effect of the answer.
    pub effect: Effect,
    /// Identifier of the chosen option; of the first one if several were chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Identifiers of the chosen options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Metadata of the chosen option, as the agent gave it. If several options were chosen, an object with the metadata of each under its
    /// identifier.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// With the effect `edit`: the arguments to run with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// Data of the form, or the information that was asked for. For a secret question it contains only the names of the values.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Reason for the answer, or free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

impl From<Answer> for AnswerView {
    fn from(answer: Answer) -> Self {
        let Answer { id, by, entry_point, at, effect, options, metadata, arguments, data, feedback, .. } = answer;
        Self {
            id,
            by,
            entry_point,
            at,
            effect,
            option: options.first().cloned(),
            options,
            metadata,
            arguments,
            data,
            feedback,
        }
    }
}
