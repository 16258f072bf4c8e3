//! Tests of the reading of command lines.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

mod programs;
mod tools;
