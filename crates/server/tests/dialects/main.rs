//! The wires of other systems over a real socket: their own examples, every message in every state, and the walls around them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

extern crate holdpoint_server as server;

mod agents;
mod flows_context;
mod hitl;
mod hitl_kinds;
mod hitl_states;
mod react;
mod react_agents;
mod react_channels;
mod react_states;

#[path = "../api/sse.rs"]
#[expect(dead_code, reason = "shared with the tests of the API, which need more of it")]
mod sse;
#[path = "../api/words.rs"]
#[expect(dead_code, reason = "shared with the tests of the API, which need more of it")]
mod words;
#[path = "../api/world.rs"]
#[expect(dead_code, reason = "shared with the tests of the API, which need more of it")]
mod world;
