//! Request bodies and views of grants: standing approvals, under which later actions that match run without another question.

use std::collections::BTreeMap;

use domain::grant::{Covers, RememberedArguments};
use domain::{Actor, Grant, GrantId, InteractionId, Remember, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Scope of a grant that an approval creates.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "scope": "session", "arguments": { "path": "/srv/notes/*", "content": "*" }, "uses": 20 }))]
pub struct RememberBody {
    /// Whether the grant holds in this session or in the whole project.
    pub scope: RememberScope,
    /// Arguments that the grant covers: `exact` for the arguments of this action, `any` for every call of the tool, or an object with a pattern for
    /// each named argument. Arguments that the object does not name must be equal to the arguments of this action.
    pub arguments: RememberArguments,
    /// Duration of the grant in seconds; unlimited if absent.
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub seconds: Option<i64>,
    /// Largest number of uses of the grant; unlimited if absent.
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub uses: Option<u64>,
}

/// Range in which a grant holds.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RememberScope {
    /// The session of the action.
    Session,
    /// The grant holds in the whole project.
    Project,
}

/// Arguments that a grant covers.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged, expecting = "`exact`, `any`, or a pattern for each named argument")]
pub enum RememberArguments {
    /// Covers the exact arguments or any arguments.
    Word(RememberWord),
    /// Patterns by name of the argument. A pattern must match the whole value.
    Named(BTreeMap<String, String>),
}

/// Coverage of arguments without patterns.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RememberWord {
    /// Exactly the arguments of this action.
    Exact,
    /// Any arguments of the tool.
    Any,
}

impl From<RememberBody> for Remember {
    fn from(RememberBody { scope, arguments, seconds, uses }: RememberBody) -> Self {
        let arguments = match arguments {
            RememberArguments::Word(RememberWord::Exact) => RememberedArguments::Exactly,
            RememberArguments::Word(RememberWord::Any) => RememberedArguments::Anything,
            RememberArguments::Named(named) => RememberedArguments::Pattern(named),
        };
        Self { project: matches!(scope, RememberScope::Project), arguments, seconds, uses }
    }
}

/// A grant: a standing approval. Later actions that match it run without another question.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "gra_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "agent": "helper", "tool": "write_file", "rule": "writing",
    "covers": "pattern", "patterns": { "path": "/srv/notes/*", "content": "*" }, "most_uses": 20, "uses": 3,
    "given_by": { "kind": "user", "name": "alice" }, "given_at": "2026-11-15T10:00:00Z",
    "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "in_force": true
}))]
pub struct GrantView {
    /// Identifier of the grant.
    #[schema(value_type = String)]
    pub id: GrantId,
    /// Identifier of the session in which the grant holds; absent if it holds in the whole project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// Name of the key of the agent for which the grant holds.
    pub agent: String,
    /// Name of the tool.
    pub tool: String,
    /// Name of the rule whose question was approved. The grant does not apply to questions of other rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Coverage of the grant: `exact`, `pattern` or `any`.
    pub covers: &'static str,
    /// Patterns by name of the argument, if `covers` is `pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<BTreeMap<String, String>>,
    /// Digest of the covered call, if `covers` is `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Time at which the grant ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// Largest number of uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_uses: Option<u64>,
    /// Number of uses so far.
    pub uses: u64,
    /// Person who gave the grant.
    pub given_by: Actor,
    /// Time at which the grant was given.
    #[schema(value_type = String, format = DateTime)]
    pub given_at: Timestamp,
    /// Identifier of the question whose answer created the grant.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// Whether the grant is in force.
    pub in_force: bool,
    /// Actor that revoked the grant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_by: Option<Actor>,
    /// Time of the revocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Timestamp>,
}

impl GrantView {
    /// Builds the view of a grant at the time `now`.
    #[must_use]
    pub fn new(grant: Grant, now: Timestamp) -> Self {
        let in_force = grant.is_in_force(now);
        let (covers, patterns, digest) = match grant.arguments {
            Covers::Exactly(digest) => ("exact", None, Some(digest)),
            Covers::Pattern { named, .. } => ("pattern", Some(named), None),
            Covers::Anything => ("any", None, None),
        };
        let (revoked_by, revoked_at) = grant.revoked.unzip();
        Self {
            id: grant.id,
            session: grant.session,
            agent: grant.agent,
            tool: grant.tool,
            rule: grant.rule,
            covers,
            patterns,
            digest,
            until: grant.until,
            most_uses: grant.most_uses,
            uses: grant.uses,
            given_by: grant.by,
            given_at: grant.at,
            interaction: grant.interaction,
            in_force,
            revoked_by,
            revoked_at,
        }
    }
}

/// A page of grants, newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "grants": [] }))]
pub struct GrantsPage {
    /// Grants on this page.
    pub grants: Vec<GrantView>,
    /// Cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub next: Option<GrantId>,
}
