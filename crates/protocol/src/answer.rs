//! Answers on the wire.

use domain::{Actor, Answer, AnswerDraft, AnswerId, AutoSource, Effect, EntryPoint, InteractionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{InteractionView, ProblemBody, RememberBody};

/// What a person says.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "option": "approve" }))]
pub struct AnswerBody {
    /// The option chosen.
    pub option: Option<String>,
    /// The options chosen, where several may be.
    #[serde(default)]
    pub options: Vec<String>,
    /// The effect, in place of an option's name.
    pub effect: Option<Effect>,
    /// With `edit`, whole new arguments for the same tool.
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// The form, or the information.
    #[serde(default)]
    pub data: Value,
    /// A reason, or free text.
    pub feedback: Option<String>,
    /// Lets an approval of a proposed action hold for more than this one.
    pub remember: Option<RememberBody>,
    /// Whether the secrets that are given are kept for the agent's later sessions.
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

/// Answers in place of a person.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "option": "approve", "source": "auto_policy", "feedback": "within the usual limits" }))]
pub struct AutoBody {
    /// In whose name; `system` if absent.
    pub source: Option<AutoSource>,
    /// The option chosen.
    pub option: Option<String>,
    /// The effect, in place of an option's name.
    pub effect: Option<Effect>,
    /// The form, or the information.
    #[serde(default)]
    pub data: Value,
    /// Why.
    pub feedback: Option<String>,
}

impl AutoBody {
    /// In the domain's words.
    #[must_use]
    pub fn into_parts(self) -> (AutoSource, AnswerDraft) {
        let Self { source, option, effect, data, feedback } = self;
        let draft =
            AnswerDraft { options: option.into_iter().collect(), effect, data, feedback, ..AnswerDraft::default() };
        (source.unwrap_or(AutoSource::System), draft)
    }
}

/// Closes without an answer.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "no longer needed" }))]
pub struct CancelBody {
    /// Why.
    pub reason: Option<String>,
}

/// Hands a question to another channel.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "channel": "second-line", "note": "This one is about money." }))]
pub struct HandOverBody {
    /// The channel; one of its own if absent.
    pub channel: Option<String>,
    /// Why, for whoever is asked there.
    pub note: Option<String>,
}

/// Says that one will not answer.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "note": "I wrote the change myself." }))]
pub struct AbstainBody {
    /// Why.
    pub note: Option<String>,
}

/// A command that needs nothing said.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct EmptyBody {}

/// Many answers in one call.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "answers": [
    { "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "option": "approve" },
    { "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a02", "option": "reject", "feedback": "not today" }
] }))]
pub struct AnswersBody {
    /// At most 100, each read on its own.
    #[schema(max_items = 100, value_type = Vec<AnswersItem>)]
    pub answers: Vec<Value>,
}

/// One answer of many.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswersItem {
    /// Which question.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// The option chosen.
    pub option: Option<String>,
    /// The options chosen, where several may be.
    #[serde(default)]
    pub options: Vec<String>,
    /// The effect, in place of an option's name.
    pub effect: Option<Effect>,
    /// With `edit`, whole new arguments for the same tool.
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// The form, or the information.
    #[serde(default)]
    pub data: Value,
    /// A reason, or free text.
    pub feedback: Option<String>,
    /// Lets an approval of a proposed action hold for more than this one.
    pub remember: Option<RememberBody>,
    /// Whether the secrets that are given are kept for the agent's later sessions.
    #[serde(default)]
    pub keep: bool,
}

impl AnswersItem {
    /// The question, and what is said.
    #[must_use]
    pub fn into_parts(self) -> (InteractionId, AnswerDraft) {
        let Self { interaction, option, options, effect, arguments, data, feedback, remember, keep } = self;
        (interaction, AnswerBody { option, options, effect, arguments, data, feedback, remember, keep }.into())
    }
}

/// What became of many answers, in the order given.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "results": [{
    "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a02", "status": 409, "problem": {
        "type": "urn:holdpoint:problem:interaction_already_resolved", "title": "this question is already resolved",
        "status": 409, "code": "interaction_already_resolved" }
}] }))]
pub struct AnswersView {
    /// One for each.
    pub results: Vec<AnswersResult>,
}

/// What became of one answer of many.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AnswersResult {
    /// Which question, as it was named.
    pub interaction: String,
    /// The status that the same answer would have had alone.
    pub status: u16,
    /// The question as it is now, if the answer was taken. Absent where the results before it have more than 4 MiB: read the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<InteractionView>>,
    /// Why it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemBody>,
}

/// An answer that was taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "ans_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "by": { "kind": "user", "name": "alice" },
    "wire": "http", "at": "2026-11-15T10:01:00Z", "effect": "approve", "option": "approve", "options": ["approve"]
}))]
pub struct AnswerView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: AnswerId,
    /// Who said it.
    pub by: Actor,
    /// Through which door it came: `http` and `ws` are `/v1`, `flows`, `hitl`, `tools` and `react` the wires of other systems. Absent where
    /// nobody in person answered.
    #[serde(rename = "wire", default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<EntryPoint>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What it does.
    pub effect: Effect,
    /// The option chosen; the first, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// The options chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The metadata of the option chosen, as the agent gave it; of several options, that of each under its id.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// With `edit`, the arguments to run with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// The form, or the information. Of a secret question only the names.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// A reason, or free text.
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
