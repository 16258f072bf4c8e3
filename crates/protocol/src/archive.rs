//! Export format of the archive: one line of JSON for each archived question.

use serde::Serialize;

use crate::{EventView, InteractionView};

/// A question that was moved from the active tables to the archive, with its complete history.
#[derive(Debug, Clone, Serialize)]
pub struct ArchivedView {
    /// Name of the tenant.
    pub tenant: String,
    /// Name of the project.
    pub project: String,
    /// The question with its answers, its resolution and its delivery.
    pub interaction: InteractionView,
    /// Events of the question, in order.
    pub events: Vec<EventView>,
}
