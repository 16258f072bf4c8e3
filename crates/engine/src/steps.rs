//! Runs the steps of hosted sessions, and keeps the definitions of agents and flows.
//!
//! A worker claims a step under a step lease (`lease.rs`), writes the inputs of the step to the journal (`journal.rs`), asks people (`ask.rs`) and
//! ends the step (`end.rs`), which decides how the flow continues. `definitions.rs` keeps versions of agents and flows, `server_files.rs` those of
//! the operator's files. The agent loop itself is in the crate `agent`. Start with `lease.rs`.

pub(crate) mod ask;
pub(crate) mod command;
pub(crate) mod definitions;
pub(crate) mod end;
pub(crate) mod journal;
pub(crate) mod lease;
pub(crate) mod secrets;
pub(crate) mod server_files;
pub(crate) mod workspaces;

pub(crate) use definitions::{has_known_agent, list_available_agents, resolve_agent, resolve_flow};
pub(crate) use end::{
    advance, end_with_output, find_passed_question, finish, is_step_alive, read_flow, retry, revoke_unstarted_actions,
    withdraw_open,
};
pub(crate) use journal::{
    append_cancelled, append_input, append_journal, cancel_waiting_deliveries, copy_journal, deliver_message, publish,
    read_unheard_messages,
};
pub(crate) use lease::{count_answer, lock_claimed, report_trouble, wake};
pub(crate) use secrets::read_given_secrets;
