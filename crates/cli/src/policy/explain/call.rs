//! The call that is explained: its tool and arguments, as given or as chosen for a command line.

use policy::{CommandTool, Policy, PolicyInput};
use serde_json::{Map, Value, json};

use crate::config::PolicyExplain;
use crate::failure::Failure;

/// The client of hosted agents.
const HOSTED: &str = "holdpoint";
/// The argument in which an undeclared tool takes a command line.
const COMMAND: &str = "command";

/// A call of a tool by a client.
pub(crate) struct ExplainedCall {
    /// Name of the tool.
    pub(crate) tool: String,
    /// Its arguments, an object.
    pub(crate) arguments: Value,
    /// Name of the client.
    pub(crate) client: Option<String>,
    /// Absolute path of the root.
    pub(crate) root: Option<String>,
    /// Name of the argument that contains the command line, if the call was given as one.
    line: Option<String>,
    /// Who says that the tool takes command lines, if the tool was not given.
    chosen: Option<String>,
}

impl ExplainedCall {
    /// The call that the options describe.
    pub(crate) fn of(explain: &PolicyExplain, policy: &Policy) -> Result<Self, Failure> {
        let root = match &explain.root {
            Some(root) => Some(std::path::absolute(root).map_err(|error| Failure::Data(root.clone(), error))?),
            None => None,
        };
        let call = Self {
            tool: explain.tool.clone().unwrap_or_default(),
            arguments: json!({}),
            client: explain.client.clone(),
            root: root.map(|root| root.display().to_string()),
            line: None,
            chosen: None,
        };
        match (&explain.line, &explain.arguments) {
            (Some(line), _) => call.with_line(line, policy),
            (None, Some(text)) => Ok(Self { arguments: object(text)?, ..call }),
            (None, None) => Ok(call),
        }
    }

    /// Adds a command line, and a tool that takes it unless one was given.
    fn with_line(mut self, line: &str, policy: &Policy) -> Result<Self, Failure> {
        let argument = if self.tool.is_empty() {
            let found = self.choose_tool(policy)?;
            self.tool = found.tool;
            found.argument
        } else {
            let declared = policy.command_argument(self.client.as_deref(), &self.tool);
            declared.unwrap_or_else(|| COMMAND.to_owned())
        };
        self.arguments = json!({ &argument: line });
        self.line = Some(argument);
        Ok(self)
    }

    /// The tool of the given client, else that of the file, else that of hosted agents.
    fn choose_tool(&mut self, policy: &Policy) -> Result<CommandTool, Failure> {
        if self.client.is_none()
            && let Some(found) = policy.command_tool()
        {
            self.chosen = Some("declared by the file".to_owned());
            return Ok(found);
        }
        let client = self.client.get_or_insert_with(|| HOSTED.to_owned());
        self.chosen = Some(format!("a tool of the client {client}"));
        CommandTool::of_client(client).ok_or_else(|| Failure::NoCommandTool(client.clone()))
    }

    /// The input of the policy.
    pub(crate) fn input<'a>(&'a self, explain: &'a PolicyExplain) -> PolicyInput<'a> {
        PolicyInput {
            tool: &self.tool,
            arguments: &self.arguments,
            agent: explain.agent.as_deref(),
            user: &explain.user,
            role: domain::Role::Agent,
            client: self.client.as_deref(),
            root: self.root.as_deref(),
        }
    }

    /// The command line of the call, if it was given as one.
    pub(crate) fn command(&self) -> Option<&str> {
        self.arguments.get(self.line.as_deref()?)?.as_str()
    }

    /// The tool, and why it was chosen.
    pub(crate) fn shown_tool(&self) -> String {
        let Self { tool, line, chosen, .. } = self;
        let argument =
            line.as_ref().map_or_else(String::new, |argument| format!(" with the command line as `{argument}`"));
        let chosen = chosen.as_ref().map_or_else(String::new, |chosen| format!(" ({chosen}; --tool gives another)"));
        format!("{tool}{argument}{chosen}")
    }
}

/// The arguments of a tool.
fn object(text: &str) -> Result<Value, Failure> {
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| Failure::ArgumentsInvalid(error.to_string()))?;
    Ok(Value::Object(object))
}
