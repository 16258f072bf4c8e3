//! Request bodies and views of keys.

use domain::{AgentEnvironment, Key, KeyId, Role, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::example;

/// Request to create a key.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "role": "operator", "user": "alice", "groups": ["operations"] }))]
pub struct KeyBody {
    /// Role of the key.
    pub role: Role,
    /// Name in which the key acts; the identifier of the key if absent. The name of a user account requires `join_account`.
    pub user: Option<String>,
    /// Groups of that user.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Lifetime of the key in seconds; unlimited if absent.
    #[schema(minimum = 1)]
    pub expires_in_seconds: Option<i64>,
    /// Whether the key belongs to the user of the project whose account has the name `user`. If `false` or absent, the name of an account
    /// is refused.
    #[serde(default)]
    pub join_account: bool,
    /// Client for which the key is made, such as `claude-code`: the policy then knows the tools of that client. A list of clients is in the
    /// guide about policies. Without it, the kinds of arguments are guessed from their names.
    pub client: Option<String>,
    /// Absolute path of the directory in which the agent works. Relative patterns of the policy begin there.
    pub root: Option<String>,
}

/// A key, without its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "role": "operator", "user": "alice", "groups": ["operations"],
    "created_at": "2026-11-15T10:00:00Z", "last_used_at": "2026-11-15T10:05:00Z"
}))]
pub struct KeyView {
    /// Identifier of the key.
    #[schema(value_type = String)]
    pub id: KeyId,
    /// Role of the key.
    pub role: Role,
    /// Name in which the key acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Groups of that user.
    pub groups: Vec<String>,
    /// Client for which the key was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Directory in which the agent works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Time at which the key was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time at which the key expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// Time at which the key was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Timestamp>,
    /// Time of the last use, rounded to the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Timestamp>,
}

/// A new key with its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "role": "operator", "user": "alice", "groups": ["operations"],
    "created_at": "2026-11-15T10:00:00Z", "secret": "hp_0199c7a46a107cc2b0de7b7c3a3c0a01_…"
}))]
pub struct KeyCreatedView {
    /// Key that was created.
    #[serde(flatten)]
    pub key: KeyView,
    /// The credential itself, shown only in this reply.
    pub secret: String,
}

/// A page of the keys of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::keys)]
pub struct KeysPage {
    /// Keys of the page, newest first.
    pub keys: Vec<KeyView>,
    /// Cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<Key> for KeyView {
    fn from(key: Key) -> Self {
        let Key { id, role, user, groups, environment, created_at, expires_at, revoked_at, last_used_at, .. } = key;
        let AgentEnvironment { client, root } = environment;
        Self { id, role, user, groups, client, root, created_at, expires_at, revoked_at, last_used_at }
    }
}
