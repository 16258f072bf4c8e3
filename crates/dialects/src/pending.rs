//! Query of the lists of pending questions.

use serde::Deserialize;
use utoipa::IntoParams;

/// Query of a list of pending questions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PendingQuery {
    /// Value of `next` from the previous page.
    pub(super) cursor: Option<String>,
    /// Maximum number of entries. If absent, 50 for a project, otherwise 200. A page also ends at about 4 MiB.
    #[param(minimum = 1, maximum = 200)]
    pub(super) limit: Option<u32>,
}
