//! HTTP in front of the engine.
//!
//! Duty: routes, the caller, streams, and the document that describes them. A handler translates: it authenticates, parses,
//! calls one use case, and shows the result. Status codes and error codes are assigned in `error.rs`, and only there.
//!
//! This crate must never touch a transaction, and never contain a rule of the domain.
//!
//! Start reading at [`router`], then `command.rs` (how a body and its idempotency key come in), then `routes/interactions.rs`.
//! [`listen`] is the loop that accepts connections and ends them well.

mod app;
mod caller;
mod command;
mod document;
mod error;
mod listen;
mod params;
mod routes;
mod sse;
mod trace;
mod unique;
mod version;

pub use app::{App, Limits};
pub use document::document;
pub use error::CODES;
pub use listen::listen;
pub use routes::router;
