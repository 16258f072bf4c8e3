//! The agent loop as a pure machine, the models, the tools, and the worker that drives it.
//!
//! Duty: run the agents that the server runs itself. A step is a [`machine::State`] and the journal of its inputs; every input is
//! journalled before it is used, so that any worker can go on from any point, and nothing of a step that sleeps is left in memory.
//!
//! This crate must never judge: whether an action may run is for the engine to say, and only its permit starts one.
//!
//! Start reading at [`machine`], then [`history`], then `worker.rs`. What there is to run comes in through [`definitions`].

pub mod ask_user;
pub mod definitions;
pub mod history;
pub mod machine;
pub mod model;
pub mod models;
pub mod tool;
pub mod tools;
pub mod worker;
