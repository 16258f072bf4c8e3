//! Request bodies and views of rules that are learnt from decisions of people.

use domain::policy::Suspension;
use domain::{Actor, Effect, InteractionId, SessionId, Timestamp, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::DecisionView;

/// Request to add a suggested rule to the policy of the project.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "we always say yes to this" }))]
pub struct AdoptBody {
    /// Reason for the change of the policy. If absent, the reason states the number of decisions that the rule was learnt from.
    pub reason: Option<String>,
}

/// Request to lift the suspension of a rule, so that it matches again.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "the rejection was a mistake" }))]
pub struct LiftBody {
    /// Reason, which is recorded.
    pub reason: String,
}

/// Suggested rules that agree with recent decisions of people.
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
    /// Number of evaluated decisions.
    pub decisions: usize,
    /// Whether there are older decisions that were not evaluated.
    pub more: bool,
    /// Suggested rules, those with the most support first.
    pub suggestions: Vec<LearntView>,
    /// Rules that are not suggested because some decisions contradict them.
    pub held_back: Vec<HeldBackView>,
}

/// A rule that is not suggested: equal decisions about similar calls, and the decisions that contradict them.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HeldBackView {
    /// Verdict of the rule.
    pub verdict: Verdict,
    /// Name of the tool.
    pub tool: String,
    /// Name of the agent.
    pub agent: String,
    /// Number of decisions that support the rule.
    pub support: usize,
    /// Number of decisions that contradict the rule.
    pub against: usize,
    /// The newest contradicting decisions, at most 20.
    pub counter_examples: Vec<CounterExampleView>,
}

/// An action with a decision that contradicts the rule.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CounterExampleView {
    /// Identifier of the session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The agent's own identifier of the call; absent if the agent asked a question about the call without proposing an action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Decision that contradicts the rule.
    pub decision: DecisionView,
}

/// A suggested rule that agrees with a series of equal decisions.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LearntView {
    /// Name of the new rule.
    pub id: String,
    /// Verdict of the rule.
    pub verdict: Verdict,
    /// Name of the tool that the rule matches.
    pub tool: String,
    /// Name of the agent that the rule matches.
    pub agent: String,
    /// The rule in TOML, with calls of the series as its examples.
    pub rule: String,
    /// Name of the rule that asked. The new rule is inserted before it. Absent if the default of the policy asked; the new rule is then the
    /// last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Number of decisions that support the rule.
    pub support: usize,
    /// Identifiers of the newest answered questions of the series, at most 20.
    #[schema(value_type = Vec<String>)]
    pub interactions: Vec<InteractionId>,
    /// Time of the first decision.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Timestamp,
    /// Time of the last decision.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Timestamp,
}

/// A suspended rule: a learnt rule that no longer matches because a person has decided against it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SuspensionView {
    /// Name of the rule.
    pub rule: String,
    /// Person who decided against the rule.
    pub by: Actor,
    /// Effect of that answer.
    pub effect: Effect,
    /// Time of that answer.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Identifier of the answered question.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
}

impl From<Suspension> for SuspensionView {
    fn from(Suspension { rule, decision, .. }: Suspension) -> Self {
        let domain::Decision { interaction, effect, by, at } = decision;
        Self { rule, by, effect, at, interaction }
    }
}
