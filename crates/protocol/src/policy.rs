//! Request bodies and views of the policy, its versions and its explanations.

use domain::{Actor, PolicyChange, PolicySource, Role, Timestamp, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{AudienceView, FloorRulingView, RulingView, SuspensionView};

/// Request to put a policy of the project in force.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "text": "version = 1\ndefault = \"ask\"\n", "base": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "reason": "reading needs no approval"
}))]
pub struct PolicyBody {
    /// Text of the policy in TOML.
    pub text: String,
    /// Version that the new policy replaces. If another version is in force, the request is refused and the policy stays unchanged.
    pub base: Option<String>,
    /// Reason for the change.
    pub reason: Option<String>,
}

/// Request to put the policy of the server in force again.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "the company's rules will do" }))]
pub struct PolicyResetBody {
    /// Reason for the change.
    pub reason: Option<String>,
}

/// Request to check a policy without putting it in force.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "version = 1\ndefault = \"ask\"\n" }))]
pub struct PolicyCheckBody {
    /// Text of the policy in TOML.
    pub text: String,
}

/// Request to enable or disable the policy.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "enabled": false, "reason": "a rehearsal without people" }))]
pub struct PolicyEnabledBody {
    /// Whether the policy asks people. Calls that the policy denies stay denied even if it is disabled.
    pub enabled: bool,
    /// Reason, which is recorded.
    pub reason: String,
}

/// Request to explain the ruling on a call.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "tool": "execute_command", "arguments": { "command": "git -C repo push" }, "agent": "helper" }))]
pub struct ExplainBody {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the tool.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Name of the person who would have started the session; the caller if absent.
    pub user: Option<String>,
    /// Role of the key that would propose the call; `agent` if absent.
    pub role: Option<Role>,
    /// Client of the key that would propose the call.
    pub client: Option<String>,
    /// Root directory of that key.
    pub root: Option<String>,
    /// Text of a policy to use instead of the one in force.
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
    /// Digest of the text.
    pub version: String,
    /// Origin of the policy.
    pub source: PolicySource,
    /// Whether the policy asks people.
    pub enabled: bool,
    /// Text of the policy in TOML.
    pub text: String,
    /// Actor of the latest change: the person who put the policy in force, enabled or disabled it, or the server if its own policy has
    /// changed since.
    pub changed_by: Actor,
    /// Time of the latest change.
    #[schema(value_type = String, format = DateTime)]
    pub changed_at: Timestamp,
    /// Reason for the latest change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Suspended rules: learnt rules that no longer match because a person has decided against them.
    pub suspended: Vec<SuspensionView>,
    /// Warnings about the policy for its author.
    pub warnings: Vec<FindingView>,
    /// Policy file of the server, if it was refused or could not be read. The preceding policy stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_file: Option<RefusedFileView>,
    /// Floor of the server: rules that this policy cannot loosen. Absent if the server has no floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorView>,
    /// Difference between the policy of this node and the one that was last put in force. Until they are equal, this node allows and starts
    /// no actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differs: Option<PolicyDiffersView>,
}

/// A policy file that could not be put in force.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RefusedFileView {
    /// Time since which the file is refused.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Errors in the file, or the reason why it could not be read.
    pub findings: Vec<FindingView>,
    /// Whether the server tries again every second, because the file could not be read or put in force but may be valid.
    pub retried: bool,
    /// Version that is in force in the meantime; absent if there is none.
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
    /// Digest of the text.
    pub version: String,
    /// Text of the floor in TOML.
    pub text: String,
    /// Warnings about the floor for its author.
    pub warnings: Vec<FindingView>,
    /// File of the floor, if it was refused or could not be read. The preceding floor stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_file: Option<RefusedFileView>,
}

/// Difference between the policy or floor of this node and the one that was last put in force.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "part": "policy", "here": "9f86d081…", "in_force": "2c26b46b…" }))]
pub struct PolicyDiffersView {
    /// Differing part: `policy` or `floor`.
    pub part: String,
    /// Version on this node; absent if the node has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<String>,
    /// Version that was last put in force; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<String>,
}

/// An error or a warning about a policy.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "file": "policy.toml", "line": 12, "column": 1, "code": "unknown_key", "severity": "error", "message": "`tool` is not a key"
}))]
pub struct FindingView {
    /// Name of the file, without its directory.
    pub file: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in the line, from 1.
    pub column: usize,
    /// Stable code of the finding.
    pub code: String,
    /// Severity: `error` refuses the policy, `warning` does not.
    pub severity: String,
    /// Description of the finding and of its remedy.
    pub message: String,
}

