//! Request bodies and views of kept secrets. No view contains the value of a secret.

use domain::{Actor, KeptSecret, SecretId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Request to store a secret for a hosted agent.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agent": "scribe", "name": "OPENAI_KEY", "value": "sk-…" }))]
pub struct NewSecret {
    /// Name of the hosted agent. An agent with a key of this name does not receive the secret.
    pub agent: String,
    /// Name of the secret, as `model.key_secret` or a secret question of the agent refers to it.
    pub name: String,
    /// Value of the secret, at most 64 KiB.
    pub value: String,
}

/// A secret that is kept for later sessions of an agent. The API returns its value only as part of an answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "sec_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "agent": "release-bot", "driven": false, "name": "REGISTRY_TOKEN",
    "kept_by": { "kind": "user", "name": "alice" }, "kept_at": "2026-11-15T10:00:00Z", "used_at": "2026-11-16T08:30:00Z"
}))]
pub struct SecretView {
    /// Identifier of the secret. Storing a secret of this name again creates a new identifier.
    #[schema(value_type = String)]
    pub id: SecretId,
    /// Name of the agent that receives the secret: the name of its key, or the name of the hosted agent.
    pub agent: String,
    /// Whether the secret belongs to the hosted agent of that name (`true`) or to the key of that name (`false`). Absent if an older
    /// version of the server stored the secret without this information. No agent receives such a secret; people are asked again.
    #[serde(rename = "driven", skip_serializing_if = "Option::is_none")]
    pub hosted: Option<bool>,
    /// Name of the secret.
    pub name: String,
    /// Person who gave the secret and chose to keep it.
    pub kept_by: Actor,
    /// Time at which the secret was stored.
    #[schema(value_type = String, format = DateTime)]
    pub kept_at: Timestamp,
    /// Time at which the secret last answered a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub used_at: Option<Timestamp>,
}

/// A page of the kept secrets of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "secrets": [] }))]
pub struct SecretsPage {
    /// Secrets of the page, newest first.
    pub secrets: Vec<SecretView>,
    /// Cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<KeptSecret> for SecretView {
    fn from(secret: KeptSecret) -> Self {
        let KeptSecret { id, agent, hosted, name, kept_by, kept_at, used_at, .. } = secret;
        Self { id, agent, hosted, name, kept_by, kept_at, used_at }
    }
}
