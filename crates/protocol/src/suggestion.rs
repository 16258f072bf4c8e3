//! Rules that are learnt from decisions of people, on the wire.

use domain::policy::Suspension;
use domain::{Actor, Effect, InteractionId, SessionId, Timestamp, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::DecisionView;

/// Puts a suggested rule into the project's policy.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "we always say yes to this" }))]
pub struct AdoptBody {
    /// Why; how many decisions it was learnt from, if absent.
    pub reason: Option<String>,
}

/// Has a suspended rule match again.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "the rejection was a mistake" }))]
pub struct LiftBody {
    /// Why; it is recorded.
    pub reason: String,
}

/// Rules that would explain what people have decided lately.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "decisions": 120, "more": false,
    "suggestions": [{
        "id": "learnt-9f86d081884c", "verdict": "allow", "tool": "execute_command", "agent": "helper",
        "rule": "[[rule]]\nname = \"learnt-9f86d081884c\"\ntools = [\"execute_command\"]\n…", "before": "ask-before-changing",
        "support": 5, "interactions": ["int_01998f2c-4d00-7000-8000-000000000002"],
        "first_at": "2026-11-14T10:00:00Z", "last_at": "2026-11-15T10:00:00Z"
    }],
    "held_back": [{
        "verdict": "allow", "tool": "execute_command", "agent": "helper", "support": 9, "against": 1,
        "counter_examples": [{
            "session": "ses_01998f2c-4d00-7000-8000-000000000001", "call_id": "call_7",
            "decision": { "interaction": "int_01998f2c-4d00-7000-8000-000000000003", "effect": "reject",
                "by": { "kind": "user", "name": "ann" }, "at": "2026-11-15T09:00:00Z" }
        }]
    }]
}))]
pub struct SuggestionsView {
    /// How many decisions of people were looked at.
    pub decisions: usize,
    /// Whether there are older ones that were not looked at.
    pub more: bool,
    /// The rules, those with most support first.
    pub suggestions: Vec<LearntView>,
    /// What would be a rule, had nobody decided otherwise.
    pub held_back: Vec<HeldBackView>,
}

/// Equal decisions about the same arguments or sort of commands, and those that keep them from being a rule.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HeldBackView {
    /// What the rule would say.
    pub verdict: Verdict,
    /// The tool.
    pub tool: String,
    /// The agent.
    pub agent: String,
    /// How many decisions speak for it.
    pub support: usize,
    /// How many speak against it.
    pub against: usize,
    /// The newest of those, at most 20.
    pub counter_examples: Vec<CounterExampleView>,
}

/// An action about which somebody decided otherwise.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CounterExampleView {
    /// Its session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The agent's own name for the call; none where it asked about the action in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What was decided.
    pub decision: DecisionView,
}

/// A rule that explains a run of equal decisions.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LearntView {
    /// The name that the rule will have.
    pub id: String,
    /// What it says.
    pub verdict: Verdict,
    /// The tool that it is about.
    pub tool: String,
    /// The agent that it is about.
    pub agent: String,
    /// The rule in TOML, with calls of the run as its examples.
    pub rule: String,
    /// The rule that asked, in front of which it would stand; absent where the default asked, and it would stand last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// How many decisions it explains.
    pub support: usize,
    /// The newest of the questions that were answered so, at most 20.
    #[schema(value_type = Vec<String>)]
    pub interactions: Vec<InteractionId>,
    /// When the first of the decisions was made.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Timestamp,
    /// When the last was.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Timestamp,
}

/// A learnt rule that matches nothing any more, because somebody decided otherwise.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SuspensionView {
    /// The rule.
    pub rule: String,
    /// Who decided otherwise.
    pub by: Actor,
    /// Which way.
    pub effect: Effect,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The question that was answered.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
}

impl From<Suspension> for SuspensionView {
    fn from(Suspension { rule, decision, .. }: Suspension) -> Self {
        let domain::Decision { interaction, effect, by, at } = decision;
        Self { rule, by, effect, at, interaction }
    }
}
