//! Hosted agents: one immutable version of the definition of an agent that the server runs itself.
//!
//! One type is read both from a TOML file and from the JSON of the API. [`AgentVersion::only_in_files`] lists the settings that are allowed
//! only in a file of the server: a command to start, an environment variable to read, a directory to work in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{OnlyInFiles, OptionId};

pub(crate) mod check;
mod check_model;
pub(crate) mod tools;

pub use tools::{ASK_USER, ASK_USER_TOOLS, EXECUTE_COMMAND, WORKSPACE_TOOLS};

/// A version of an agent. It never changes after a session has used it.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(example = json!({
    "name": "scribe", "version": "1", "description": "Writes what people ask for",
    "model": { "provider": "openai", "name": "gpt-4.1-mini", "key_secret": "OPENAI_KEY" },
    "instructions": "Write short texts. Ask where something is unclear.", "tools": ["ask_user"],
    "limits": { "iterations": 20, "rounds": 10, "retries": 3 }, "deadlines": { "approval": 3600 }
})))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentVersion {
    /// Name of the agent. Rules, grants and kept secrets refer to it.
    pub name: String,
    /// Name of this version.
    pub version: String,
    /// Description in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Model of the agent.
    pub model: ModelChoice,
    /// System prompt of the agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// Names of the built-in tools that the agent may use: the tools of the workspace, and `ask_user`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Tools that the connected client runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_tools: Vec<ClientTool>,
    /// MCP servers whose tools the agent may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
    /// Name of the directory below the server's workspaces to which the tools are confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Limits after which a step fails.
    #[serde(default)]
    pub limits: Limits,
    /// Deadlines of questions in seconds, by kind of question.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deadlines: BTreeMap<String, i64>,
    /// Suggestions that are always offered, by kind of question.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub suggestions: BTreeMap<String, Vec<RuleSuggestion>>,
    /// Suggestions that the model may make. If empty, the model may make none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_suggestions: Vec<AllowedSuggestion>,
    /// Projects of the agent. This is a setting of the server's operator and not part of the version.
    #[serde(default, skip_serializing)]
    pub projects: OnlyInFiles,
    /// Whether commands of the agent may use the network. This is a setting of the server's operator and not part of the version.
    #[serde(default, skip_serializing)]
    pub network: OnlyInFiles,
    /// Directories that commands of the agent may read. This is a setting of the server's operator and not part of the version.
    #[serde(default, skip_serializing)]
    pub read_only: OnlyInFiles,
}

/// API format of a model.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Chat completions of OpenAI or a compatible server.
    Openai,
    /// The Messages API of Anthropic.
    Anthropic,
    /// No model: the turns of a script.
    Scripted,
}

/// Model of an agent.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// API format of the model.
    pub provider: Provider,
    /// Name of the model at the provider.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Base URL, if it is not the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Environment variable of the server that contains the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// Kept secret of this agent that contains the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_secret: Option<String>,
    /// Sampling temperature of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Largest number of tokens that the model may write in one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Longest duration of one turn in seconds, without retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Further fields of the request, as the provider names them (`thinking`, `reasoning_effort`, `top_p`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// Price of a million tokens, to be shown with the usage of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Script of a scripted model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

/// Price of a million tokens.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Price of tokens that the model reads.
    pub input: f64,
    /// Price of tokens that the model writes.
    pub output: f64,
}

/// Script of a scripted model. Each turn plays the first entry whose condition matches. An entry is played once, unless `again` is set.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Entries of the script.
    pub turns: Vec<ScriptedTurn>,
}

/// One turn of a script.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedTurn {
    /// Text that the last message must contain; any message if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Text that the model writes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub say: String,
    /// Calls that the model makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptedCall>,
    /// Whether the turn may be played again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// One call of a scripted turn.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the tool; empty if absent.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
}

/// A tool that the connected client runs.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTool {
    /// Name of the tool.
    pub name: String,
    /// Description for the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of the arguments.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub schema: Value,
    /// Whether the tool may run again if the outcome of a run is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
}

/// An MCP server, either started as a program or called over HTTP.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// Name of the server. Its tools are called `name.tool`.
    pub name: String,
    /// Program and arguments of a server that communicates over standard input and output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// URL of a server that communicates over streamable HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Environment variable of the server that contains the bearer token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// Tools to use, with wildcards that match the whole name; all tools if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Whether the program may use the network. This is a setting of the server's operator and not part of the version.
    #[serde(default, skip_serializing)]
    pub network: OnlyInFiles,
    /// Directories that the program may read. This is a setting of the server's operator and not part of the version.
    #[serde(default, skip_serializing)]
    pub read_only: OnlyInFiles,
}

/// Limits of a step.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Largest number of turns of the model.
    pub iterations: u32,
    /// Largest number of rounds of questions. A round is a turn with at least one call that people were asked about.
    pub rounds: u32,
    /// Largest number of consecutive times that people may send the model back.
    pub retries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { iterations: 50, rounds: 10, retries: 3 }
    }
}

/// A suggestion that a version of an agent always offers.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSuggestion {
    /// Identifier of the suggestion.
    pub id: String,
    /// Label that people see.
    pub label: String,
    /// Identifier of the option that the suggestion chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<OptionId>,
    /// Data that the suggestion fills in.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// A suggestion that the model of an agent may make.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowedSuggestion {
    /// Identifier of the suggestion.
    pub id: String,
    /// Parameters that the suggestion may fill in, each with its allowed values; any value if the list is empty. Parameters that are not
    /// listed are not allowed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Vec<Value>>,
    /// Identifiers of the options that the suggestion may choose. Options that are not listed are not allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionId>,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}
