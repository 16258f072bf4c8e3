//! What acts: a tool, what it says of itself, and what comes of running it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// A tool that the worker runs. It is run only after its action was started with a permit.
pub trait Tool: Send + Sync {
    /// What it says of itself.
    fn spec(&self) -> &ToolSpec;
    /// How many seconds these arguments give it, where it lets them say so.
    fn seconds(&self, _arguments: &Value) -> Option<u64> {
        None
    }
    /// What these arguments would replace, for whoever is asked about them; nothing where the tool replaces nothing.
    fn replaces<'a>(&'a self, _arguments: &'a Value) -> BoxFuture<'a, Option<Replaced>> {
        async { None }.boxed()
    }
    /// Runs it. It never panics; whatever goes wrong is an outcome.
    fn run<'a>(&'a self, arguments: &'a Value, run: &'a Run) -> BoxFuture<'a, Ran>;
}

/// What is in the place of something that is to be put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// What it is known by: as long as the mark is the same, so is what is there. Nothing being there has a mark too.
    pub mark: String,
    /// What it says, where it is short text.
    pub text: Option<String>,
}

/// Where tools come from, when what they are must be asked for first.
pub trait ToolSource: Send + Sync {
    /// Its tools, as they are now.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ToolError>>;
}

/// Why a source has no tools to offer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

/// What a tool says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
    /// Whether it may be run again when nobody knows whether it ran.
    pub repeatable: bool,
    /// Whether it may run beside others of the same turn.
    pub parallel: bool,
}

/// What a tool is run with besides its arguments.
#[derive(Default)]
pub struct Run {
    /// Ends when the step is cancelled or lost: whatever was begun is ended.
    pub cancel: CancellationToken,
    /// Values that people gave for this step, by name, for the environment of a command. Never shown to the model.
    pub secrets: BTreeMap<String, Zeroizing<String>>,
    /// The mark of what may be replaced: where something else is there by now, nothing is. Without one, whatever is there may be.
    pub seen: Option<String>,
    /// Everything that people gave the session in secret, also others and before: never shown to the model either.
    pub hidden: Vec<(String, Zeroizing<String>)>,
}

impl Run {
    /// What must not be shown, with its names.
    pub(crate) fn confidential(&self) -> impl Iterator<Item = (&String, &Zeroizing<String>)> {
        self.secrets.iter().chain(self.hidden.iter().map(|(name, value)| (name, value)))
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.secrets.keys().collect();
        f.debug_struct("Run").field("cancel", &self.cancel).field("secrets", &names).finish()
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Ran {
    /// It ran.
    Done(Value),
    /// It failed, or was refused by the tool itself.
    Failed {
        /// Why, as the model will read it.
        message: String,
        /// What came of it all the same.
        result: Value,
    },
    /// It was begun, and nobody can tell what became of it.
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
