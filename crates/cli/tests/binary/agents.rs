//! Tests hosted agents in the real binary: the demo from start to end, readers of their events, remote models and tools,
//! and steps whose process is killed.

mod confined;
mod demo;
mod discreet;
mod files;
mod keys;
mod killed;
mod mcp;
mod model;
pub(crate) mod place;
pub(crate) mod played;
mod readers;
mod tenants;
mod tickets;
