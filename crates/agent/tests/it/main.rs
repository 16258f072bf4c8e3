//! Tests of the machine, the worker and the tools, and a simulation of all three.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of the simulation are small"
)]
#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

mod definitions;
mod machine;
mod simulation;
mod tools;
mod worker;
