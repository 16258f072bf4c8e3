//! Wires of other systems, spoken on the same engine. One dialect a file: it translates, and nothing else. No rule, no state that
//! matters, no SQL; what a dialect needs and nobody else has becomes a use case of the engine.

mod approvals;
mod flows;
mod hitl;
mod react;
mod refusals;

use axum::Extension;
use domain::Wire;
use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;

use server::{Addition, App};

/// The operations and channels of every dialect.
#[must_use]
pub fn dialects() -> Addition {
    let operations = OpenApiRouter::new()
        .merge(on(Wire::Flows, flows::operations()))
        .merge(on(Wire::Hitl, hitl::operations()))
        .merge(on(Wire::Tools, approvals::operations()))
        .merge(on(Wire::React, react::operations()));
    Addition { operations, channels: vec![approvals::channel()] }
}

/// Has whatever comes in there say by which door it came.
fn on(wire: Wire, operations: OpenApiRouter<App>) -> OpenApiRouter<App> {
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
