//! The archive as it is exported: a line of JSON for each question.

use serde::Serialize;

use crate::{EventView, InteractionView};

/// A question that has left the hot tables, with everything that is known of it.
#[derive(Debug, Clone, Serialize)]
pub struct ArchivedView {
    /// The tenant, by name.
    pub tenant: String,
    /// The project, by name.
    pub project: String,
    /// The question with its answers, its resolution and its delivery.
    pub interaction: InteractionView,
    /// What happened to it, in order.
    pub events: Vec<EventView>,
}
