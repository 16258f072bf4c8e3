//! The results of the examples of a policy file, for the author who tests the file.

use domain::Verdict;
use serde::Serialize;
use serde_json::Value;

use crate::{Policy, load};

/// One example of a policy file, and whether the policy gives what its author expects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExampleResult {
    /// Name of the rule to which the example belongs.
    pub rule: String,
    /// Line of the example in the file.
    pub line: usize,
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub arguments: Value,
    /// The verdict that the author expects, if the example gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether the author expects that the rule matches, if the example says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<bool>,
    /// The differences from what the author expects, a sentence each. Empty if the example passes.
    pub failures: Vec<String>,
}

impl ExampleResult {
    /// Says whether the policy gives what the author expects.
    #[must_use]
    pub const fn is_passed(&self) -> bool {
        self.failures.is_empty()
    }
}

impl Policy {
    /// Judges every example of a file. None is judged if the file cannot be read for another reason, which
    /// [`Policy::load`] gives.
    #[must_use]
    pub fn test(text: &str) -> Vec<ExampleResult> {
        load::test(text)
    }
}
