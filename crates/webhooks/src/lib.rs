//! Webhooks over HTTP: a message is written, signed, and posted to an endpoint that may be reached.
//!
//! Duty: carry one message once and say what came back. Signing is by the Standard Webhooks specification, and this is the only crate
//! that knows it. An address is checked when it is connected to (`reach.rs`), so that no name can lead elsewhere afterwards.
//!
//! This crate must never decide what is sent, nor try again: the engine does, from the store.
//!
//! Start reading at [`Postman`].

mod message;
mod postman;
mod reach;

pub use postman::Postman;
pub use reach::{Found, Lookup, SystemLookup};
