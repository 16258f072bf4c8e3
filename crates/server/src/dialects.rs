//! The wires of other systems on the same engine, one file each: translation and nothing else.

mod hitl;
mod react;
mod refusals;

use utoipa_axum::router::OpenApiRouter;

use crate::App;

/// The operations of every dialect.
pub(crate) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new().merge(hitl::operations()).merge(react::operations())
}
