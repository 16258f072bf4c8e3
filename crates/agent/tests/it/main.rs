//! Tests of the machine, the worker and the tools, and a simulation of all three.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod definitions;
mod machine;
mod simulation;
mod tools;
mod worker;
