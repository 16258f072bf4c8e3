//! The audit trail: read, chained, signed, exported.
//!
//! Use cases append entries with `Work::append_audit` and `Work::record_event`. `chain.rs` gives each entry its place in the tenant's hash chain
//! afterwards, and signs the end of the chain. `export.rs` writes a sealed file; `domain::audit::verify` checks one offline. Start with `chain.rs`.

pub(crate) mod chain;
pub(crate) mod export;
pub(crate) mod key;
pub(crate) mod list;
