//! Audit trail of a tenant: listing, hash chain, signatures and export.
//!
//! Use cases append entries with `Work::append_audit` and `Work::record_event`. Afterwards, `chain.rs` links each entry into the hash
//! chain of its tenant and signs the end of the chain. `export.rs` writes a sealed file, and `domain::audit::verify` checks such a file
//! offline. `key.rs` derives the signing key, `list.rs` reads pages of entries. Start with `chain.rs`.

pub(crate) mod chain;
pub(crate) mod export;
pub(crate) mod key;
pub(crate) mod list;
