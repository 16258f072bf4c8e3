//! Tests of the crate: tables of command lines, properties, and comparisons with real shells.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

mod everyday;
mod languages;
mod limits;
mod programs;
mod render;
mod seed;
mod shells;
mod texts;
mod tools;
mod traps;
