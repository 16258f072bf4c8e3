//! Tests the real binary from outside: killed, stopped, misconfigured, watched, and several processes on one database.
//!
//! Start reading at `common.rs` (data directories, servers, clients) and `kill.rs` (no acknowledged write is lost).

#![expect(clippy::float_cmp, reason = "compared metrics are whole numbers")]
#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]
#![expect(clippy::panic, reason = "a failing helper fails its test")]

mod agents;
mod archive;
mod audit;
mod common;
mod concurrent_actions;
mod dialect_recovery;
mod drafts;
mod kill;
mod nodes;
mod process;
mod restored;
mod secrets;
mod telemetry;
mod upgrade;
mod webhooks;
