//! Tests the dialects over real sockets: the examples of each dialect, every message in every state, and one engine
//! behind all dialects.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

mod approvals;
mod approvals_channels;
mod approvals_checklist;
mod approvals_clients;
mod approvals_table;
mod cross;
mod flows_context;
mod flows_fields;
mod flows_stream;
mod flows_table;
mod hitl;
mod hitl_kinds;
mod hitl_states;
mod react;
mod react_agents;
mod react_channels;
mod react_states;
