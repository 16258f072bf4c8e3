//! The APIs of other systems, served by the same engine.
//!
//! A dialect lets an existing client of another system talk to this server without changes: `flows` (flows with human
//! steps), `hitl` (requests of four types), `approvals` (tool approval over a WebSocket) and `react` (a conversation as
//! an event stream). Each module parses a request in its own format, calls one use case of the engine, and renders the
//! result in that format.
//!
//! This crate contains no rule of the domain, keeps no state of its own and knows no SQL. A use case that only a
//! dialect needs is added to the engine. Sockets, streams, authentication and status codes come from `server::handler`.
//!
//! Start reading at [`dialects`], then at the module of one dialect, for example `hitl.rs`. The places that match event
//! names are `approvals.rs` (`show_event`), `flows/names.rs` (`event`, `stream_event`) and `react/events.rs`
//! (`translate`).

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![warn(clippy::wildcard_enum_match_arm)]

mod approvals;
mod flows;
mod hitl;
mod pending;
mod react;
mod refusals;

use axum::Extension;
use domain::EntryPoint;
use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;

use server::{Addition, App};

/// Operations of all dialects and the WebSocket channels among them, to be mounted by [`server::router`].
#[must_use]
pub fn dialects() -> Addition {
    let operations = OpenApiRouter::new()
        .merge(on(EntryPoint::Flows, flows::operations()))
        .merge(on(EntryPoint::Hitl, hitl::operations()))
        .merge(on(EntryPoint::Approvals, approvals::operations()))
        .merge(on(EntryPoint::React, react::operations()));
    Addition { operations, channels: vec![approvals::channel()] }
}

/// Marks every request of a router with the dialect that it arrived through; the caller carries it into answers and
/// audit entries.
fn on(entry_point: EntryPoint, operations: OpenApiRouter<App>) -> OpenApiRouter<App> {
    operations.layer(Extension(entry_point))
}

/// Wraps a value in an object where a dialect has an object: null becomes `{}`, other values `{"value": …}`.
fn object(value: Value) -> Value {
    match value {
        Value::Null => Value::Object(Map::new()),
        Value::Object(_) => value,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => json!({ "value": value }),
    }
}
