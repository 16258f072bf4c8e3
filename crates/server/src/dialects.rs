//! The wires of other systems, for their clients, on the same engine.
//!
//! A dialect translates. It has no rule, no state and no query of its own: what it lacks is a use case of the engine.

mod flows;

use utoipa_axum::router::OpenApiRouter;

use crate::App;

/// The operations of every dialect.
pub(crate) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new().merge(flows::operations())
}
