//! Tests each promise of the confinement: a real program tries to break out of a workspace beside other data.
//!
//! These tests need a machine on which programs can be confined, and fail elsewhere.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod budget;
mod files;
mod network;
mod place;
mod processes;
mod programs;
mod rights;
