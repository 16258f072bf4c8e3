//! The seal of an export: a signed statement about the whole file, made at the time of the export.
//!
//! Hashes and checkpoints prove the content between two checkpoints. The seal proves where the file begins, where it ends and which entries
//! it shows. Without it, a file that was cut at a checkpoint could not be told from a complete one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::chain::{PublicKey, Signer};
use super::export::Header;
use crate::{Digest, ProjectId};

/// Value of [`Seal::shown`] in an export that shows every project.
pub const ALL: &str = "all";

/// Last line of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// Tenant of the chain.
    pub tenant: String,
    /// Number of the first entry.
    pub from: u64,
    /// Number of the last entry; `from` - 1 if there are no entries.
    pub to: u64,
    /// Hash of the last entry.
    pub hash: String,
    /// Project whose entries are shown, or [`ALL`].
    pub shown: String,
    /// Number of entries in the export.
    pub entries: u64,
    /// Number of entries that are shown only by their digest.
    pub digests_only: u64,
    /// Time of the export.
    pub at: String,
    /// SHA-256 of all bytes before this line.
    pub digest: String,
    /// Identifier of the key that signed the seal.
    pub key: String,
    /// Signature in hexadecimal digits.
    pub signature: String,
}

impl Seal {
    /// Text that is signed.
    fn statement(&self) -> String {
        let Self { tenant, from, to, hash, shown, entries, digests_only, at, digest, .. } = self;
        format!(
            "holdpoint audit seal\n{tenant}\n{from}\n{to}\n{hash}\n{shown}\n{entries}\n{digests_only}\n{at}\n{digest}"
        )
    }

    /// Whether the seal has a valid signature of this key.
    #[must_use]
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        self.key == key.id() && key.has_signed(&self.statement(), &self.signature)
    }
}

/// Running counts and hash of an export. The writer and the reader use the same type, so that they count alike.
#[derive(Debug, Clone)]
pub(super) struct SealCounts {
    tenant: String,
    from: u64,
    last: (u64, String),
    entries: u64,
    digests_only: u64,
    bytes: Sha256,
}

impl SealCounts {
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

    /// Adds the bytes of a line of any kind.
    pub(super) fn line(&mut self, line: &[u8]) {
        self.bytes.update(line);
    }

    /// Counts an entry of the export.
    pub(super) fn entry(&mut self, seq: u64, hash: String, digest_alone: bool) {
        self.last = (seq, hash);
        self.entries += 1;
        self.digests_only += u64::from(digest_alone);
    }

    /// Creates the signed seal.
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

    /// Whether the seal agrees with the counts and the hash.
    pub(super) fn agrees(&self, seal: &Seal) -> bool {
        let said = (&seal.tenant, seal.from, seal.to, &seal.hash, seal.entries, seal.digests_only);
        let counted = (&self.tenant, self.from, self.last.0, &self.last.1, self.entries, self.digests_only);
        said == counted && seal.digest == digest(self.bytes.clone())
    }
}

fn digest(bytes: Sha256) -> String {
    Digest::from_bytes(bytes.finalize().into()).to_string()
}
