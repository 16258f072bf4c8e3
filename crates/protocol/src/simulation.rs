//! Drafts of a policy on the wire: held against what was proposed before, and judged beside the one in force.

use domain::{Actor, Difference, Effect, InteractionId, SessionId, Shadow, Timestamp, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::RulingView;

/// A draft to hold against what was proposed before.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "version = 1\ndefault = \"ask\"\n", "limit": 1000, "since": "2026-11-01T00:00:00Z" }))]
pub struct SimulateBody {
    /// The draft, in TOML.
    pub text: String,
    /// At most so many actions, the newest; 1,000 if absent.
    #[schema(minimum = 1, maximum = 10_000)]
    pub limit: Option<u32>,
    /// No actions from before this moment.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
}

/// What a draft would have made of what was proposed.
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
    /// The digest of the draft.
    pub version: String,
    /// How many actions it was held against.
    pub judged: u64,
    /// Whether there are older ones that it was not held against.
    pub more: bool,
    /// How often it says something else than was said.
    pub changes: Vec<ChangeCountView>,
    /// The newest of those, at most 100.
    pub changed: Vec<ChangedView>,
    /// How often it would allow what people held back, or deny what they approved.
    pub contradictions: u64,
    /// The newest of those, at most 100.
    pub contradicted: Vec<ChangedView>,
}

/// How often one verdict would be another.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ChangeCountView {
    /// What was said.
    pub from: String,
    /// What the draft says; `failed` if it could not say anything in time.
    pub to: String,
    /// How often.
    pub count: u64,
}

/// An action of which a draft says something else.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ChangedView {
    /// Its session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The agent's name for it.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The agent.
    pub agent: String,
    /// When it was proposed.
    #[schema(value_type = String, format = DateTime)]
    pub proposed_at: Timestamp,
    /// What was said.
    pub before: RulingView,
    /// What the draft says.
    pub after: RulingView,
    /// What people decided about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionView>,
}

/// What people decided about an action.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DecisionView {
    /// The question that they answered.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// Which way.
    pub effect: Effect,
    /// Who; with a quorum, who completed it.
    pub by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

impl From<domain::Decision> for DecisionView {
    fn from(domain::Decision { interaction, effect, by, at }: domain::Decision) -> Self {
        Self { interaction, effect, by, at }
    }
}

impl ChangeCountView {
    /// How often the second would be said instead of the first.
    #[must_use]
    pub fn new(from: Verdict, to: Verdict, count: u64) -> Self {
        Self { from: from.name().to_owned(), to: to.name().to_owned(), count }
    }
}

/// Has a draft judged beside the policy in force.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "version = 1\ndefault = \"ask\"\n", "reason": "would this do?" }))]
pub struct ShadowBody {
    /// The draft, in TOML.
    pub text: String,
    /// Why.
    pub reason: Option<String>,
}

/// A draft that is judged beside the policy in force, and where it differs.
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
    /// The digest of the draft.
    pub version: String,
    /// The draft, in TOML.
    pub text: String,
    /// Who wants to know.
    pub set_by: Actor,
    /// Since when it is judged.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often it would have said something else than was said.
    pub changes: Vec<ChangeCountView>,
    /// The newest of those, at most 100.
    pub recent: Vec<DifferenceView>,
}

impl ShadowView {
    /// What is shown of a draft with what came of it.
    #[must_use]
    pub fn new(shadow: Shadow, text: String, changes: Vec<ChangeCountView>, recent: Vec<Difference>) -> Self {
        let Shadow { version, by, at, reason, .. } = shadow;
        let recent = recent.into_iter().map(Into::into).collect();
        Self { version, text, set_by: by, since: at, reason, changes, recent }
    }
}

/// An action on which a draft would have said something else.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DifferenceView {
    /// Its session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The agent's name for it.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// When it was proposed.
    #[schema(value_type = String, format = DateTime)]
    pub proposed_at: Timestamp,
    /// What was said, and holds.
    pub given: RulingView,
    /// What the draft would have said; absent if it failed, or took too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drafted: Option<RulingView>,
}

impl From<Difference> for DifferenceView {
    fn from(Difference { session, call, tool, at, given, drafted }: Difference) -> Self {
        Self { session, call_id: call, tool, proposed_at: at, given: given.into(), drafted: drafted.map(Into::into) }
    }
}
