//! Delivers answers to the agents that asked.
//!
//! An agent takes an answer under a lease, extends the lease with heartbeats, and completes or fails the delivery. The lease id fences every later
//! command. When a lease runs out, `run/timers.rs` offers the answer again. Webhooks deliver answers too; they are in `webhooks`. `list.rs` lists the
//! answers that wait, and waits for one. Start with `take.rs`.

pub(crate) mod complete;
pub(crate) mod fail;
pub(crate) mod heartbeat;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod take;
pub(crate) use lock::{lock, ring_agents};
