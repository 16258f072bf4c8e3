//! JSON views of audit entries, and of the key that signs the trail.

use domain::audit::chain::PublicKey;
use domain::audit::{Entry, How};
use domain::{Actor, Digest, EntryId, InteractionId, SessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An entry of the audit trail with its position in the chain.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "seq": 7, "id": "aud_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a07", "at": "2026-11-15T10:01:00Z", "type": "interaction.answered",
    "by": { "kind": "user", "name": "alice" },
    "how": { "wire": "http", "key": "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "from": "10.0.0.7" },
    "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "event": 3,
    "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01",
    "data": {
        "effect": "edit", "options": ["edit"],
        "action": { "tool": "deploy", "arguments": { "version": "1.4" } },
        "answer": { "effect": "edit", "arguments": { "version": "1.5" } }
    },
    "digest": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
    "hash": "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
}))]
pub struct AuditEntryView {
    /// Number of the entry in the chain of the tenant, from 1 without gaps. The chain includes the entries of other projects, so a list for
    /// one project can skip numbers.
    pub seq: u64,
    /// Identifier of the entry.
    #[schema(value_type = String)]
    pub id: EntryId,
    /// Time of the change.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Type of the change, a dotted name.
    #[serde(rename = "type")]
    pub name: String,
    /// Actor that made the change.
    pub by: Actor,
    /// Entry point, key and network address of the request.
    pub how: How,
    /// Identifier of the session in which the change was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// Number of the event of the session that records the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Identifier of the question that was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub interaction: Option<InteractionId>,
    /// Details of the change. For secrets it contains only their names.
    #[schema(value_type = Object)]
    pub data: Value,
    /// SHA-256 of the text of the entry, as an export contains it.
    pub digest: String,
    /// Hash of the entry in the chain.
    pub hash: String,
}

impl AuditEntryView {
    /// Builds the view of an entry from its position and hashes.
    #[must_use]
    pub fn new(seq: u64, entry: Entry, digest: Digest, hash: Digest) -> Self {
        let Entry { id, at, name, by, how, session, event, interaction, data, .. } = entry;
        let (digest, hash) = (digest.to_string(), hash.to_string());
        Self { seq, id, at, name, by, how, session, event, interaction, data, digest, hash }
    }
}

/// A page of the audit trail.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "entries": [{
    "seq": 1, "id": "aud_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "at": "2026-11-15T10:00:00Z", "type": "key.created",
    "by": { "kind": "system", "name": "holdpoint" }, "how": { "wire": "cli" },
    "data": { "key": "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "role": "agent", "user": "release-bot", "groups": [] },
    "digest": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
    "hash": "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
}], "next": "1" }))]
pub struct AuditPage {
    /// Entries of the page, oldest first.
    pub entries: Vec<AuditEntryView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Key that signs the checkpoints of the tenant's audit trail.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "2c26b46b68ffc68f", "algorithm": "ed25519",
    "public_key": "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
}))]
pub struct AuditKeyView {
    /// Identifier of the key, used in checkpoints.
    pub id: String,
    /// Algorithm of the signatures: `ed25519`.
    pub algorithm: String,
    /// Public key in hexadecimal.
    pub public_key: String,
}

impl From<PublicKey> for AuditKeyView {
    fn from(key: PublicKey) -> Self {
        Self { id: key.id(), algorithm: "ed25519".into(), public_key: key.to_string() }
    }
}
