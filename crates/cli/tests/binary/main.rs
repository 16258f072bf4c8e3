//! The real binary, as whoever runs it meets it: killed, stopped, misconfigured, watched, and many of it on one database.
//!
//! Start reading at `common.rs` (a house with a server in it) and `kill.rs` (nothing acknowledged is ever lost).

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]
#![expect(clippy::panic, reason = "helpers of tests fail by panicking, as tests do")]

mod acting;
mod agents;
mod archive;
mod audit;
mod common;
mod drafts;
mod kill;
mod nodes;
mod process;
mod restored;
mod secrets;
mod telemetry;
mod upgrade;
mod webhooks;
mod wires;
