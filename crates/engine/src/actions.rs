//! Carries actions from the proposal of an agent to the reported outcome.
//!
//! `propose.rs` asks the policy for a ruling and opens a question if the ruling is to ask. `settle.rs` applies the end of a question to its action.
//! `start.rs` starts a permitted action, and `report.rs` records its outcome. `read.rs` waits until an action is decided. `grants.rs` finds, gives
//! and revokes standing approvals. `schema.rs` serves the schema of a call's arguments to people who edit them. The rulings themselves come from
//! the `policy` room. Start with `propose.rs`, then `settle.rs`, `start.rs` and `report.rs`.

pub(crate) mod grants;
pub(crate) mod propose;
pub(crate) mod read;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod settle;
pub(crate) mod start;

pub(crate) use grants::{give_grant, require_grant_covers, use_grant};
pub(crate) use settle::{ask_about_outcome, new_permit, save_change, settle};
