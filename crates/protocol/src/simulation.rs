//! Request bodies and views of policy drafts: simulation against past actions, and shadow evaluation beside the policy in force.

use domain::{Actor, Difference, Effect, InteractionId, SessionId, Shadow, Timestamp, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::RulingView;

/// Request to simulate a policy draft against past actions.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "version = 1\ndefault = \"ask\"\n", "limit": 1000, "since": "2026-11-01T00:00:00Z" }))]
pub struct SimulateBody {
    /// Text of the draft in TOML.
    pub text: String,
    /// Largest number of actions, counted from the newest; 1,000 if absent.
    #[schema(minimum = 1, maximum = 10_000)]
    pub limit: Option<u32>,
    /// Time of the oldest action to include.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
}

/// Result of a simulation.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "version": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "judged": 120, "more": false,
    "changes": [{ "from": "ask", "to": "allow", "count": 1 }],
    "changed": [{
        "session": "ses_01998f2c-4d00-7000-8000-000000000001", "call_id": "call-7", "tool": "write_file", "agent": "helper",
        "proposed_at": "2026-11-15T10:00:00Z",
        "before": { "verdict": "ask", "rule": "ask-before-changing", "reason": "It changes something.", "policy": "3c9d…" },
        "after": { "verdict": "allow", "rule": "open", "reason": "Go on.", "policy": "9f86…" },
        "decision": {
            "interaction": "int_01998f2c-4d00-7000-8000-000000000002", "effect": "reject",
            "by": { "kind": "user", "name": "alice" }, "at": "2026-11-15T10:01:00Z"
        }
    }],
    "contradictions": 1, "contradicted": []
}))]
pub struct SimulationView {
    /// Digest of the draft.
    pub version: String,
    /// Number of actions that the draft was evaluated on.
    pub judged: u64,
    /// Whether there are older actions that were not evaluated.
    pub more: bool,
    /// Number of changed verdicts for each pair of old and new verdict.
    pub changes: Vec<ChangeCountView>,
    /// The newest changed actions, at most 100.
    pub changed: Vec<ChangedView>,
    /// Number of actions that the draft would allow although people rejected them, or deny although people approved them.
    pub contradictions: u64,
    /// The newest contradicting actions, at most 100.
    pub contradicted: Vec<ChangedView>,
}

/// Number of actions whose verdict changes from one value to another.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ChangeCountView {
    /// Verdict that was recorded when the action was proposed.
    pub from: String,
    /// Verdict of the draft; `failed` if the draft could not be evaluated in time.
    pub to: String,
    /// Number of actions with this change of the verdict.
    pub count: u64,
}

/// An action on which the draft rules differently.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ChangedView {
    /// Identifier of the session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The agent's own identifier of the call.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Name of the agent.
    pub agent: String,
    /// Time of the proposal.
    #[schema(value_type = String, format = DateTime)]
    pub proposed_at: Timestamp,
    /// Ruling that was recorded when the action was proposed.
    pub before: RulingView,
    /// Ruling of the draft.
    pub after: RulingView,
    /// Decision of people on the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionView>,
}

/// Decision of people on an action.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DecisionView {
    /// Identifier of the question that was answered.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// Effect of the answer.
    pub effect: Effect,
    /// Person who decided; with a quorum, the person whose answer completed it.
    pub by: Actor,
    /// Time of the decision.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

impl From<domain::Decision> for DecisionView {
    fn from(domain::Decision { interaction, effect, by, at }: domain::Decision) -> Self {
        Self { interaction, effect, by, at }
    }
}

impl ChangeCountView {
    /// Builds the count of actions whose verdict changes from `from` to `to`.
    #[must_use]
    pub fn new(from: Verdict, to: Verdict, count: u64) -> Self {
        Self { from: from.name().to_owned(), to: to.name().to_owned(), count }
    }
}

/// Request to evaluate a draft in shadow, beside the policy in force.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "version = 1\ndefault = \"ask\"\n", "reason": "would this do?" }))]
pub struct ShadowBody {
    /// Text of the draft in TOML.
    pub text: String,
    /// Reason for the shadow evaluation.
    pub reason: Option<String>,
}

/// A draft that is evaluated in shadow, with its differences from the policy in force.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "version": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "text": "version = 1\ndefault = \"ask\"\n",
    "set_by": { "kind": "user", "name": "root" }, "since": "2026-11-15T10:00:00Z", "reason": "would this do?",
    "changes": [{ "from": "ask", "to": "allow", "count": 1 }, { "from": "deny", "to": "failed", "count": 1 }],
    "recent": [{
        "session": "ses_01998f2c-4d00-7000-8000-000000000001", "call_id": "call-7", "tool": "write_file",
        "proposed_at": "2026-11-15T10:00:00Z",
        "given": { "verdict": "ask", "rule": "ask-before-changing", "reason": "It changes something.", "policy": "3c9d…" },
        "drafted": { "verdict": "allow", "rule": "open", "reason": "Go on.", "policy": "9f86…" }
    }]
}))]
pub struct ShadowView {
    /// Digest of the draft.
    pub version: String,
    /// Text of the draft in TOML.
    pub text: String,
    /// Person who set the draft.
    pub set_by: Actor,
    /// Time since which the draft is evaluated.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// Reason for the shadow evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of different verdicts for each pair of given and drafted verdict.
    pub changes: Vec<ChangeCountView>,
    /// The newest differences, at most 100.
    pub recent: Vec<DifferenceView>,
}

impl ShadowView {
    /// Builds the view of a shadow draft with its differences.
    #[must_use]
    pub fn new(shadow: Shadow, text: String, changes: Vec<ChangeCountView>, recent: Vec<Difference>) -> Self {
        let Shadow { version, by, at, reason, .. } = shadow;
        let recent = recent.into_iter().map(Into::into).collect();
        Self { version, text, set_by: by, since: at, reason, changes, recent }
    }
}

/// An action on which the draft rules differently from the policy in force.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DifferenceView {
    /// Identifier of the session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The agent's own identifier of the call.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Time of the proposal.
    #[schema(value_type = String, format = DateTime)]
    pub proposed_at: Timestamp,
    /// Ruling of the policy in force, which applies.
    pub given: RulingView,
    /// Ruling of the draft; absent if its evaluation failed or took too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drafted: Option<RulingView>,
}

impl From<Difference> for DifferenceView {
    fn from(Difference { session, call, tool, at, given, drafted }: Difference) -> Self {
        Self { session, call_id: call, tool, proposed_at: at, given: given.into(), drafted: drafted.map(Into::into) }
    }
}
