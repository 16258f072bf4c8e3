//! The interface of a tool: its description, its run, and its outcome.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// A tool that the worker runs. It is run only after its action was started with a permit.
pub trait Tool: Send + Sync {
    /// Description of the tool.
    fn spec(&self) -> &ToolSpec;
    /// Time limit in seconds that these arguments set, if the tool lets them.
    fn seconds(&self, _arguments: &Value) -> Option<u64> {
        None
    }
    /// Content that a call with these arguments would replace, for its reviewers; `None` for a tool that replaces
    /// nothing.
    fn replaces<'a>(&'a self, _arguments: &'a Value) -> BoxFuture<'a, Option<ReplacedContent>> {
        async { None }.boxed()
    }
    /// Runs the tool. It must not panic; every failure is an outcome.
    fn run<'a>(&'a self, arguments: &'a Value, run: &'a ToolRun) -> BoxFuture<'a, ToolOutcome>;
}

/// Content that a call would replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedContent {
    /// Hash of the content. It changes whenever the content does; a missing file has a value too.
    pub content_hash: String,
    /// The content, if it is short text.
    pub text: Option<String>,
}

/// Reason why a source has no tools to offer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

/// Description of a tool for the model, the policy and the worker.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: String,
    /// Description that the model reads.
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    /// Whether the tool may run again when the outcome of the first run is unknown.
    pub repeatable: bool,
    /// Whether the tool may run in parallel with others of the same turn.
    pub parallel: bool,
}

/// Context of one run of a tool, besides its arguments.
#[derive(Default)]
pub struct ToolRun {
    /// Cancelled when the step is cancelled or lost; the tool then ends its work.
    pub cancel: CancellationToken,
    /// Values that people gave this step, by name, for the environment of a command. The model never sees them.
    pub secrets: BTreeMap<String, Zeroizing<String>>,
    /// Hash of the content that reviewers saw; the tool replaces nothing if the content has changed since. `None`
    /// allows any content.
    pub expected_content: Option<String>,
    /// All secret values that people gave the session, by name. They are removed from everything that the model sees.
    pub hidden: Vec<(String, Zeroizing<String>)>,
}

impl ToolRun {
    /// Names and values of all secrets that must not be shown.
    pub(crate) fn confidential(&self) -> impl Iterator<Item = (&String, &Zeroizing<String>)> {
        self.secrets.iter().chain(self.hidden.iter().map(|(name, value)| (name, value)))
    }
}

impl std::fmt::Debug for ToolRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.secrets.keys().collect();
        f.debug_struct("ToolRun").field("cancel", &self.cancel).field("secrets", &names).finish_non_exhaustive()
    }
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// The tool ran and gave this result.
    Done(Value),
    /// The tool failed or refused to run.
    Failed {
        /// Reason, as the model will read it.
        message: String,
        /// Partial result; `null` without one.
        result: Value,
    },
    /// The tool was started, and its outcome is unknown.
    Unknown,
}

impl From<&domain::agent::ClientTool> for ToolSpec {
    fn from(tool: &domain::agent::ClientTool) -> Self {
        let any = || serde_json::json!({ "type": "object" });
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: if tool.schema.is_null() { any() } else { tool.schema.clone() },
            repeatable: tool.repeatable,
            parallel: true,
        }
    }
}
