//! Calls that agents propose: judged, permitted, started, reported.
//!
//! `propose.rs` asks the policy and opens a question where the policy says so. `settle.rs` applies the end of a question to its action. `run.rs` starts a
//! permitted action and takes its outcome. `grants.rs` finds and gives standing approvals. The rulings themselves come from the `policy` room. Start with
//! `propose.rs`, then `settle.rs` and `run.rs`.

pub(crate) mod grants;
pub(crate) mod propose;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod settle;

pub(crate) use grants::{give_grant, require_grant_covers, use_grant};
pub(crate) use propose::new_permit;
pub(crate) use settle::{ask_about_outcome, save_change, settle};
