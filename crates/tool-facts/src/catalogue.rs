//! The catalogue: declarations of the tools of known clients, which are data files in `data/catalogue/`.
//!
//! A file describes one client. The tools of common MCP servers are clients of their own, `mcp-filesystem` and the like; coding agents call them
//! by names such as `mcp__filesystem__read_file`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::declaration::{self, ArgumentUse, Declaration, SqlDialect, ToolEffect};
use crate::word_list::parse_table;

/// The files, by the names of their clients.
const FILES: &[(&str, &str)] = &[
    ("claude-code", include_str!("../data/catalogue/claude-code.toml")),
    ("cline", include_str!("../data/catalogue/cline.toml")),
    ("codex", include_str!("../data/catalogue/codex.toml")),
    ("cursor", include_str!("../data/catalogue/cursor.toml")),
    ("gemini-cli", include_str!("../data/catalogue/gemini-cli.toml")),
    ("goose", include_str!("../data/catalogue/goose.toml")),
    ("holdpoint", include_str!("../data/catalogue/holdpoint.toml")),
    ("mcp-bigquery", include_str!("../data/catalogue/mcp-bigquery.toml")),
    ("mcp-fetch", include_str!("../data/catalogue/mcp-fetch.toml")),
    ("mcp-filesystem", include_str!("../data/catalogue/mcp-filesystem.toml")),
    ("mcp-git", include_str!("../data/catalogue/mcp-git.toml")),
    ("mcp-github", include_str!("../data/catalogue/mcp-github.toml")),
    ("mcp-memory", include_str!("../data/catalogue/mcp-memory.toml")),
    ("mcp-mssql", include_str!("../data/catalogue/mcp-mssql.toml")),
    ("mcp-mysql", include_str!("../data/catalogue/mcp-mysql.toml")),
    ("mcp-postgres", include_str!("../data/catalogue/mcp-postgres.toml")),
    ("mcp-sqlite", include_str!("../data/catalogue/mcp-sqlite.toml")),
    ("opencode", include_str!("../data/catalogue/opencode.toml")),
];

/// The declarations of the tools of known clients. They count only for calls of which it is known that they come from that client.
#[derive(Debug)]
pub struct Catalogue;

/// The declarations by client and tool.
static CLIENTS: LazyLock<BTreeMap<&'static str, BTreeMap<String, Declaration>>> =
    LazyLock::new(|| FILES.iter().map(|(client, text)| (*client, read(text))).collect());

static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| FILES.iter().map(|(client, _)| *client).collect());

impl Catalogue {
    /// Returns the declaration of a tool of a client. `None` if the catalogue does not know the client or the tool.
    ///
    /// A client that is known may also call the tools of MCP servers, as `mcp__server__tool`. The person who set up the client gave the server its
    /// name.
    #[must_use]
    pub fn tool(client: &str, tool: &str) -> Option<&'static Declaration> {
        let tools = CLIENTS.get(client)?;
        tools.get(tool).or_else(|| {
            let (server, tool) = tool.strip_prefix("mcp__")?.split_once("__")?;
            CLIENTS.get(format!("mcp-{server}").as_str())?.get(tool)
        })
    }

    /// The names of all clients, in byte order.
    #[must_use]
    pub fn clients() -> &'static [&'static str] {
        &NAMES
    }

    /// The names of the tools of a client, in byte order. Empty if the catalogue does not know the client.
    #[must_use]
    pub fn tools(client: &str) -> Vec<&'static str> {
        CLIENTS.get(client).into_iter().flat_map(|tools| tools.keys().map(String::as_str)).collect()
    }
}

/// A tool in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    effect: String,
    shell: Option<String>,
    sql: Option<String>,
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

#[expect(clippy::panic, reason = "a tool without its declaration would be guessed; the tests read every file")]
fn read(text: &'static str) -> BTreeMap<String, Declaration> {
    let rows: BTreeMap<String, Row> = parse_table(text);
    let declared = rows.into_iter().map(|(tool, row)| match declare(row) {
        Ok(declaration) => (tool, declaration),
        Err(reason) => panic!("the catalogue declares `{tool}` wrongly: {reason}"),
    });
    declared.collect()
}

fn declare(row: Row) -> Result<Declaration, String> {
    let failed = |error: declaration::UnknownName| error.to_string();
    let mut arguments = BTreeMap::new();
    for (name, kind) in row.arguments {
        declaration::check_argument_name(&name)?;
        arguments.insert(name, ArgumentUse::parse(&kind).map_err(failed)?);
    }
    let declaration = Declaration {
        shell: row.shell.as_deref().map(declaration::parse_shell).transpose().map_err(failed)?,
        sql: row.sql.as_deref().map(SqlDialect::parse).transpose().map_err(failed)?,
        effect: Some(ToolEffect::parse(&row.effect).map_err(failed)?),
        arguments,
    };
    declaration.check()?;
    Ok(declaration)
}
