//! Determines the policy in force and judges calls by it.
//!
//! `in_force.rs` finds the policy in force, `ruling.rs` judges a call by it before the transaction, and `in_force.rs` checks in the
//! transaction that the policy of the ruling is still in force. `project_policy.rs` changes the policy of a project, `server_file.rs`
//! that of the server, and `floor.rs` the floor, which no project can loosen. `shadow.rs` and `simulate.rs` try drafts, and `learn`
//! suggests rules from decisions. The crate `policy`, which this crate writes as `::policy`, parses and evaluates rules. Start with
//! `ruling.rs`.

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
pub(crate) use learn::{enforce_earlier_decisions, find_contradictions, suspend_contradicted_rules};
pub(crate) use project_policy::{put_in_force, read_newest_version, record_first_use};
