//! The audit trail on the wire.

use domain::audit::chain::PublicKey;
use domain::audit::{Entry, How};
use domain::{Actor, Digest, EntryId, InteractionId, SessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Something that was done, in its place in the chain.
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
    /// Its number in the chain of the tenant, from 1 without gaps; what other projects did has numbers too.
    pub seq: u64,
    /// Its id.
    #[schema(value_type = String)]
    pub id: EntryId,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What was done, as a dotted name.
    #[serde(rename = "type")]
    pub name: String,
    /// Who did it.
    pub by: Actor,
    /// How, with which key, and from where.
    pub how: How,
    /// The session that it was done in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// The number of the session's event that tells of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// The question that it was done to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub interaction: Option<InteractionId>,
    /// The particulars. Of secrets only the names.
    #[schema(value_type = Object)]
    pub data: Value,
    /// SHA-256 of the entry's text as an export shows it.
    pub digest: String,
    /// Its hash in the chain.
    pub hash: String,
}

impl AuditEntryView {
    /// An entry in its place.
    #[must_use]
    pub fn new(seq: u64, entry: Entry, digest: Digest, hash: Digest) -> Self {
        let Entry { id, at, name, by, how, session, event, interaction, data, .. } = entry;
        let (digest, hash) = (digest.to_string(), hash.to_string());
        Self { seq, id, at, name, by, how, session, event, interaction, data, digest, hash }
    }
}

/// Some of the audit trail.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "entries": [{
    "seq": 1, "id": "aud_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "at": "2026-11-15T10:00:00Z", "type": "key.created",
    "by": { "kind": "system", "name": "holdpoint" }, "how": { "wire": "cli" },
    "data": { "key": "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "role": "agent", "user": "release-bot", "groups": [] },
    "digest": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
    "hash": "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
}], "next": "1" }))]
pub struct AuditPage {
    /// The oldest first.
    pub entries: Vec<AuditEntryView>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The key that signs the checkpoints of the tenant's audit trail.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "2c26b46b68ffc68f", "algorithm": "ed25519",
    "public_key": "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
}))]
pub struct AuditKeyView {
    /// Names it in checkpoints.
    pub id: String,
    /// How it signs.
    pub algorithm: String,
    /// Its public half, in hexadecimal.
    pub public_key: String,
}

impl From<PublicKey> for AuditKeyView {
    fn from(key: PublicKey) -> Self {
        Self { id: key.id(), algorithm: "ed25519".into(), public_key: key.to_string() }
    }
}
