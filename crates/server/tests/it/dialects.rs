//! The wires of other systems over a real socket: their own examples, every message in every state, and the walls around them.

pub(crate) mod agents;
mod flows_context;
mod hitl;
mod hitl_kinds;
mod hitl_states;
mod react;
mod react_agents;
mod react_channels;
mod react_states;
