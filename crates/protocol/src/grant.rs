//! Approvals that hold for more than one action, on the wire.

use std::collections::BTreeMap;

use domain::grant::{Covers, RememberedArguments};
use domain::{Actor, Grant, GrantId, InteractionId, Remember, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Lets an approval hold for more than this one action.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "scope": "session", "arguments": { "path": "/srv/notes/*", "content": "*" }, "uses": 20 }))]
pub struct RememberBody {
    /// In this session, or in the whole project.
    pub scope: RememberScope,
    /// `exact` for these arguments, `any` for the tool as a whole, or a pattern for each named argument, the rest as they are.
    pub arguments: RememberArguments,
    /// For how long; without end if absent.
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub seconds: Option<i64>,
    /// How often; without end if absent.
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub uses: Option<u64>,
}

/// How far an approval reaches.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RememberScope {
    /// This session.
    Session,
    /// The whole project.
    Project,
}

/// Which arguments an approval is good for.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged, expecting = "`exact`, `any`, or a pattern for each named argument")]
pub enum RememberArguments {
    /// In one word.
    Word(RememberWord),
    /// A pattern for the whole of each named argument.
    Named(BTreeMap<String, String>),
}

/// Which arguments, in one word.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RememberWord {
    /// These and no others.
    Exact,
    /// Any.
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

/// An approval that holds for more than one action.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "gra_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "agent": "helper", "tool": "write_file", "rule": "writing",
    "covers": "pattern", "patterns": { "path": "/srv/notes/*", "content": "*" }, "most_uses": 20, "uses": 3,
    "given_by": { "kind": "user", "name": "alice" }, "given_at": "2026-11-15T10:00:00Z",
    "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "in_force": true
}))]
pub struct GrantView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: GrantId,
    /// The session that it holds in; the whole project if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// The agent that it holds for, by the name of its key.
    pub agent: String,
    /// The tool.
    pub tool: String,
    /// The rule that asked; what another rule asks about is asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// `exact`, `pattern` or `any`.
    pub covers: &'static str,
    /// The patterns, where it covers by pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<BTreeMap<String, String>>,
    /// The digest of the action, where it covers just one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// From when on it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// How often it may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_uses: Option<u64>,
    /// How often it was.
    pub uses: u64,
    /// Who gave it.
    pub given_by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub given_at: Timestamp,
    /// With the answer to which question.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// Whether it is in force.
    pub in_force: bool,
    /// Who took it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_by: Option<Actor>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Timestamp>,
}

impl GrantView {
    /// What is shown of a grant at this moment.
    #[must_use]
    pub fn new(grant: Grant, now: Timestamp) -> Self {
        let in_force = grant.in_force(now);
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

/// A page of grants, the newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "grants": [] }))]
pub struct GrantsPage {
    /// The grants.
    pub grants: Vec<GrantView>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub next: Option<GrantId>,
}
