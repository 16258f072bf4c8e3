//! A tool of an MCP server as the worker runs it.

use std::sync::Arc;
use std::time::Duration;

use agent::tool::{Ran, Run, Tool, ToolSpec};
use futures::future::BoxFuture;
use mcp::{Called, McpClient, McpTool};
use serde_json::Value;

/// Time limit of a call.
const LONGEST: Duration = Duration::from_secs(120);

/// A tool of an MCP server.
pub(super) struct CalledTool {
    client: Arc<McpClient>,
    spec: ToolSpec,
}

impl CalledTool {
    pub(super) fn new(client: Arc<McpClient>, tool: McpTool) -> Self {
        let McpTool { name, description, schema, repeatable, read_only } = tool;
        Self { client, spec: ToolSpec { name, description, schema, repeatable, parallel: read_only } }
    }
}

impl Tool for CalledTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: &'a Value, run: &'a Run) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            match self.client.call(&self.spec.name, arguments, LONGEST, &run.cancel).await {
                Called::Done(result) => Ran::Done(result),
                Called::Failed { message, result } => Ran::Failed { message, result },
                Called::Unknown { why } => {
                    tracing::warn!(tool = self.spec.name, why, "nobody knows what became of a call");
                    Ran::Unknown
                }
            }
        })
    }
}
