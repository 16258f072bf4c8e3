//! The expression of a rule.

use crate::case::Case;

/// An expression over a call.
#[derive(Debug)]
pub struct Condition {
    source: String,
}

/// Why a text is not used as an expression.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Condition {
    pub(crate) fn new(source: &str) -> Result<Self, Refusal> {
        if source.len() > 1024 {
            return Err(Refusal { code: "expression_too_long", message: "`when` is longer than 1024 bytes".into() });
        }
        Ok(Self { source: source.to_owned() })
    }

    /// As it is written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn holds(&self, _case: &Case<'_>) -> Result<bool, String> {
        Err("expressions are not evaluated yet".into())
    }
}
