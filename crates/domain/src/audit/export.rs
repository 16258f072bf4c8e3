//! How a chain stands in a file: JSON Lines. First a header, then the entries in order with the checkpoints between them,
//! and at the end a checkpoint that covers the last entry.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::{Checkpoint, Head, PublicKey};
use crate::{Digest, TenantId};

/// The name of this form.
pub const FORMAT: &str = "holdpoint-audit-1";

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// Whose chain.
    pub tenant: String,
    /// The public half of the key that signs its checkpoints.
    pub public_key: String,
    /// The first entry is the one after this.
    pub after: u64,
    /// The hash that the first entry is linked to.
    pub hash: String,
    /// The last entry.
    pub last: u64,
}

impl Header {
    /// The header of a part of a chain.
    #[must_use]
    pub fn new(tenant: TenantId, key: &PublicKey, (after, hash): (u64, Digest), last: &Head) -> Self {
        Self {
            format: FORMAT.into(),
            tenant: tenant.to_string(),
            public_key: key.to_string(),
            after,
            hash: hash.to_string(),
            last: last.seq,
        }
    }

    /// The line, with its end.
    #[must_use]
    pub fn line(&self) -> String {
        ended(self)
    }
}

/// The line of an entry. Without its text only its digest is shown: it is somebody else's, and still holds its place.
#[must_use]
pub fn entry_line(seq: u64, digest: Digest, hash: Digest, text: Option<&str>) -> String {
    match text {
        Some(text) => format!("{{\"seq\":{seq},\"digest\":\"{digest}\",\"hash\":\"{hash}\",\"entry\":{text}}}\n"),
        None => format!("{{\"seq\":{seq},\"digest\":\"{digest}\",\"hash\":\"{hash}\"}}\n"),
    }
}

/// The line of a checkpoint.
#[must_use]
pub fn checkpoint_line(checkpoint: &Checkpoint) -> String {
    ended(&CheckpointLine { checkpoint: checkpoint.clone() })
}

fn ended(line: &impl Serialize) -> String {
    // Strings and numbers: this cannot fail, and an empty line would be refused by whoever reads it.
    serde_json::to_string(line).unwrap_or_default() + "\n"
}

/// A line of an entry as it is read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryLine<'a> {
    pub(super) seq: u64,
    pub(super) digest: &'a str,
    pub(super) hash: &'a str,
    #[serde(borrow)]
    pub(super) entry: Option<&'a RawValue>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointLine {
    pub(super) checkpoint: Checkpoint,
}
