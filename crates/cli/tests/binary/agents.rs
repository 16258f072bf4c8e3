//! Agents that the real binary runs: the demo from start to end, whoever reads along, models and tools beyond the house, and steps whose
//! process is killed under them.

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
