//! How a chain stands in a file: JSON Lines. First a header, then the entries in order with the checkpoints between them,
//! then a checkpoint that covers the last entry, and at the end a seal over all of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::{ChainHead, Checkpoint, PublicKey, Signer};
use super::seal::{Seal, Tally};
use crate::{Digest, ProjectId, TenantId};

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
    pub fn new(tenant: TenantId, key: &PublicKey, (after, hash): (u64, Digest), last: &ChainHead) -> Self {
        Self {
            format: FORMAT.into(),
            tenant: tenant.to_string(),
            public_key: key.to_string(),
            after,
            hash: hash.to_string(),
            last: last.seq,
        }
    }
}

/// How an entry is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryForm<'a> {
    /// By its text.
    Text(&'a str),
    /// By its digest: it is somebody else's, and still holds its place.
    DigestAlone,
    /// As one that is not kept as it was written: whoever exports it has found its text or its columns changed.
    Changed,
}

/// Writes an export line by line, and seals what it has written.
#[derive(Debug)]
pub struct Writer {
    tally: Tally,
    shown: Option<ProjectId>,
}

impl Writer {
    /// Begins an export that shows the entries of one project, or of all; gives the header's line.
    #[must_use]
    pub fn begin(header: &Header, shown: Option<ProjectId>) -> (Self, String) {
        let line = ended(header);
        (Self { tally: Tally::begin(header, line.as_bytes()), shown }, line)
    }

    /// The line of an entry.
    pub fn entry(&mut self, seq: u64, digest: Digest, hash: Digest, shown: EntryForm<'_>) -> String {
        let more = match shown {
            EntryForm::Text(text) => format!(",\"entry\":{text}"),
            EntryForm::DigestAlone => String::new(),
            EntryForm::Changed => ",\"changed\":true".to_owned(),
        };
        self.tally.entry(seq, hash.to_string(), !matches!(shown, EntryForm::Text(_)));
        self.written(format!("{{\"seq\":{seq},\"digest\":\"{digest}\",\"hash\":\"{hash}\"{more}}}\n"))
    }

    /// The line of a checkpoint.
    pub fn checkpoint(&mut self, checkpoint: &Checkpoint) -> String {
        self.written(ended(&CheckpointLine { checkpoint: checkpoint.clone() }))
    }

    /// The last line: the seal.
    #[must_use]
    pub fn end(self, by: &Signer, at: Timestamp) -> String {
        seal_line(&self.tally.sealed(by, self.shown, at))
    }

    fn written(&mut self, line: String) -> String {
        self.tally.line(line.as_bytes());
        line
    }
}

/// The line of a seal, in its one spelling.
pub(super) fn seal_line(seal: &Seal) -> String {
    ended(&SealLine { seal: seal.clone() })
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
    #[serde(default)]
    pub(super) changed: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointLine {
    pub(super) checkpoint: Checkpoint,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SealLine {
    pub(super) seal: Seal,
}
