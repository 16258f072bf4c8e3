//! The machine of a step, its worker, its tools, and the simulation of all of it.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod definitions;
mod machine;
mod simulation;
mod tools;
mod worker;
