//! HTTP in front of the engine.
//!
//! Duty: routes, the caller, streams, sockets, dialects, and the documents that describe them. A handler translates: it authenticates, parses,
//! calls one use case, and shows the result. Status codes and error codes are assigned in `error.rs`, and only there.
//!
//! This crate must never touch a transaction, and never contain a rule of the domain.
//!
//! Start reading at [`router`], then `command.rs` (how a body and its idempotency key come in), then `routes/interactions.rs`.
//! [`listen`] is the loop that accepts connections and ends them well.

mod app;
mod asyncapi;
mod caller;
mod command;
mod connection;
mod cookie;
mod dialects;
mod document;
mod error;
mod frames;
mod front;
mod handshake;
mod heads;
mod listen;
mod oidc;
mod page;
mod params;
mod replies;
mod routes;
mod sign_ins;
mod socket;
mod sse;
mod strangers;
mod taken;
mod trace;
mod unique;
mod version;

pub use app::{App, Limits};
pub use asyncapi::asyncapi;
pub use connection::ConnectionLimits;
pub use document::document;
pub use error::CODES;
pub use front::Front;
pub use listen::listen;
pub use oidc::{Oidc, OidcSettings};
pub use page::Page;
pub use routes::{health_router, router};
