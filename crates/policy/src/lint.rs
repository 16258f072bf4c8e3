//! What a file says that its author can hardly have meant.

use crate::{Policy, example::Example, finding::Findings, read_rule::Places};

/// Looks at a policy that was read.
pub(crate) fn lint(_policy: &Policy, _places: &[Places], _examples: &[Example], _findings: &mut Findings<'_>) {}
