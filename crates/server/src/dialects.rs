//! Wires of other systems, spoken on the same engine. One dialect a file: it translates, and nothing else. No rule, no state that
//! matters, no SQL; what a dialect needs and nobody else has becomes a use case of the engine.

pub(crate) mod approvals;
mod flows;
mod hitl;
mod react;
mod refusals;

use utoipa_axum::router::OpenApiRouter;

use crate::App;

/// The operations of every dialect.
pub(crate) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(flows::operations())
        .merge(hitl::operations())
        .merge(approvals::operations())
        .merge(react::operations())
}
