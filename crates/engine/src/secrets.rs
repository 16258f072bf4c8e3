//! Values that are sealed: keys, secret answers, kept secrets.
//!
//! `vault.rs` seals and unseals values under data keys, `master.rs` holds the master keys, `rotate.rs` replaces both. `answer_values.rs` seals what a
//! person enters, `kept.rs` manages values that are kept for an agent, `redact.rs` hides them in text. Permits and fingerprints are made by `unlock.rs`.
//! Start with `vault.rs`.

pub(crate) mod answer_values;
pub(crate) mod kept;
pub(crate) mod master;
pub(crate) mod redact;
pub(crate) mod rotate;
pub(crate) mod unlock;
pub(crate) mod vault;

pub(crate) use answer_values::{answer_from_kept, seal, seal_answer_values};