/// Result of a check of a policy.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "good": true, "findings": [] }))]
pub struct FindingsView {
    /// Whether the policy could be put in force.
    pub good: bool,
    /// All errors and warnings.
    pub findings: Vec<FindingView>,
}

/// Explanation of the ruling on a call.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "ruling": { "verdict": "ask", "rule": "commands", "reason": "it runs a command", "policy": "9f86d081…" },
    "considered": [{ "rule": "commands", "line": 20, "verdict": "ask", "pattern": "execute_command", "fit": "matched" }],
    "parsed": { "shell": { "commands": [{ "program": "git", "subcommand": "push" }] } },
    "parts": [{ "kind": "run", "start": 0, "end": 8, "text": "git push", "verdict": "ask", "rule": "commands" }]
}))]
pub struct ExplanationView {
    /// Ruling of the policy on the call.
    pub ruling: RulingView,
    /// All evaluated rules in order, up to the one that decided.
    #[schema(value_type = Vec<Object>)]
    pub considered: Value,
    /// Facts that the parsers derived from the arguments.
    #[schema(value_type = Object)]
    pub parsed: Value,
    /// Ruling on each part of the call, in the order of its text. The ruling on the call is the strictest of them, and at most the floor's.
    pub parts: Vec<PartRulingView>,
    /// All reasons to ask, if the verdict is to ask. Each has its own audience, and all audiences must be satisfied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<AskView>,
    /// Explanation by the floor of the server; absent if no floor is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorExplanationView>,
}

/// Ruling on one part of a call, such as one command of a command line or one file that it writes.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "kind": "run", "start": 14, "end": 29, "text": "docker push …", "verdict": "ask",
    "nearest": { "rule": "build", "message": "no pattern in `commands` covers `docker push …`", "why": { "term": "command", "command": "docker push …" } }
}))]
pub struct PartRulingView {
    /// Kind of the part: `call`, `run`, `write`, `variable`, `directory`, `address` or `doubt`.
    pub kind: &'static str,
    /// First byte of the part in the text of the command; absent for a call without a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// First byte after the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
    /// The part in a few words; empty for the call as a whole.
    pub text: String,
    /// Verdict on the part.
    pub verdict: Verdict,
    /// Rule that gave the verdict; absent for the default of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Allowing rule that came closest; absent if the part is allowed or no rule came close.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestRuleView>,
}

/// Allowing rule that came closest to a match, and why it does not match.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NearestRuleView {
    /// Name of the rule.
    pub rule: String,
    /// First term of the rule that is false, in words.
    pub message: String,
    /// That term as data: its kind in `term`, with the values that it names.
    #[schema(value_type = Object)]
    pub why: Value,
}

/// Explanation of the ruling of the server's floor on a call.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FloorExplanationView {
    /// Ruling of the floor.
    pub ruling: FloorRulingView,
    /// All evaluated rules of the floor in order, up to the one that decided.
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
    /// Name of the rule; absent if the default of the policy asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Cause: `matches`, `fails` (the expression of the rule could not be evaluated) or `default`.
    pub because: &'static str,
    /// Error of the evaluation, if `because` is `fails`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// People who may answer, and how many of them must agree.
    pub audience: AudienceView,
}

/// One change of the policy. A text that is put in force a second time is a second change.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PolicyVersionView {
    /// Digest of the text.
    pub version: String,
    /// Text of the policy in TOML.
    pub text: String,
    /// Origin of the policy.
    pub source: PolicySource,
    /// Actor that put the policy in force.
    pub by: Actor,
    /// Time of the change.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Version that was in force before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Reason, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of the change in the project, from 1.
    pub number: u64,
}

impl PolicyVersionView {
    /// Builds the view of a change from its number and the text that it put in force.
    #[must_use]
    pub fn new(number: u64, change: PolicyChange, text: String) -> Self {
        let PolicyChange { version, source, by, at, before, reason } = change;
        Self { version, text, source, by, at, before, reason, number }
    }
}

/// A page of the changes of the policy, newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "versions": [{
    "version": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "text": "version = 1\ndefault = \"ask\"\n",
    "source": "project", "by": { "kind": "user", "name": "ada" }, "at": "2026-11-15T10:00:00Z",
    "reason": "reading needs no approval", "number": 8
}], "next": "8" }))]
pub struct PolicyVersionsPage {
    /// Changes on this page.
    pub versions: Vec<PolicyVersionView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
