//! Lists the usable tools of a server.

use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::{Peer, RoleClient, ServiceError};
use serde_json::Value;
use wildmatch::WildMatch;

use crate::content::short;

/// Largest number of tools of a server.
const TOOLS: usize = 256;
/// Largest number of pages that are read.
const PAGES: usize = 64;
/// Largest size of a tool's schema, in bytes.
const SCHEMA: usize = 64 << 10;
/// Longest name of a tool.
const NAME: usize = 128;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTool {
    /// Full name with the server's name first: `server.tool`.
    pub name: String,
    /// Description that the model reads.
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    /// Whether the server declares that a second call changes nothing more.
    pub repeatable: bool,
    /// Whether the server declares that a call changes nothing.
    pub read_only: bool,
}

/// Patterns for the names of the tools that are used; without patterns, all tools are used.
pub(crate) struct ToolFilter(Vec<WildMatch>);

impl ToolFilter {
    pub(crate) fn new(patterns: &[String]) -> Self {
        Self(patterns.iter().map(|pattern| WildMatch::new(pattern)).collect())
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| pattern.matches(tool))
    }
}

/// Lists the tools of a server, page by page.
pub(crate) async fn list(
    peer: &Peer<RoleClient>,
    server: &str,
    filter: &ToolFilter,
) -> Result<Vec<McpTool>, ServiceError> {
    let mut tools: Vec<McpTool> = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
        for tool in page.tools.into_iter().filter(|tool| filter.has(&tool.name)) {
            if let Some(tool) =
                convert_tool(server, tool).filter(|tool| tools.iter().all(|known| known.name != tool.name))
            {
                if tools.len() == TOOLS {
                    tracing::warn!(server, "an MCP server has more than {TOOLS} tools; the rest is left out");
                    return Ok(tools);
                }
                tools.push(tool);
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    tracing::warn!(server, "an MCP server lists its tools on more than {PAGES} pages; the rest is left out");
    Ok(tools)
}

/// Converts a tool; `None` if its name or schema cannot be used.
fn convert_tool(server: &str, tool: Tool) -> Option<McpTool> {
    let named = !tool.name.is_empty()
        && tool.name.len() <= NAME
        && tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte));
    let schema = Value::Object((*tool.input_schema).clone());
    if !named || schema.to_string().len() > SCHEMA {
        tracing::warn!(
            server,
            tool = short(&tool.name),
            "a tool of an MCP server is left out: its name or its schema cannot be used"
        );
        return None;
    }
    let says = |hint: Option<bool>| hint == Some(true);
    let hints = tool.annotations.unwrap_or_default();
    Some(McpTool {
        name: format!("{server}.{}", tool.name),
        description: short(tool.description.as_deref().unwrap_or_default()),
        schema,
        repeatable: says(hints.read_only_hint) || says(hints.idempotent_hint),
        read_only: says(hints.read_only_hint),
    })
}
