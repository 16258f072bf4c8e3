//! The client of MCP servers: tools that somebody else offers, over the standard streams of a child process or over streamable HTTP.
//!
//! Duty: say which tools a server has, call one, and say truthfully what became of the call. This is the only crate that knows rmcp.
//!
//! This crate must never judge: whether a call may be made is for the engine to say. It never calls twice, either: a call whose
//! connection was lost, or that nobody answered in time, is [`Called::Unknown`], and who asked decides what that means.
//!
//! Start reading at [`McpClient`].

mod bounded;
mod called;
mod child;
mod client;
mod connection;
mod content;
mod error;
mod http;
mod limited;
mod listing;

pub use called::Called;
pub use client::McpClient;
pub use error::McpError;
pub use listing::McpTool;
