//! Which policy is in force, and what it says of a call.
//!
//! `ruling.rs` judges a call before its transaction; `in_force.rs` makes sure in the transaction that the same policy is still in force.
//! `project_policy.rs` changes a project's own policy, `server_file.rs` the server's, `floor.rs` the floor that no project loosens. `shadow.rs` and
//! `simulate.rs` try drafts, `learn` suggests rules from decisions. How rules are parsed and evaluated is in the crate `policy`, which this crate writes
//! as `::policy`. Start with `ruling.rs`.

pub(crate) mod floor;
pub(crate) mod follow_servers;
pub(crate) mod in_force;
pub(crate) mod learn;
pub(crate) mod project_policy;
pub(crate) mod ruling;
pub(crate) mod server_file;
pub(crate) mod shadow;
pub(crate) mod simulate;

pub(crate) use floor::require_floor_approval;
pub(crate) use in_force::require_in_force;
pub(crate) use learn::*;
pub(crate) use project_policy::{newest_version, put_in_force, record_first_use};
