//! Runs use cases: transactions, effects after the commit, waiting and timers.
//!
//! A use case gets a `Work` (`transaction.rs`): the store's transaction, the caller, the time, ids and the effects to perform after the commit.
//! `idempotency.rs` runs a command once for each idempotency key. `effects.rs` rings bells and reports metrics after the commit. `timers.rs` and
//! `housekeeping.rs` are the two background loops. Rules about questions, actions and people are in other rooms. Start with `transaction.rs`, then
//! `effects.rs`.

pub(crate) mod bell;
pub(crate) mod effects;
pub(crate) mod fair_gate;
pub(crate) mod gates;
pub(crate) mod heavy_work;
pub(crate) mod housekeeping;
pub(crate) mod idempotency;
pub(crate) mod ids;
pub(crate) mod lineage;
pub(crate) mod open_counts;
pub(crate) mod pages;
pub(crate) mod read_batch;
pub(crate) mod slots;
pub(crate) mod telemetry;
pub(crate) mod timers;
pub(crate) mod transaction;
pub(crate) mod wait;
