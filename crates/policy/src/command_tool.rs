//! The tools that take a command line, by declaration.

use tool_facts::{ArgumentUse, Catalogue, Declaration};

use crate::Policy;

/// A tool that takes a command line, and the argument in which it takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandTool {
    /// Name of the tool.
    pub tool: String,
    /// Name of the argument.
    pub argument: String,
}

impl CommandTool {
    /// The first tool of a client, in byte order, that the catalogue declares with a command line.
    #[must_use]
    pub fn of_client(client: &str) -> Option<Self> {
        let tools = Catalogue::tools(client);
        tools.into_iter().find_map(|tool| Self::declared(tool, Catalogue::tool(client, tool)?))
    }

    /// Names of the clients whose tools the catalogue declares.
    #[must_use]
    pub fn clients() -> &'static [&'static str] {
        Catalogue::clients()
    }

    fn declared(tool: &str, declaration: &Declaration) -> Option<Self> {
        declaration.shell?;
        // An argument within an object or a list cannot be the only one of a call.
        let plain = |(name, used): &(&String, &ArgumentUse)| used.is_command() && !name.contains(['.', '[']);
        let (argument, _) = declaration.arguments.iter().find(plain)?;
        Some(Self { tool: tool.to_owned(), argument: argument.clone() })
    }
}

impl Policy {
    /// The first tool, in byte order, that the file declares with a command line in a shell language.
    #[must_use]
    pub fn command_tool(&self) -> Option<CommandTool> {
        self.tools.iter().find_map(|(tool, it)| CommandTool::declared(tool, it.declared.as_ref()?))
    }

    /// The argument in which a tool takes a command line: by the declaration of the file, or by that of the client.
    #[must_use]
    pub fn command_argument(&self, client: Option<&str>, tool: &str) -> Option<String> {
        let own = self.tools.get(tool).and_then(|tool| tool.declared.as_ref());
        let declaration = own.or_else(|| Catalogue::tool(client?, tool))?;
        CommandTool::declared(tool, declaration).map(|it| it.argument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_for_commands_is_the_declared_one() {
        let policy = |tools: &str| Policy::load("policy.toml", &format!("version = 1\n{tools}")).unwrap();
        let found = |tools: &str| policy(tools).command_tool().map(|it| (it.tool, it.argument));
        let command = "[[tool]]\nname = \"run\"\nshell = \"bash\"\narguments.line = \"shell\"\n";
        assert_eq!(found(command), Some(("run".into(), "line".into())));
        assert_eq!(found(""), None);
        assert_eq!(found("[[tool]]\nname = \"run\"\narguments.line = \"shell\"\n"), None, "no language is declared");
        assert_eq!(found("[[tool]]\nname = \"read\"\narguments.path = \"read_path\"\n"), None);
        assert_eq!(
            found(&format!("{command}{}", command.replace("run", "build"))),
            Some(("build".into(), "line".into()))
        );
        assert_eq!(policy(command).command_argument(None, "run").as_deref(), Some("line"));
        assert_eq!(policy(command).command_argument(None, "execute_command"), None);
        assert_eq!(policy("").command_argument(Some("holdpoint"), "execute_command").as_deref(), Some("command"));
        let nested = command.replace("arguments.line", "arguments.options.line");
        assert_eq!(found(&nested), None, "a command line alone is no call of such a tool");
    }

    #[test]
    fn tool_for_commands_of_a_client_is_in_the_catalogue() {
        let found = |client: &str| CommandTool::of_client(client).map(|it| (it.tool, it.argument));
        assert_eq!(found("holdpoint"), Some(("execute_command".into(), "command".into())));
        assert_eq!(found("claude-code"), Some(("Bash".into(), "command".into())));
        assert_eq!(found("mcp-memory"), None);
        assert_eq!(found("nobody"), None);
    }
}
