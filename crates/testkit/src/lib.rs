//! Tools that tests share: a clock that is set by hand, a store whose process dies as a random seed decides, a store that
//! counts what is read, and a private PostgreSQL server.
//!
//! Only `[dev-dependencies]` may name this crate. The simulations that use [`CrashStore`] are in
//! `crates/engine/tests/it/simulation`, with models and tools in `crates/agent/tests/it/simulation`.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod clock;
mod counting_store;
mod crash_store;
mod crash_tx;
mod directory;
mod forward;
pub mod postgres;
mod random;
mod seeds;
mod side_by_side;

pub use clock::ManualClock;
pub use counting_store::{CountingStore, ReadCounts};
pub use crash_store::{CrashStore, JobEnd, Sabotage};
pub use directory::memory_directory;
pub use random::Random;
pub use seeds::{SimulationRun, simulate};
pub use side_by_side::{UseCase, side_by_side};
