//! Steps of sessions that this server hosts, and the definitions of agents and flows.
//!
//! A worker claims a step under a lease (`lease.rs`), writes what it hears to the journal (`journal.rs`), asks (`ask.rs`) and ends it (`end.rs`), which
//! decides what the flow runs next. `definitions.rs` keeps versions of agents and flows, `server_files.rs` those of the operator's files. The agent loop
//! itself is in the crate `agent`. Start with `lease.rs`.

pub(crate) mod ask;
pub(crate) mod command;
pub(crate) mod definitions;
pub(crate) mod end;
pub(crate) mod journal;
pub(crate) mod lease;
pub(crate) mod secrets;
pub(crate) mod server_files;
pub(crate) mod workspaces;
