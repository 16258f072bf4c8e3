//! Models and tools for the worker, opened as an agent's version says.

mod mcp_tool;
mod settings;
mod workspaces;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::definitions::{McpSettings, OperatorSettings};
use agent::model::{Model, ModelError};
use agent::tool::{Tool, ToolError};
use agent::tools::Workspace;
use agent::worker::Tools;
use confine::Programs;
use domain::agent::{McpServer, WORKSPACE_TOOLS};
use domain::{AgentVersion, Digest, ProjectName};
use mcp::McpClient;
use moka::sync::Cache;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::config::variable;
use crate::programs::AgentPrograms;
use mcp_tool::McpToolAdapter;
pub(crate) use settings::AgentSettings;

/// Name of the tool that runs commands.
const COMMANDS: &str = "execute_command";
/// Largest number of models, MCP servers and tool lists kept open.
const MOST: u64 = 256;
/// Time for which a tool list of an MCP server is reused.
const LIST_LIFETIME: Duration = Duration::from_mins(1);

/// Tools that an MCP server listed.
type ToolList = Arc<Vec<Arc<dyn Tool>>>;

/// Models and tools, cached under the digest of the settings that opened them. MCP servers and their tools are also keyed by project, so that a
/// project never gets the tools of another project.
pub(crate) struct Kit {
    workspaces: Option<PathBuf>,
    settings: Arc<AgentSettings>,
    programs: AgentPrograms,
    models: Cache<Digest, Arc<dyn Model>>,
    servers: Cache<Digest, Arc<McpClient>>,
    listed: Cache<Digest, ToolList>,
}

impl Kit {
    /// A kit for agents with workspaces below this directory and with these settings.
    pub(crate) fn new(workspaces: Option<PathBuf>, settings: Arc<AgentSettings>, programs: AgentPrograms) -> Self {
        let listed = Cache::builder().max_capacity(MOST).time_to_live(LIST_LIFETIME).build();
        Self { workspaces, settings, programs, models: Cache::new(MOST), servers: Cache::new(MOST), listed }
    }

    /// Closes the connections to all MCP servers and ends those that are child processes.
    pub(crate) async fn close(&self) {
        self.listed.invalidate_all();
        for (_, server) in &self.servers {
            server.close().await;
        }
    }

    fn workspace_tools(
        &self,
        project: &ProjectName,
        agent: &AgentVersion,
        settings: &OperatorSettings,
    ) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let names: Vec<&String> = agent.tools.iter().filter(|name| WORKSPACE_TOOLS.contains(&name.as_str())).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let Some(mut workspace) = self.workspace(project, agent)? else {
            return Err(ToolError(format!("`{}` has no workspace for its tools", agent.name)));
        };
        if names.iter().any(|name| *name == COMMANDS) {
            let path = Some(workspace.path().to_owned());
            let programs = self.programs.confined_to(path, settings.network, settings.read_only.clone())?;
            if matches!(programs, Programs::Confined(..)) {
                require_directories(&settings.read_only)?;
            }
            workspace = workspace.with_programs(programs);
        }
        Ok(workspace.tools(&names))
    }

    fn workspace(&self, project: &ProjectName, agent: &AgentVersion) -> Result<Option<Workspace>, ToolError> {
        let Some(workspace) = &agent.workspace else { return Ok(None) };
        let Some(workspaces) = &self.workspaces else {
            return Err(ToolError("this server was started without --workspaces".to_owned()));
        };
        let opened = workspaces::directory(workspaces, project, workspace).and_then(Workspace::open);
        let opened = opened.map_err(|error| ToolError(format!("the workspace `{workspace}`: {error}")))?;
        self.programs.admit(opened.path())?;
        Ok(Some(opened))
    }

    async fn server_tools(
        &self,
        project: &ProjectName,
        (agent, server): (&AgentVersion, &McpServer),
        settings: &OperatorSettings,
    ) -> Result<ToolList, ToolError> {
        let McpSettings { network, read_only } = settings.mcp.get(&server.name).cloned().unwrap_or_default();
        let place = (&project.tenant, &project.project, &agent.workspace);
        let key = digest(&(place, server, network, &read_only), "")?;
        if let Some(listed) = self.listed.get(&key) {
            return Ok(listed);
        }
        let server = &with_absolute_program(server);
        let programs = match server.command.first() {
            None => Programs::Unconfined,
            Some(program) => {
                let workspace = self.workspace(project, agent)?.map(|workspace| workspace.path().to_owned());
                // The program file itself may be read, wherever it is.
                let file = Some(PathBuf::from(program)).filter(|file| file.is_absolute());
                let read_only = read_only.into_iter().chain(file).collect();
                self.programs.confined_to(workspace, network, read_only)?
            }
        };
        let client = self.client(server, key, programs)?;
        let tools = client.tools().await.map_err(|error| unusable(server, &error))?;
        let tools = tools.into_iter().map(|tool| McpToolAdapter::new(Arc::clone(&client), tool));
        let listed: ToolList = Arc::new(tools.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect());
        self.listed.insert(key, Arc::clone(&listed));
        Ok(listed)
    }

    fn client(&self, server: &McpServer, key: Digest, programs: Programs) -> Result<Arc<McpClient>, ToolError> {
        let made = self.servers.try_get_with(key, || {
            let token = match &server.token_env {
                Some(name) => Some(variable(name).ok_or_else(|| missing_variable(name))?),
                None => None,
            };
            McpClient::new(server, token, programs).map(Arc::new).map_err(|error| unusable(server, &error).0)
        });
        made.map_err(|error| ToolError(String::clone(&error)))
    }
}

