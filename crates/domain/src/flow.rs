//! A flow: steps in an order that depends on how each of them ends. One immutable version of its definition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::RuleSuggestion;
use crate::{Audience, Choice, Fallback, OnlyInFiles};

mod check;
mod next;
mod question;

pub use next::{MOST_RUNS, Next, StepWay};

/// One version of a flow. It never changes once a session has used it.
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
    /// The flow's name.
    pub name: String,
    /// The name of this version.
    pub version: String,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its steps; the first one begins.
    pub steps: Vec<FlowStep>,
    /// The projects that it belongs to: an operator's setting, not part of the version.
    #[serde(default, skip_serializing)]
    pub projects: OnlyInFiles,
}

/// One step of a flow.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowStep {
    /// Its name within the flow.
    pub name: String,
    /// The agent that it runs; none where only people have something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Which version; the newest one at the start of the session where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// What the agent works on: a template over `input`, `answer`, `shared`, `steps.NAME.output` and `steps.NAME.rejection`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// What is asked before the step runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<StepQuestion>,
    /// Which of the agent's tools it may use here; all of them where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// How often it is tried.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub attempts: u32,
    /// How long it rests before the second attempt; twice as long before each further one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_seconds: Option<u32>,
    /// What is passed on: templates over `input`, `shared`, `steps.NAME.output`, `steps.NAME.rejection` and `output`, kept in `shared` under their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pass: BTreeMap<String, Value>,
    /// Where to go on success; to the next step where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_success: Option<String>,
    /// Where to go when every attempt failed; nowhere where absent, and the session has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    /// Where to go when the question before it was rejected; nowhere where absent, and the session has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_rejection: Option<String>,
}

/// Where a transition may lead besides a step: the session is completed.
pub const END: &str = "end";

/// What is asked before a step runs.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepQuestion {
    /// What sort of question.
    pub kind: String,
    /// One line; a template, as the texts below.
    pub title: String,
    /// What the person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What may be chosen; what the kind offers where empty.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    #[serde(default, deserialize_with = "question::options", skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// What a person may start from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<RuleSuggestion>,
    /// Whether it may not be skipped; it may not where left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// How long people have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_seconds: Option<i64>,
    /// What then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// Who may answer.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    #[serde(default, with = "question::audience", skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

const fn once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_once(attempts: &u32) -> bool {
    *attempts == 1
}
