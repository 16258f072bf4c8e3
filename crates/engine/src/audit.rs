//! Chains, signs, lists and exports the audit trail of a tenant.
//!
//! `chain.rs` links each entry into the hash chain of its tenant and signs the end of the chain with the key that `key.rs` derives. `list.rs` reads
//! pages of entries, and `export.rs` writes a sealed file. Entries are not written here: use cases append them with `Work::append_audit` and
//! `Work::record_event` (`run/transaction.rs`). The offline check of an exported file is `domain::audit::verify`. Start with `chain.rs`.

pub(crate) mod chain;
pub(crate) mod export;
pub(crate) mod key;
pub(crate) mod list;
