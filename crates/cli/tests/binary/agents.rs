//! Agents that the real binary runs: the demo from start to end, and steps whose process is killed under them.

mod demo;
mod files;
mod killed;
mod model;
pub(crate) mod place;
