//! Tests the real binary from outside: killed, stopped, misconfigured, watched, and several processes on one database.
//!
//! Start reading at `common.rs` (data directories, servers, clients) and `kill.rs` (no acknowledged write is lost).

#![expect(clippy::float_cmp, reason = "metrics are compared that count")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]
#![expect(clippy::panic, reason = "helpers of tests fail by panicking, as tests do")]

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
