//! Hosted agents: the agent loop as a pure state machine, the model clients, the tools, and the worker.
//!
//! This crate runs the agents that the server itself runs. A step is a [`machine::MachineState`] plus the journal of
//! its inputs. Each input is journalled before it is used, so any worker can continue a step from any point, and a
//! sleeping step occupies no memory.
//!
//! This crate never decides whether an action may run. The engine decides, and only a permit from the engine starts an
//! action.
//!
//! Start reading at [`machine`], then [`history`], then `worker.rs`. [`definitions`] reads the files that define agents
//! and flows.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![warn(clippy::wildcard_enum_match_arm)]

pub mod ask_user;
pub mod definitions;
pub mod history;
pub mod machine;
pub mod model;
pub mod models;
pub mod tool;
pub mod tools;
pub mod worker;
