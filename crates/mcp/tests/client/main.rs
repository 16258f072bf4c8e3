//! Tests the client against a real server (`examples/everything.rs`), as a child process and over HTTP.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]
#![expect(clippy::panic, reason = "helpers of tests fail by panicking, as tests do")]

mod calls;
mod common;
mod http;
mod lost;
mod stdio;
