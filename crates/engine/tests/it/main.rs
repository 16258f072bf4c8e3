//! Integration tests of the engine on a real store, and a simulation of all its use cases.

#![expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "numbers of the simulation are small")]
#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod engine;
mod simulation;
