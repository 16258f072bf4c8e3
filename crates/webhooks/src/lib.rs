//! Sends webhook messages over HTTP: writes a message, signs it, and posts it to an endpoint.
//!
//! The crate sends one message once and reports the response. Messages are signed according to the Standard Webhooks
//! specification, which only this crate knows. The address is checked at the time of the connection (`resolver.rs`), so
//! that a name cannot resolve to another address afterwards.
//!
//! The crate never decides which messages are sent, and never retries: the engine does both, with the state in the store.
//!
//! Start reading at [`WebhookSender`].

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod message;
mod resolver;
mod sender;

pub use resolver::{Addresses, Resolver, SystemResolver};
pub use sender::WebhookSender;
