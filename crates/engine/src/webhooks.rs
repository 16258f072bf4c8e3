//! Sends the events and answers of a project to endpoints.
//!
//! `manage.rs` has the commands with which admins create and change webhooks. `send.rs` is the job that sends messages: `batch.rs` selects and
//! builds them, a `Courier` (`courier.rs`) posts them, and `settle.rs` records the outcome. `deliveries.rs` lists, tests and replays deliveries. HTTP
//! and signatures are not here but in the crate `webhooks`, which implements `Courier`. Start with `send.rs`.

mod batch;
mod courier;
mod deliveries;
mod manage;
mod send;
mod settle;

pub use courier::{Content, Courier, Parcel, Receipt};
pub use manage::NewWebhook;