/// Refuses directories that do not exist. The helper would print their paths, which only the operator may see.
fn require_directories(read_only: &[PathBuf]) -> Result<(), ToolError> {
    for path in read_only {
        path.canonicalize().map_err(|error| {
            tracing::warn!(path = %path.display(), %error, "a directory of read_only cannot be shown to commands");
            ToolError(
                "a directory that the agent's commands may read does not exist; the log of the server names it"
                    .to_owned(),
            )
        })?;
    }
    Ok(())
}

/// Error about an MCP server that cannot be used. The reason may contain its command, address or output, and goes to
/// the log only.
fn unusable(server: &McpServer, why: &dyn std::error::Error) -> ToolError {
    tracing::warn!(server = server.name, error = %why, "an MCP server cannot be used");
    ToolError(format!("MCP server `{}` cannot be used; the log of the server has the reason", server.name))
}

impl agent::worker::Kit for Kit {
    fn model(&self, agent: &AgentVersion, key: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        let choice = &agent.model;
        let key = match (&choice.key_env, key) {
            (Some(name), None) => Some(variable(name).ok_or_else(|| ModelError::Refused(missing_variable(name)))?),
            (_, key) => key,
        };
        let given = key.as_ref().map_or("", |key| key.as_str());
        let place = digest(choice, given).map_err(|error| ModelError::Refused(error.0))?;
        if let Some(model) = self.models.get(&place) {
            return Ok(model);
        }
        let model: Arc<dyn Model> = Arc::from(agent::models::open(choice, key)?);
        self.models.insert(place, Arc::clone(&model));
        Ok(model)
    }

    fn tools<'a>(&'a self, project: &'a ProjectName, agent: &'a AgentVersion) -> Tools<'a> {
        Box::pin(async move {
            let settings = self.settings.of(agent);
            let mut tools = self.workspace_tools(project, agent, &settings)?;
            for server in &agent.mcp {
                tools.extend(self.server_tools(project, (agent, server), &settings).await?.iter().cloned());
            }
            Ok(tools)
        })
    }
}

/// The server with an absolute path to its program, because a confined program is started in another directory.
fn with_absolute_program(server: &McpServer) -> McpServer {
    let mut server = server.clone();
    if let Some(program) = server.command.first_mut().filter(|program| program.contains('/'))
        && let Some(path) = std::path::absolute(&*program).ok().and_then(|path| path.to_str().map(str::to_owned))
    {
        *program = path;
    }
    server
}

/// Error about a variable that is not set. Its name goes to the log only.
fn missing_variable(variable: &str) -> String {
    tracing::warn!(variable, "the environment has no such variable");
    "the server's environment lacks a variable that the file of the agent names; the log of the server has its name"
        .to_owned()
}

/// Cache key for a definition and its key or token.
fn digest(definition: &impl Serialize, key: &str) -> Result<Digest, ToolError> {
    let mut bytes = Zeroizing::new(serde_json::to_vec(definition).map_err(|error| ToolError(error.to_string()))?);
    bytes.push(0);
    bytes.extend_from_slice(key.as_bytes());
    Ok(Digest::of_bytes(&bytes))
}
