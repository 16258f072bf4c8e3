//! Built-in tools of agents, and the settings that only the server's operator may give.

use super::AgentVersion;
use crate::{OnlyInFiles, Problem, text};

/// Built-in tools of a workspace.
pub const WORKSPACE_TOOLS: [&str; 8] = [
    "read_file",
    "list_files",
    "search_files",
    "write_file",
    "create_directory",
    "move_file",
    "delete_file",
    EXECUTE_COMMAND,
];

/// Workspace tool that starts programs on the server's machine.
pub const EXECUTE_COMMAND: &str = "execute_command";

/// Name that gives an agent all tools that ask people.
pub const ASK_USER: &str = "ask_user";

/// Tools that ask people.
pub const ASK_USER_TOOLS: [&str; 5] =
    ["ask_user_clarify", "ask_user_choose", "ask_user_form", "ask_user_secret", "ask_user_confirm"];

/// Whether the name `listed` in a list of tools includes `tool`: as its own name, as `ask_user`, or as `server.*`.
pub(crate) fn stands_for(listed: &str, tool: &str) -> bool {
    let asks = listed == ASK_USER && ASK_USER_TOOLS.contains(&tool);
    let of_server =
        || listed.strip_suffix('*').filter(|server| server.ends_with('.')).is_some_and(|s| tool.starts_with(s));
    listed == tool || asks || of_server()
}

impl AgentVersion {
    /// Whether the agent has a tool of this name. Every name with the prefix of an MCP server is accepted, because the tools of the server
    /// are known only after it was asked.
    #[must_use]
    pub fn has_tool(&self, tool: &str) -> bool {
        let built_in = self.tools.iter().any(|listed| stands_for(listed, tool));
        let of_client = self.client_tools.iter().any(|listed| listed.name == tool);
        let server = tool.split_once('.').map(|(server, _)| server);
        built_in || of_client || self.mcp.iter().any(|listed| Some(listed.name.as_str()) == server)
    }

    /// Lists the settings that are allowed only in a file of the server's operator and not over the network. These settings read the
    /// server's environment, start a program on its machine, or open a directory there that all tenants would share.
    #[must_use]
    pub fn only_in_files(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut only = |there: bool, pointer: String| {
            if there {
                problems.push(Problem::new(pointer, OnlyInFiles::WHY));
            }
        };
        only(self.model.key_env.is_some(), "/model/key_env".into());
        // The author of an agent could use the address to receive a kept secret, or to reach into the server's own network.
        only(self.model.endpoint.is_some(), "/model/endpoint".into());
        for (index, tool) in self.tools.iter().enumerate() {
            only(tool == EXECUTE_COMMAND, format!("/tools/{index}"));
        }
        only(self.workspace.is_some(), "/workspace".into());
        for (index, server) in self.mcp.iter().enumerate() {
            only(!server.command.is_empty(), format!("/mcp/{index}/command"));
            only(server.token_env.is_some(), format!("/mcp/{index}/token_env"));
            only(server.url.is_some(), format!("/mcp/{index}/url"));
        }
        problems
    }

    /// All JSON Schemas of the definition with their JSON Pointers. The `forms` crate checks whether they compile.
    pub fn schemas(&self) -> impl Iterator<Item = (String, &serde_json::Value)> {
        let schema = |(index, tool)| -> Option<(String, &serde_json::Value)> {
            let tool: &super::ClientTool = tool;
            (!tool.schema.is_null()).then(|| (text::field(&format!("/client_tools/{index}"), "schema"), &tool.schema))
        };
        self.client_tools.iter().enumerate().filter_map(schema)
    }
}
