//! One test for each promise: a real program tries, in a workspace beside things that are not its own.
//!
//! These tests need a machine on which programs can be confined, and fail where that is not possible.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod budget;
mod files;
mod network;
mod place;
mod processes;
mod programs;
mod rights;
