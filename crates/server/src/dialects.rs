//! Wires of other systems, spoken on the same engine. One dialect a file: it translates, and nothing else. No rule, no state that
//! matters, no SQL; what a dialect needs and nobody else has becomes a use case of the engine.

pub(crate) mod approvals;
mod flows;
mod hitl;
mod react;
mod refusals;

use axum::Extension;
use domain::EntryPoint;
use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;

use crate::App;

/// The operations of every dialect.
pub(crate) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(on(EntryPoint::Flows, flows::operations()))
        .merge(on(EntryPoint::Hitl, hitl::operations()))
        .merge(on(EntryPoint::Approvals, approvals::operations()))
        .merge(on(EntryPoint::React, react::operations()))
}

/// Has whatever comes in there say by which door it came.
fn on(wire: EntryPoint, operations: OpenApiRouter<App>) -> OpenApiRouter<App> {
    operations.layer(Extension(wire))
}

/// A value where a wire has an object: what is none stands in one.
fn object(value: Value) -> Value {
    match value {
        Value::Null => Value::Object(Map::new()),
        Value::Object(_) => value,
        other => json!({ "value": other }),
    }
}
