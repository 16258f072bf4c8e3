//! The tools that a server lists, as far as they can be used.

use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::{Peer, RoleClient, ServiceError};
use serde_json::Value;
use wildmatch::WildMatch;

use crate::content::short;

/// The most tools, pages, and bytes of one schema; and the longest name.
const TOOLS: usize = 256;
const PAGES: usize = 64;
const SCHEMA: usize = 64 << 10;
const NAME: usize = 128;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTool {
    /// Its name, with the server's before it: `server.tool`.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
    /// Whether the server says that calling it again changes nothing more.
    pub repeatable: bool,
    /// Whether the server says that it changes nothing at all.
    pub read_only: bool,
}

/// Which of a server's tools are wanted; all where nothing is said.
pub(crate) struct Wanted(Vec<WildMatch>);

impl Wanted {
    pub(crate) fn new(patterns: &[String]) -> Self {
        Self(patterns.iter().map(|pattern| WildMatch::new(pattern)).collect())
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| pattern.matches(tool))
    }
}

/// Asks a server for its tools, page by page.
pub(crate) async fn list(peer: &Peer<RoleClient>, server: &str, wanted: &Wanted) -> Result<Vec<McpTool>, ServiceError> {
    let mut tools: Vec<McpTool> = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
        for tool in page.tools.into_iter().filter(|tool| wanted.has(&tool.name)) {
            if let Some(tool) = usable(server, tool).filter(|tool| tools.iter().all(|known| known.name != tool.name)) {
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

/// Gives a tool as we know it; none where its name or its schema is not bearable.
fn usable(server: &str, tool: Tool) -> Option<McpTool> {
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
