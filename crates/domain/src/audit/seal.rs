//! The seal of an export: a signed statement about the whole file, made when it was exported.
//!
//! Hashes and checkpoints prove what stands between two of them. Where a file begins, where it ends and what it shows is the
//! seal's to say: without it, a file that was cut at a checkpoint would look like one that was never longer.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::chain::{PublicKey, Signer};
use super::export::Header;
use crate::{Digest, ProjectId};

/// What [`Seal::shown`] says of an export that shows every project.
pub const ALL: &str = "all";

/// The last line of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// Whose chain.
    pub tenant: String,
    /// The number of the first entry.
    pub from: u64,
    /// The number of the last entry; the one before `from` where there is none.
    pub to: u64,
    /// The hash of the last entry.
    pub hash: String,
    /// The project whose entries are shown, or [`ALL`].
    pub shown: String,
    /// How many entries.
    pub entries: u64,
    /// How many of them are shown by their digest alone.
    pub digests_only: u64,
    /// When it was exported.
    pub at: String,
    /// SHA-256 of every byte before this line.
    pub digest: String,
    /// Which key has signed it.
    pub key: String,
    /// The signature, in hexadecimal.
    pub signature: String,
}

impl Seal {
    /// What is signed.
    fn statement(&self) -> String {
        let Self { tenant, from, to, hash, shown, entries, digests_only, at, digest, .. } = self;
        format!(
            "holdpoint audit seal\n{tenant}\n{from}\n{to}\n{hash}\n{shown}\n{entries}\n{digests_only}\n{at}\n{digest}"
        )
    }

    /// Whether the owner of a key has signed it.
    #[must_use]
    pub fn signed_by(&self, key: &PublicKey) -> bool {
        self.key == key.id() && key.has_signed(&self.statement(), &self.signature)
    }
}

/// What an export contains so far, counted alike by whoever writes it and whoever reads it.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    tenant: String,
    from: u64,
    last: (u64, String),
    entries: u64,
    digests_only: u64,
    bytes: Sha256,
}

impl Tally {
    /// Begins with a header and its line.
    pub(super) fn begin(header: &Header, line: &[u8]) -> Self {
        Self {
            tenant: header.tenant.clone(),
            from: header.after.saturating_add(1),
            last: (header.after, header.hash.clone()),
            entries: 0,
            digests_only: 0,
            bytes: Sha256::new_with_prefix(line),
        }
    }

    /// Goes on with a line, of whatever kind.
    pub(super) fn line(&mut self, line: &[u8]) {
        self.bytes.update(line);
    }

    /// Counts an entry.
    pub(super) fn entry(&mut self, seq: u64, hash: String, digest_alone: bool) {
        self.last = (seq, hash);
        self.entries += 1;
        self.digests_only += u64::from(digest_alone);
    }

    /// Signs it.
    pub(super) fn sealed(self, by: &Signer, shown: Option<ProjectId>, at: Timestamp) -> Seal {
        let mut seal = Seal {
            tenant: self.tenant,
            from: self.from,
            to: self.last.0,
            hash: self.last.1,
            shown: shown.map_or_else(|| ALL.to_owned(), |project| project.to_string()),
            entries: self.entries,
            digests_only: self.digests_only,
            at: at.to_string(),
            digest: digest(self.bytes),
            key: by.public_key().id(),
            signature: String::new(),
        };
        seal.signature = by.sign(&seal.statement());
        seal
    }

    /// Whether a seal says just this.
    pub(super) fn agrees(&self, seal: &Seal) -> bool {
        let said = (&seal.tenant, seal.from, seal.to, &seal.hash, seal.entries, seal.digests_only);
        let counted = (&self.tenant, self.from, self.last.0, &self.last.1, self.entries, self.digests_only);
        said == counted && seal.digest == digest(self.bytes.clone())
    }
}

fn digest(bytes: Sha256) -> String {
    Digest::from_bytes(bytes.finalize().into()).to_string()
}
