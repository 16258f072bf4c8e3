//! Tests of the reading of command lines.

#![expect(clippy::panic, reason = "a failing helper fails its test")]

mod programs;
