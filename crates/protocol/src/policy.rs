//! The policy on the wire.

use domain::{Actor, PolicyChange, PolicySource, Role, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{AudienceView, FloorRulingView, RulingView, SuspensionView};

/// Puts the project's own policy in force.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "text": "version = 1\ndefault = \"ask\"\n", "base": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "reason": "reading needs no approval"
}))]
pub struct PolicyBody {
    /// The policy, in TOML.
    pub text: String,
    /// The version that it replaces: if another one is in force by then, nothing is changed.
    pub base: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// Puts the server's policy in force again.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "the company's rules will do" }))]
pub struct PolicyResetBody {
    /// Why.
    pub reason: Option<String>,
}

/// A policy to look at, without putting it in force.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "version = 1\ndefault = \"ask\"\n" }))]
pub struct PolicyCheckBody {
    /// The policy, in TOML.
    pub text: String,
}

/// Switches the policy on or off.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "enabled": false, "reason": "a rehearsal without people" }))]
pub struct PolicyEnabledBody {
    /// Whether people are asked. What the policy denies stays denied either way.
    pub enabled: bool,
    /// Why; it is recorded.
    pub reason: String,
}

/// A call to explain.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "tool": "execute_command", "arguments": { "command": "git -C repo push" }, "agent": "helper" }))]
pub struct ExplainBody {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// The agent's name.
    pub agent: Option<String>,
    /// Who would have started the session; the caller if absent.
    pub user: Option<String>,
    /// The role of the key that would propose; `agent` if absent.
    pub role: Option<Role>,
    /// A policy to try in place of the one in force.
    pub text: Option<String>,
}

/// The policy in force.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "version": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "source": "builtin", "enabled": true,
    "text": "version = 1\ndefault = \"ask\"\n", "changed_by": { "kind": "system", "name": "holdpoint" },
    "changed_at": "2026-11-15T10:00:00Z", "suspended": [], "warnings": []
}))]
pub struct PolicyView {
    /// The digest of its text.
    pub version: String,
    /// Where it comes from.
    pub source: PolicySource,
    /// Whether people are asked.
    pub enabled: bool,
    /// The policy, in TOML.
    pub text: String,
    /// Who changed something last: put it in force, switched it off or on, or the server where its own policy is another one since.
    pub changed_by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub changed_at: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The learnt rules that match nothing any more, because somebody decided otherwise.
    pub suspended: Vec<SuspensionView>,
    /// What its author should know about it.
    pub warnings: Vec<FindingView>,
    /// The server's policy file, where it was refused or could not be read yet, and the one before stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_file: Option<RefusedFileView>,
    /// The floor of the server, where there is one: rules that this policy cannot loosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorView>,
    /// How this node differs from what was put in force last. It permits and starts nothing meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differs: Option<PolicyDiffersView>,
}

/// A policy file that is not in force as it is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RefusedFileView {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What is wrong with it, or why it could not be read.
    pub findings: Vec<FindingView>,
    /// Whether the file may be good: it could not be read or put in force, and that is tried again every second.
    pub retried: bool,
    /// The version that is in force meanwhile; absent where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<String>,
}

/// The floor of the server.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "version": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "text": "version = 1\n[[rule]]\nname = \"never\"\ntools = [\"drop_database\"]\nverdict = \"deny\"\n"
}))]
pub struct FloorView {
    /// The digest of its text.
    pub version: String,
    /// The floor, in TOML.
    pub text: String,
    /// What its author should know about it.
    pub warnings: Vec<FindingView>,
    /// Its file, where it was refused or could not be read yet, and the floor before stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_file: Option<RefusedFileView>,
}

/// A node that has another policy, or another floor, than the one that was put in force last.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "part": "policy", "here": "9f86d081…", "in_force": "2c26b46b…" }))]
pub struct PolicyDiffersView {
    /// `policy` or `floor`.
    pub part: String,
    /// The version that the node has; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<String>,
    /// The version that was put in force last; absent where that is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<String>,
}

/// One thing found in a policy.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "file": "policy.toml", "line": 12, "column": 1, "code": "unknown_key", "severity": "error", "message": "`tool` is not a key"
}))]
pub struct FindingView {
    /// The file's name, without its directory.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// A stable name for this sort of finding.
    pub code: String,
    /// `error` refuses the policy, `warning` does not.
    pub severity: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}

/// What was found in a policy.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "good": true, "findings": [] }))]
pub struct FindingsView {
    /// Whether it could be put in force.
    pub good: bool,
    /// Everything that was found.
    pub findings: Vec<FindingView>,
}

/// How a call went through the rules.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "ruling": { "verdict": "ask", "rule": "commands", "reason": "it runs a command", "policy": "9f86d081…" },
    "considered": [{ "rule": "commands", "line": 20, "verdict": "ask", "pattern": "execute_command", "fit": "matched" }],
    "parsed": { "shell": { "commands": [{ "program": "git", "subcommand": "push" }] } }
}))]
pub struct ExplanationView {
    /// What came out.
    pub ruling: RulingView,
    /// Every rule that was looked at, in order, up to the one that spoke.
    #[schema(value_type = Vec<Object>)]
    pub considered: Value,
    /// What the parsers made of the arguments.
    #[schema(value_type = Object)]
    pub parsed: Value,
    /// Everything that asks, where the ruling is to ask: each has its own people, and all of them must be satisfied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<AskView>,
    /// The part of the server's floor, where one is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorExplanationView>,
}

/// How a call went through the rules of the server's floor.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FloorExplanationView {
    /// What the floor says.
    pub ruling: FloorRulingView,
    /// Every rule of the floor that was looked at, in order, up to the one that spoke.
    #[schema(value_type = Vec<Object>)]
    pub considered: Value,
}

/// One reason to ask about a call.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "rule": "large", "because": "fails", "error": "there is no `amount`",
    "audience": { "groups": ["finance"], "quorum": 2, "distinct_groups": false, "four_eyes": true }
}))]
pub struct AskView {
    /// The rule's name; absent where the default of the policy asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// `matches`, `fails` (its expression could not be evaluated) or `default`.
    pub because: &'static str,
    /// Why its expression could not be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Who may answer, and how many must.
    pub audience: AudienceView,
}

/// One change of the policy. A text that is put in force again is another one.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PolicyVersionView {
    /// The digest of its text.
    pub version: String,
    /// The policy, in TOML.
    pub text: String,
    /// Where it came from.
    pub source: PolicySource,
    /// Who put it in force.
    pub by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The version that was in force until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Why, where a reason was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which change of the project it is, counted from 1.
    pub number: u64,
}

impl PolicyVersionView {
    /// A change, with its number and the text that is in force by it.
    #[must_use]
    pub fn new(number: u64, change: PolicyChange, text: String) -> Self {
        let PolicyChange { version, source, by, at, before, reason } = change;
        Self { version, text, source, by, at, before, reason, number }
    }
}

/// The changes of the policy, the newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "versions": [{
    "version": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "text": "version = 1\ndefault = \"ask\"\n",
    "source": "project", "by": { "kind": "user", "name": "ada" }, "at": "2026-11-15T10:00:00Z",
    "reason": "reading needs no approval", "number": 8
}], "next": "8" }))]
pub struct PolicyVersionsPage {
    /// The changes.
    pub versions: Vec<PolicyVersionView>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
