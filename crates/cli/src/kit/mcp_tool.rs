//! A tool of an MCP server as the worker runs it.

use std::sync::Arc;
use std::time::Duration;

use agent::tool::{Tool, ToolOutcome, ToolRun, ToolSpec};
use futures::future::BoxFuture;
use mcp::{CallOutcome, McpClient, McpTool};
use serde_json::Value;

/// Time limit of a call.
const LONGEST: Duration = Duration::from_mins(2);

/// A tool of an MCP server.
pub(super) struct McpToolAdapter {
    client: Arc<McpClient>,
    spec: ToolSpec,
}

impl McpToolAdapter {
    pub(super) fn new(client: Arc<McpClient>, tool: McpTool) -> Self {
        let McpTool { name, description, schema, repeatable, read_only } = tool;
        Self { client, spec: ToolSpec { name, description, schema, repeatable, parallel: read_only } }
    }
}

impl Tool for McpToolAdapter {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: &'a Value, run: &'a ToolRun) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            match self.client.call(&self.spec.name, arguments, LONGEST, &run.cancel).await {
                CallOutcome::Done(result) => ToolOutcome::Done(result),
                CallOutcome::Failed { message, result } => ToolOutcome::Failed { message, result },
                CallOutcome::Unknown { why } => {
                    tracing::warn!(tool = self.spec.name, why, "the outcome of a call is unknown");
                    ToolOutcome::Unknown
                }
            }
        })
    }
}
