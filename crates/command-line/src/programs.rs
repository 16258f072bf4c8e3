//! Tables of programs and their options.

use crate::{Effects, Run};

/// Finds the effects of a run in the tables.
pub(crate) fn effects(_run: &Run) -> Effects {
    Effects::default()
}
