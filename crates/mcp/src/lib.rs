//! Calls tools of MCP servers, over the standard streams of a child process or over streamable HTTP.
//!
//! The crate lists the tools of a server, calls one, and reports the outcome of the call. It is the only crate that
//! uses rmcp.
//!
//! It never decides whether a call may be made: the engine does. It never repeats a call either. A call whose
//! connection was lost, or that was not answered in time, is [`CallOutcome::Unknown`], and the caller handles that
//! outcome.
//!
//! Start reading at [`McpClient`].

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod bounded_http;
mod call_outcome;
mod child;
mod client;
mod connection;
mod content;
mod error;
mod http;
mod line_limit;
mod listing;

pub use call_outcome::CallOutcome;
pub use client::McpClient;
pub use error::McpError;
pub use listing::McpTool;
