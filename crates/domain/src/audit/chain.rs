//! The hash chain of a tenant's audit entries, and its signed checkpoints (Ed25519).
//!
//! Hashes and signatures are computed over plain text, so that a short program in any language can verify them.

use std::fmt::{self, Display};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Digest, TenantId, hex, read_hex};

/// Hash to which the first entry of a chain is linked.
pub const BEGINNING: Digest = Digest::from_bytes([0; 32]);

/// Hash of an entry in the chain, over the tenant, the number of the entry, the preceding hash and the digest of the entry.
#[must_use]
pub fn link(tenant: impl Display, seq: u64, before: impl Display, digest: impl Display) -> Digest {
    Digest::of_bytes(format!("holdpoint audit entry\n{tenant}\n{seq}\n{before}\n{digest}").as_bytes())
}

/// End of a chain, and the part of it that is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead {
    /// Number of the last entry.
    pub seq: u64,
    /// Hash of the last entry.
    pub hash: Digest,
    /// Number of the last entry that a checkpoint covers.
    pub signed_seq: u64,
    /// Time of that checkpoint.
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
    /// Number of the last entry that the checkpoint covers.
    pub seq: u64,
    /// Hash of that entry.
    pub hash: String,
    /// Number that the preceding checkpoint covers; 0 for the first checkpoint.
    pub previous: u64,
    /// Time of the checkpoint.
    pub at: String,
    /// Identifier of the key that signed the checkpoint.
    pub key: String,
    /// Signature in hexadecimal digits.
    pub signature: String,
}

impl Checkpoint {
    /// Text that is signed.
    fn statement(&self, tenant: &str) -> String {
        let Self { seq, hash, previous, at, .. } = self;
        format!("holdpoint audit checkpoint\n{tenant}\n{seq}\n{hash}\n{previous}\n{at}")
    }

    /// Whether the checkpoint has a valid signature of this key for this tenant.
    #[must_use]
    pub fn is_signed_by(&self, key: &PublicKey, tenant: &str) -> bool {
        self.key == key.id() && key.has_signed(&self.statement(tenant), &self.signature)
    }
}

/// Signs checkpoints and seals. Its secret is neither printed nor serialised.
pub struct Signer(SigningKey);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(..)")
    }
}

impl Signer {
    /// Creates the signer with this secret key.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    /// Public key of the signer.
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

    /// Signature of a statement in hexadecimal.
    pub(super) fn sign(&self, statement: &str) -> String {
        hex(&self.0.sign(statement.as_bytes()).to_bytes())
    }
}

/// Public part of a signing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads 64 hexadecimal digits in lower case.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        VerifyingKey::from_bytes(&unhex(text)?).ok().map(Self)
    }

    /// Identifier of the key: the beginning of its digest.
    #[must_use]
    pub fn id(&self) -> String {
        Digest::of_bytes(self.0.as_bytes()).to_string()[..16].to_owned()
    }

    /// Whether a hexadecimal signature was made with this key over this statement.
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

/// Reads lower-case hexadecimal only. A signature in another spelling would make two different texts valid.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.bytes().any(|digit| digit.is_ascii_uppercase()) {
        return None;
    }
    read_hex(text, &mut bytes)?;
    Some(bytes)
}
