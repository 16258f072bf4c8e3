//! The HTTP server in front of the engine.
//!
//! This crate has the routes of `/v1`, the authentication of callers, event streams, WebSockets, the web page, and the
//! OpenAPI and AsyncAPI documents. A handler authenticates the caller, parses the request, calls one use case of the
//! engine and renders the result. `error.rs` is the only place that assigns status codes and error codes.
//!
//! This crate must never touch a transaction and never contain a rule of the domain. The APIs of other systems are not
//! here: the crate `dialects` builds them with [`handler`] and passes them to [`router`].
//!
//! Start reading at [`router`], then `command.rs` (bodies and idempotency keys), then `routes/interactions.rs`.
//! [`listen()`] is the loop that accepts and ends connections.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

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
mod listen;
mod middleware;
mod oidc;
mod page;
mod params;
mod replies;
mod routes;
mod sign_ins;
mod socket;
mod sse;
mod strangers;
mod version;

pub use app::{App, ServerLimits};
pub use asyncapi::{Channel, MessageType, asyncapi};
pub use connection::ConnectionLimits;
pub use document::document;
pub use error::CODES;
pub use front::Front;
pub use listen::listen;
pub use oidc::{Oidc, OidcSettings};
pub use page::PageFiles;
pub use routes::{Addition, health_router, router};

/// Parts that the crates above this one write their handlers with: extractors, bodies, refusals, event streams and
/// WebSockets.
pub mod handler {
    pub use crate::caller::{Authenticated, StreamCaller};
    pub use crate::command::{CommandRequest, IdempotencyKey, json_pointer, parse_object, parse_part, serde_message};
    pub use crate::document::Problems;
    pub use crate::error::ApiError;
    pub use crate::middleware::traceparent;
    pub use crate::params::{LONGEST_WAIT, PathId, PathIds, Query, TicketQuery, cursor, event_number, page};
    pub use crate::routes::sessions::control_session;
    pub use crate::socket::{CloseReason, SocketHandler, SocketRequest};
    pub use crate::sse::{EventRenderer, EventSource, Rendered, stream_events};
}
