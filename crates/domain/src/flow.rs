//! Flows: one immutable version of a definition of steps, whose order depends on how each step ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::RuleSuggestion;
use crate::{Audience, Choice, Fallback, OnlyInFiles};

mod check;
mod next;
mod question;

pub use next::{MOST_RUNS, Next, StepWay};

/// A version of a flow. It never changes after a session has used it.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(example = json!({
    "name": "release-notes", "version": "1", "description": "Notes are written, and published once somebody has read them",
    "steps": [
        { "name": "write", "agent": "scribe", "input": "Write the notes of {{ input.version }}.", "attempts": 2 },
        { "name": "publish", "agent": "scribe", "input": "Publish: {{ steps.write.output }}",
          "question": { "kind": "confirmation", "title": "Publish the notes?" }, "on_rejection": "write" }
    ]
})))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowVersion {
    /// Name of the flow.
    pub name: String,
    /// Name of this version.
    pub version: String,
    /// Description in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Steps of the flow. The first one begins.
    pub steps: Vec<FlowStep>,
    /// Projects of the flow. This is a setting of the server's operator and not part of the version.
    #[serde(default, skip_serializing)]
    pub projects: OnlyInFiles,
}

/// A step of a flow.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowStep {
    /// Name of the step, unique within the flow.
    pub name: String,
    /// Name of the agent that the step runs; absent if the step only asks people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Version of the agent; the newest at the start of the session if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Input of the agent: a template over `input`, `answer`, `shared`, `steps.NAME.output` and `steps.NAME.rejection`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Question that is asked before the step runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<StepQuestion>,
    /// Names of the agent's tools that the step may use; all tools if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Largest number of attempts.
    #[serde(default = "one_attempt", skip_serializing_if = "is_one_attempt")]
    pub attempts: u32,
    /// Delay in seconds before the second attempt. It doubles before each further attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_seconds: Option<u32>,
    /// Values for later steps: templates over `input`, `shared`, `steps.NAME.output`, `steps.NAME.rejection` and `output`, stored in
    /// `shared` under their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pass: BTreeMap<String, Value>,
    /// Step to continue with after success; the next step if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_success: Option<String>,
    /// Step to continue with after all attempts failed; if absent, the session fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    /// Step to continue with after the question before the step was rejected; if absent, the session fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_rejection: Option<String>,
}

/// Target of a transition that completes the session.
pub const END: &str = "end";

/// Question that is asked before a step runs.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepQuestion {
    /// Kind of the question.
    pub kind: String,
    /// Title of the question, one line. It is a template, as is the description.
    pub title: String,
    /// Text of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Options to choose from; the default options of the kind if empty.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    #[serde(default, deserialize_with = "question::options", skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// Suggested answers that a person may start from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<RuleSuggestion>,
    /// Whether the question must be answered and may not be skipped; `true` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Time in seconds until the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_seconds: Option<i64>,
    /// Result at the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// People who may answer.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    #[serde(default, with = "question::audience", skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

const fn one_attempt() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_one_attempt(attempts: &u32) -> bool {
    *attempts == 1
}
