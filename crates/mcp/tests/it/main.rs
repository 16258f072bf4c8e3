//! Tests the client against a real server (`examples/everything.rs`), as a child process and over HTTP.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]
#![expect(clippy::panic, reason = "a failing helper fails its test")]

mod calls;
mod common;
mod http;
mod lost;
mod stdio;
