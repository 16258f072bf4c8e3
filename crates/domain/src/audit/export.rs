//! File format of an exported chain: JSON Lines with a header, the entries in order with the checkpoints between them, a checkpoint that
//! covers the last entry, and a seal over the whole file.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::{ChainHead, Checkpoint, PublicKey, Signer};
use super::seal::{Seal, SealCounts};
use crate::{Digest, ProjectId, TenantId};

/// Name of the format.
pub const FORMAT: &str = "holdpoint-audit-1";

/// First line of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Name of the format, [`FORMAT`].
    pub format: String,
    /// Tenant of the chain.
    pub tenant: String,
    /// Public key that verifies the checkpoints.
    pub public_key: String,
    /// Number of the entry before the first exported one.
    pub after: u64,
    /// Hash to which the first exported entry is linked.
    pub hash: String,
    /// Number of the last exported entry.
    pub last: u64,
}

impl Header {
    /// Header of a part of a chain.
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

/// Form in which an entry is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryForm<'a> {
    /// The entry with its text.
    Text(&'a str),
    /// Only with its digest, because it belongs to another project. It still keeps its position in the chain.
    DigestAlone,
    /// Marked as changed, because the exporting server found that its stored text or columns were altered.
    Changed,
}

/// Writes an export line by line, and seals it at the end.
#[derive(Debug)]
pub struct Writer {
    tally: SealCounts,
    shown: Option<ProjectId>,
}

impl Writer {
    /// Begins an export of the entries of one project, or of all projects. Returns the line of the header.
    #[must_use]
    pub fn begin(header: &Header, shown: Option<ProjectId>) -> (Self, String) {
        let line = ended(header);
        (Self { tally: SealCounts::begin(header, line.as_bytes()), shown }, line)
    }

    /// Line of an entry.
    pub fn entry(&mut self, seq: u64, digest: Digest, hash: Digest, shown: EntryForm<'_>) -> String {
        let more = match shown {
            EntryForm::Text(text) => format!(",\"entry\":{text}"),
            EntryForm::DigestAlone => String::new(),
            EntryForm::Changed => ",\"changed\":true".to_owned(),
        };
        self.tally.entry(seq, hash.to_string(), !matches!(shown, EntryForm::Text(_)));
        self.tally_line(format!("{{\"seq\":{seq},\"digest\":\"{digest}\",\"hash\":\"{hash}\"{more}}}\n"))
    }

    /// Line of a checkpoint.
    pub fn checkpoint(&mut self, checkpoint: &Checkpoint) -> String {
        self.tally_line(ended(&CheckpointLine { checkpoint: checkpoint.clone() }))
    }

    /// Last line: the seal.
    #[must_use]
    pub fn end(self, by: &Signer, at: Timestamp) -> String {
        seal_line(&self.tally.sealed(by, self.shown, at))
    }

    fn tally_line(&mut self, line: String) -> String {
        self.tally.line(line.as_bytes());
        line
    }
}

/// Line of a seal in its only valid spelling.
pub(super) fn seal_line(seal: &Seal) -> String {
    ended(&SealLine { seal: seal.clone() })
}

fn ended(line: &impl Serialize) -> String {
    // The line contains only strings and numbers, so serialisation cannot fail. A reader would refuse an empty line.
    serde_json::to_string(line).unwrap_or_default() + "\n"
}

/// Line of an entry as it is read.
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
