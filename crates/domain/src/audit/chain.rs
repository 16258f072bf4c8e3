//! The chain of a tenant's entries: each linked to the one before by a hash, and checkpoints that are signed (Ed25519).
//!
//! Both are made over plain text, so that anybody can check them with a few lines of any language.

use std::fmt::{self, Display};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Digest, TenantId, hex};

/// What the first entry of a chain is linked to.
pub const BEGINNING: Digest = Digest::from_bytes([0; 32]);

/// The hash of an entry in its place: over the tenant, its number, the hash before it and its own digest.
#[must_use]
pub fn link(tenant: impl Display, seq: u64, before: impl Display, digest: impl Display) -> Digest {
    Digest::of_bytes(format!("holdpoint audit entry\n{tenant}\n{seq}\n{before}\n{digest}").as_bytes())
}

/// Where a chain ends, and how much of it is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead {
    /// The number of the last entry.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
    /// The number of the last entry that a checkpoint covers.
    pub signed_seq: u64,
    /// When that checkpoint was made.
    pub signed_at: Option<Timestamp>,
}

impl Default for ChainHead {
    fn default() -> Self {
        Self { seq: 0, hash: BEGINNING, signed_seq: 0, signed_at: None }
    }
}

/// A signed statement that a chain had this hash at this number.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The number of the last entry that it covers.
    pub seq: u64,
    /// The hash of that entry.
    pub hash: String,
    /// The number that the checkpoint before it covers; 0 if it is the first.
    pub previous: u64,
    /// When it was made.
    pub at: String,
    /// Which key has signed it.
    pub key: String,
    /// The signature, in hexadecimal.
    pub signature: String,
}

impl Checkpoint {
    /// What is signed.
    fn statement(&self, tenant: &str) -> String {
        let Self { seq, hash, previous, at, .. } = self;
        format!("holdpoint audit checkpoint\n{tenant}\n{seq}\n{hash}\n{previous}\n{at}")
    }

    /// Whether the owner of a key has signed it for a tenant.
    #[must_use]
    pub fn signed_by(&self, key: &PublicKey, tenant: &str) -> bool {
        self.key == key.id() && key.has_signed(&self.statement(tenant), &self.signature)
    }
}

/// Signs checkpoints and seals. Neither printed nor serialised.
pub struct Signer(SigningKey);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(..)")
    }
}

impl Signer {
    /// The signer whose secret half is these bytes.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    /// Its public half.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs the end of a chain.
    #[must_use]
    pub fn checkpoint(&self, tenant: TenantId, head: &ChainHead, now: Timestamp) -> Checkpoint {
        let mut checkpoint = Checkpoint {
            seq: head.seq,
            hash: head.hash.to_string(),
            previous: head.signed_seq,
            at: now.to_string(),
            key: self.public_key().id(),
            signature: String::new(),
        };
        checkpoint.signature = self.sign(&checkpoint.statement(&tenant.to_string()));
        checkpoint
    }

    /// Signs a statement, in hexadecimal.
    pub(super) fn sign(&self, statement: &str) -> String {
        hex(&self.0.sign(statement.as_bytes()).to_bytes())
    }
}

/// The public half of a signing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads 64 hexadecimal digits, in lower case.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        VerifyingKey::from_bytes(&unhex(text)?).ok().map(Self)
    }

    /// Names the key: the beginning of its digest.
    #[must_use]
    pub fn id(&self) -> String {
        Digest::of_bytes(self.0.as_bytes()).to_string()[..16].to_owned()
    }

    /// Whether a signature, in hexadecimal, is of this key and this statement.
    pub(super) fn has_signed(&self, statement: &str, signature: &str) -> bool {
        let Some(signature) = unhex::<64>(signature) else { return false };
        self.0.verify_strict(statement.as_bytes(), &Signature::from_bytes(&signature)).is_ok()
    }
}

impl Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.0.as_bytes()))
    }
}

/// Reads hexadecimal in the one spelling that is written: another spelling is another text.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit)) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
