//! Keys on the wire.

use domain::{Key, KeyId, Role, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::example;

/// Makes a key.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "role": "operator", "user": "alice", "groups": ["operations"] }))]
pub struct KeyBody {
    /// What it may do.
    pub role: Role,
    /// In whose name it acts; its own id if absent. The name of an account needs `join_account`.
    pub user: Option<String>,
    /// The groups of that user.
    #[serde(default)]
    pub groups: Vec<String>,
    /// How long it is good for; for ever if absent.
    #[schema(minimum = 1)]
    pub expires_in_seconds: Option<i64>,
    /// Whether it is a key of the person of the project whose account has the name in `user`. Without it such a name is taken.
    #[serde(default)]
    pub join_account: bool,
}

/// A key without its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "role": "operator", "user": "alice", "groups": ["operations"],
    "created_at": "2026-11-15T10:00:00Z", "last_used_at": "2026-11-15T10:05:00Z"
}))]
pub struct KeyView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: KeyId,
    /// What it may do.
    pub role: Role,
    /// In whose name it acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The groups of that user.
    pub groups: Vec<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// From when on it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Timestamp>,
}

/// A key that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "role": "operator", "user": "alice", "groups": ["operations"],
    "created_at": "2026-11-15T10:00:00Z", "secret": "hp_0199c7a46a107cc2b0de7b7c3a3c0a01_…"
}))]
pub struct KeyCreatedView {
    /// What it is.
    #[serde(flatten)]
    pub key: KeyView,
    /// The credential itself, shown this once.
    pub secret: String,
}

/// The keys of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::keys)]
pub struct KeysPage {
    /// The newest first.
    pub keys: Vec<KeyView>,
    /// Where the next page begins, if there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<Key> for KeyView {
    fn from(key: Key) -> Self {
        let Key { id, role, user, groups, created_at, expires_at, revoked_at, last_used_at, .. } = key;
        Self { id, role, user, groups, created_at, expires_at, revoked_at, last_used_at }
    }
}
