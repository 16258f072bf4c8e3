//! Tests hosted agents in the real binary: the demo from start to end, readers of their events, remote models and
//! tools, and steps whose process is killed.

mod confined;
mod demo;
pub(crate) mod fake_model;
mod files;
mod hidden_details;
mod keys;
mod killed;
mod mcp;
mod model;
pub(crate) mod place;
mod readers;
mod tenants;
mod tickets;
