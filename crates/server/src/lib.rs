//! HTTP in front of the engine.
//!
//! Duty: routes, the caller, streams, sockets, and the documents that describe them. A handler translates: it authenticates, parses,
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
pub use asyncapi::{Channel, MessageType, asyncapi};
pub use connection::ConnectionLimits;
pub use document::document;
pub use error::CODES;
pub use front::Front;
pub use listen::listen;
pub use oidc::{Oidc, OidcSettings};
pub use page::Page;
pub use routes::{Addition, health_router, router};

/// Parts that the crates above this one write their handlers with: extractors, bodies, refusals, event streams and WebSockets.
pub mod handler {
    pub use crate::caller::{Reading, Who};
    pub use crate::command::{Command, parsed, part, plain, pointer};
    pub use crate::document::Problems;
    pub use crate::error::ApiError;
    pub use crate::params::{Id, Ids, LONGEST_WAIT, Query, TicketQuery, cursor, limit, number};
    pub use crate::routes::sessions::steered;
    pub use crate::socket::{End, Joining, Talk};
    pub use crate::sse::{Said, Source, Words, stream_in};
    pub use crate::trace::traceparent;
}
