//! The call that is explained: its tool and arguments, as given or as chosen for a command line.

use serde_json::{Map, Value, json};

use crate::config::PolicyExplain;
use crate::failure::Failure;

/// The tool for commands of the agents that Holdpoint runs.
const HOSTED_TOOL: &str = "execute_command";
/// The argument of an undeclared tool that takes a command.
const COMMAND: &str = "command";

/// A call of a tool.
pub(crate) struct ExplainedCall {
    /// Name of the tool.
    pub(crate) tool: String,
    /// Its arguments, an object.
    pub(crate) arguments: Value,
    /// Why this tool was chosen; empty if it was given.
    why: &'static str,
}

impl ExplainedCall {
    /// The call that the options describe.
    pub(crate) fn of(explain: &PolicyExplain) -> Result<Self, Failure> {
        let PolicyExplain { line, tool, arguments, .. } = explain;
        let (tool, why) = match tool {
            Some(tool) => (tool.clone(), ""),
            None => (HOSTED_TOOL.to_owned(), "the tool for commands of hosted agents"),
        };
        let arguments = match (line, arguments) {
            (Some(line), _) => json!({ COMMAND: line }),
            (None, Some(text)) => object(text)?,
            (None, None) => json!({}),
        };
        Ok(Self { tool, arguments, why })
    }

    /// The tool, its arguments, and why it was chosen.
    pub(crate) fn shown_tool(&self) -> String {
        let Self { tool, arguments, why } = self;
        if why.is_empty() { format!("{tool} {arguments}") } else { format!("{tool} {arguments} ({why})") }
    }
}

/// The arguments of a tool.
fn object(text: &str) -> Result<Value, Failure> {
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| Failure::ArgumentsInvalid(error.to_string()))?;
    Ok(Value::Object(object))
}
