//! Kept secrets on the wire: everything but their values.

use domain::{Actor, KeptSecret, SecretId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A secret for an agent that this server runs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agent": "scribe", "name": "OPENAI_KEY", "value": "sk-…" }))]
pub struct NewSecret {
    /// The agent's name. A key of the same name is never given it.
    pub agent: String,
    /// The secret's name, as `model.key_secret` or a secret question of the agent names it.
    pub name: String,
    /// Its value, at most 64 KiB.
    pub value: String,
}

/// A secret that a person has kept for an agent's later sessions. Its value leaves only with an answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "sec_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "agent": "release-bot", "driven": false, "name": "REGISTRY_TOKEN",
    "kept_by": { "kind": "user", "name": "alice" }, "kept_at": "2026-11-15T10:00:00Z", "used_at": "2026-11-16T08:30:00Z"
}))]
pub struct SecretView {
    /// Its id; one that is kept again gets a new one.
    #[schema(value_type = String)]
    pub id: SecretId,
    /// The agent that is given it, by the name of its key; or of the agent that this server runs.
    pub agent: String,
    /// Whether it is for the agent of that name that this server runs (`true`) or for a key of that name (`false`). Absent where a version before
    /// this one did not say: then nobody is given it, and people are asked again.
    #[serde(rename = "driven", skip_serializing_if = "Option::is_none")]
    pub hosted: Option<bool>,
    /// Its name.
    pub name: String,
    /// Who gave it and said that it be kept.
    pub kept_by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub kept_at: Timestamp,
    /// When it last answered a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub used_at: Option<Timestamp>,
}

/// The kept secrets of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "secrets": [] }))]
pub struct SecretsPage {
    /// The newest first.
    pub secrets: Vec<SecretView>,
    /// Where the next page begins, if there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<KeptSecret> for SecretView {
    fn from(secret: KeptSecret) -> Self {
        let KeptSecret { id, agent, hosted, name, kept_by, kept_at, used_at, .. } = secret;
        Self { id, agent, hosted, name, kept_by, kept_at, used_at }
    }
}
