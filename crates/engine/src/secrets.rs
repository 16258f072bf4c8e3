//! Seals secret values under data keys, and data keys under master keys.
//!
//! `vault.rs` seals and unseals values under data keys, `master.rs` holds the master keys, and `rotate.rs` replaces both. `answer_values.rs` seals
//! the values that a person enters, `kept.rs` manages secrets that are kept for an agent, and `redact.rs` hides secret values in text. `unlock.rs`
//! checks the master key and computes keyed digests. Questions are not changed here: `interactions/close.rs` calls this room when an answer is saved, and
//! `interactions/kept_answer.rs` answers with kept secrets. Start with `vault.rs`.

pub(crate) mod answer_values;
pub(crate) mod kept;
pub(crate) mod master;
pub(crate) mod redact;
pub(crate) mod rotate;
pub(crate) mod unlock;
pub(crate) mod vault;

pub(crate) use answer_values::{seal, seal_answer_values};
