//! The policy on the wire.

use domain::{Actor, PolicyChange, PolicySource, Role, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{AudienceView, RulingView, SuspensionView};

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
    /// The server's policy file, where it was refused and the one before stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_file: Option<RefusedFileView>,
}

/// A policy file that was refused.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RefusedFileView {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What is wrong with it.
    pub findings: Vec<FindingView>,
}

/// One thing found in a policy.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "file": "policy.toml", "line": 12, "column": 1, "code": "unknown_key", "severity": "error", "message": "`tool` is not a key"
}))]
pub struct FindingView {
    /// The file.
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
