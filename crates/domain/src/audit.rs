//! The audit trail: an append-only record of every change with its actor, its entry point and its details, chained by hashes and signed at
//! intervals.
//!
//! [`Entry`] is one change. [`chain`] links the entries of a tenant by hashes and signs checkpoints. [`export`] writes a chain to a file
//! that ends with a [`seal`]. [`verify`] reads such a file and names the first entry that does not fit.

pub mod chain;
pub mod details;
pub mod export;
pub mod kind;
pub mod seal;
pub mod verify;

mod finding;

pub use details::AuditDetails;
pub(crate) use details::{of_answer, of_delivery, of_question};
pub use kind::{AuditDraft, AuditKind};

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit::kind::DEFINITION_ADDED;
use crate::definition::redact;
use crate::{
    Actor, Caller, Credential, Digest, EntryId, EntryPoint, EventDraft, InteractionId, KeyId, Scope, SessionId, VisitId,
};

/// Size in bytes above which the largest parts of an entry are replaced by their digests.
const MOST_BYTES: usize = 64 * 1024;
/// Size in bytes above which a part is replaced by its digest, if the entry is too large.
const MOST_PART: usize = 4 * 1024;

/// An entry of the audit trail: one recorded change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Identifier of the entry.
    pub id: EntryId,
    /// Tenant and project of the change.
    #[serde(flatten)]
    pub scope: Scope,
    /// Time of the transaction that made the change.
    pub at: Timestamp,
    /// Type of the change, a dotted name.
    #[serde(rename = "type")]
    pub name: String,
    /// Actor that made the change.
    pub by: Actor,
    /// Entry point, credential and network address of the request.
    pub how: How,
    /// Session in which the change was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Number of the event of the session that records the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Question that was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<InteractionId>,
    /// Details of the change: the question and the answer, including arguments and forms. Never a secret value or a resume point.
    pub data: Value,
}

/// Entry point, credential and network address of a request.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct How {
    /// Entry point of the request.
    #[serde(rename = "wire")]
    pub entry_point: EntryPoint,
    /// Identifier of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub key: Option<KeyId>,
    /// Identifier of the visit, if a person was signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub visit: Option<VisitId>,
    /// Network address of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub from: Option<IpAddr>,
}

impl How {
    /// Entry point, credential and network address of a caller.
    #[must_use]
    pub const fn of(caller: &Caller) -> Self {
        let (key, visit) = match caller.credential {
            Credential::Key(key) => (Some(key), None),
            Credential::Visit(visit) => (None, Some(visit)),
            Credential::Worker => (None, None),
        };
        Self { entry_point: caller.entry_point, key, visit, from: caller.from }
    }

    /// An entry point without a key.
    #[must_use]
    pub const fn by(entry_point: EntryPoint) -> Self {
        Self { entry_point, key: None, visit: None, from: None }
    }
}

/// An entry with its stored text and the digest of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Entry from which the text was made.
    pub entry: Entry,
    /// The entry as JSON. Exactly this text is stored, exported and digested, so that a different spelling of a number cannot change the
    /// digest.
    pub text: String,
    /// SHA-256 of the text.
    pub digest: Digest,
}

impl Entry {
    /// Serialises the entry. If it is too large, its largest parts are replaced by their digests.
    #[must_use]
    pub fn written(mut self) -> Written {
        let mut text = format_entry(&self);
        if text.len() > MOST_BYTES {
            shorten(&mut self.data, 0);
            text = format_entry(&self);
        }
        let digest = Digest::of_bytes(text.as_bytes());
        Written { entry: self, text, digest }
    }

    /// Removes the operator's private parts of a definition, which entries from earlier versions contain. Returns whether there were any.
    /// The payload is not read as an [`AuditKind`], so that an entry of any earlier form is redacted.
    pub fn redact(&mut self) -> bool {
        let Some(body) = self.data.get_mut("definition").filter(|_| self.name == DEFINITION_ADDED) else {
            return false;
        };
        let before = body.clone();
        redact(body);
        *body != before
    }
}

fn format_entry(entry: &Entry) -> String {
    // Serialisation cannot fail, because all keys are strings and all numbers are JSON numbers. If it did, the verification would find an
    // empty entry.
    serde_json::to_string(entry).unwrap_or_default()
}

/// Replaces large parts by their digest and size, down to the third level.
fn shorten(value: &mut Value, depth: u8) {
    let Value::Object(fields) = value else { return };
    for part in fields.values_mut() {
        let text = part.to_string();
        if text.len() <= MOST_PART {
            continue;
        }
        if depth < 2 && part.is_object() {
            shorten(part, depth + 1);
        }
        if part.to_string().len() > MOST_PART {
            *part = json!({ "digest": Digest::of_bytes(text.as_bytes()), "bytes": text.len() });
        }
    }
}

/// The part of an audit entry that a draft determines.
#[derive(Debug, Clone, PartialEq)]
pub struct Particulars {
    /// Type of the change, a dotted name.
    pub name: &'static str,
    /// Actor that made the change. `None` for the actor of the request.
    pub by: Option<Actor>,
    /// Details of the change.
    pub data: Value,
}

impl Particulars {
    fn new(name: &'static str, by: Option<Actor>, mut data: Value, details: Option<&AuditDetails>) -> Self {
        if let (Value::Object(data), Some(Value::Object(more))) = (&mut data, details.map(AuditDetails::data)) {
            data.extend(more);
        }
        Self { name, by, data }
    }

    /// Builds the entry of a change outside a session. `originator` made the change unless the particulars name somebody else.
    #[must_use]
    pub fn into_entry(self, id: EntryId, scope: Scope, at: Timestamp, originator: &Actor, how: &How) -> Entry {
        let Self { name, by, data } = self;
        Entry {
            id,
            scope,
            at,
            name: name.to_owned(),
            by: by.unwrap_or_else(|| originator.clone()),
            how: how.clone(),
            session: None,
            event: None,
            interaction: None,
            data,
        }
    }
}

impl From<&EventDraft> for Particulars {
    fn from(draft: &EventDraft) -> Self {
        Self::new(draft.kind.name(), draft.by.clone(), draft.audit_data(), draft.details.as_ref())
    }
}

impl From<&AuditDraft> for Particulars {
    fn from(draft: &AuditDraft) -> Self {
        Self::new(draft.kind.name(), draft.by.clone(), draft.kind.data(), draft.details.as_ref())
    }
}
