//! An agent that the server runs itself: one immutable version of its definition.
//!
//! The same type is read from a TOML file and from the JSON of the API. What a server's own operator may say in a file and nobody over the
//! network may (a command to start, a variable of the environment to read, a directory to work in) is listed by [`AgentVersion::only_in_files`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{OnlyInFiles, OptionId};

pub(crate) mod check;
mod check_model;
pub(crate) mod tools;

pub use tools::{ASK_USER, ASK_USER_TOOLS, EXECUTE_COMMAND, WORKSPACE_TOOLS};

/// One version of an agent. It never changes once a session has used it.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(example = json!({
    "name": "scribe", "version": "1", "description": "Writes what people ask for",
    "model": { "provider": "openai", "name": "gpt-4.1-mini", "key_secret": "OPENAI_KEY" },
    "instructions": "Write short texts. Ask where something is unclear.", "tools": ["ask_user"],
    "limits": { "iterations": 20, "rounds": 10, "retries": 3 }, "deadlines": { "approval": 3600 }
})))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentVersion {
    /// The agent's name: rules, grants and kept secrets know it by this.
    pub name: String,
    /// The name of this version.
    pub version: String,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What thinks.
    pub model: ModelChoice,
    /// What it is told before anything else.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// The built-in tools that it may use, by name: those of the workspace, and `ask_user`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Tools that the connected client runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_tools: Vec<ClientTool>,
    /// MCP servers whose tools it may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
    /// The directory, by name below the server's workspaces, that its tools are confined to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// How far it may go before a step is a failure.
    #[serde(default)]
    pub limits: Limits,
    /// How long people have to answer, in seconds, by kind of question.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deadlines: BTreeMap<String, i64>,
    /// What is always suggested, by kind of question.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub suggestions: BTreeMap<String, Vec<RuleSuggestion>>,
    /// What its model may suggest. Nothing, where this is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_suggestions: Vec<AllowedSuggestion>,
    /// The projects that it belongs to: an operator's setting, not part of the version.
    #[serde(default, skip_serializing)]
    pub projects: OnlyInFiles,
    /// Whether its commands may use the network: an operator's setting too.
    #[serde(default, skip_serializing)]
    pub network: OnlyInFiles,
    /// The directories that its commands may read: an operator's setting too.
    #[serde(default, skip_serializing)]
    pub read_only: OnlyInFiles,
}

/// Who speaks the wire format of the model.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Chat completions, of OpenAI or anything compatible.
    Openai,
    /// Anthropic's messages.
    Anthropic,
    /// No model at all: a script is played.
    Scripted,
}

/// What thinks for an agent.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// Who speaks its wire format.
    pub provider: Provider,
    /// The model's name there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its address, where it is not the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The variable of the server's environment that has its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The kept secret of this agent that has its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_secret: Option<String>,
    /// How freely it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How much it may say in one turn, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How long one turn may take, retries apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Further fields of the request, as the provider names them (`thinking`, `reasoning_effort`, `top_p`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// What a million tokens cost, to be shown with what a turn used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What a scripted model plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

/// What a million tokens cost.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Those that the model reads.
    pub input: f64,
    /// Those that it writes.
    pub output: f64,
}

/// What a scripted model says: the first turn whose condition fits, in order, each once unless it says otherwise.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Its turns.
    pub turns: Vec<ScriptedTurn>,
}

/// One turn of a script.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedTurn {
    /// A text that the last message must contain; any message where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub say: String,
    /// What it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptedCall>,
    /// Whether it may be played again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// One call of a scripted turn.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments; none where absent.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
}

/// A tool that the connected client runs.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTool {
    /// Its name.
    pub name: String,
    /// What the model reads about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of its arguments.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub schema: Value,
    /// Whether it may be run again when nobody knows whether it ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
}

/// An MCP server: one that is started, or one that is called.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// Its tools are called `name.tool`.
    pub name: String,
    /// The program and its arguments, spoken to over its standard input and output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Its address, for streamable HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The variable of the server's environment that has its bearer token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// Which of its tools, with wildcards over the whole name; all of them where empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Whether its program may use the network: an operator's setting, not part of the version.
    #[serde(default, skip_serializing)]
    pub network: OnlyInFiles,
    /// The directories that its program may read: an operator's setting too.
    #[serde(default, skip_serializing)]
    pub read_only: OnlyInFiles,
}

/// How far a step may go.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Turns of the model.
    pub iterations: u32,
    /// Rounds of questions: turns of which at least one call had to be asked about.
    pub rounds: u32,
    /// Times in a row that people may send the model back to think.
    pub retries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { iterations: 50, rounds: 10, retries: 3 }
    }
}

/// Something that an agent's version always suggests.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSuggestion {
    /// Its name.
    pub id: String,
    /// What the person reads.
    pub label: String,
    /// The option that it chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<OptionId>,
    /// What it fills in.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// Something that an agent's model may suggest.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowedSuggestion {
    /// Its name.
    pub id: String,
    /// The parameters that it may fill in, each with the values that it may have: any, where the list is empty. A parameter that is not
    /// here is not allowed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Vec<Value>>,
    /// The options that it may choose. One that is not here is not allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionId>,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}
