//! Validation of agent definitions: lists everything that prevents an agent from running.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tools::{ASK_USER, ASK_USER_TOOLS, WORKSPACE_TOOLS};
use super::{AgentVersion, AllowedSuggestion, ClientTool, McpServer, RuleSuggestion};
use crate::question::MOST_ITEMS;
use crate::{Kind, KindName, Problem, text};

/// Largest size of a definition in bytes of JSON.
pub(crate) const MOST_BYTES: usize = 256 << 10;
/// Longest deadline in seconds: a leap year.
pub(crate) const MOST_SECONDS: i64 = 366 * 24 * 3600;
/// Largest number of characters of the instructions.
const MOST_INSTRUCTIONS: usize = 100_000;
/// Characters that the name of a version may contain besides letters, digits, `-` and `_`.
pub(crate) const OF_VERSIONS: &str = ".+";

impl AgentVersion {
    /// Lists all errors of the definition, each with a JSON Pointer. A definition without errors can run.
    ///
    /// The `forms` crate checks whether the schemas compile, and [`AgentVersion::only_in_files`] whether the definition may come over the
    /// network.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        text::check_name("/name", &self.name, ".", &mut problems);
        text::check_name("/version", &self.version, OF_VERSIONS, &mut problems);
        if let Some(description) = &self.description {
            text::check_line("/description", description, &mut problems);
        }
        self.model.check(&mut problems);
        check_instructions(&self.instructions, &mut problems);
        self.check_tools(&mut problems);
        self.check_client_tools(&mut problems);
        self.check_mcp(&mut problems);
        self.check_limits(&mut problems);
        self.check_deadlines(&mut problems);
        check_rule_suggestions(&self.suggestions, &mut problems);
        check_allowed(&self.allowed_suggestions, &mut problems);
        check_definition_size(self, &mut problems);
        problems
    }

    fn check_tools(&self, problems: &mut Vec<Problem>) {
        for (index, tool) in self.tools.iter().enumerate() {
            let at = format!("/tools/{index}");
            if self.tools[..index].contains(tool) {
                problems.push(Problem::new(&at, "is listed twice"));
            }
            if ASK_USER_TOOLS.contains(&tool.as_str()) {
                problems.push(Problem::new(&at, "comes with `ask_user`, which gives all tools that ask people"));
            } else if tool != ASK_USER && !WORKSPACE_TOOLS.contains(&tool.as_str()) {
                let known = WORKSPACE_TOOLS.join(", ");
                problems.push(Problem::new(&at, format!("is not a built-in tool; those are {known}, {ASK_USER}")));
            }
        }
        if let Some(workspace) = &self.workspace {
            text::check_name("/workspace", workspace, ".", problems);
        } else {
            let needs = |tool: &&String| WORKSPACE_TOOLS.contains(&tool.as_str());
            if let Some(tool) = self.tools.iter().find(needs) {
                problems.push(Problem::new("/workspace", format!("is missing: `{tool}` needs a directory")));
            }
        }
    }

    fn check_client_tools(&self, problems: &mut Vec<Problem>) {
        check_count("/client_tools", self.client_tools.len(), problems);
        for (index, tool) in self.client_tools.iter().enumerate() {
            let at = |field: &str| format!("/client_tools/{index}/{field}");
            let ClientTool { name, description, schema, .. } = tool;
            text::check_name(&at("name"), name, "", problems);
            if self.client_tools[..index].iter().any(|earlier| earlier.name == *name) {
                problems.push(Problem::new(at("name"), "is already the name of another tool"));
            }
            if self.tools.contains(name) || name == ASK_USER || ASK_USER_TOOLS.contains(&name.as_str()) {
                problems.push(Problem::new(at("name"), "is the name of a built-in tool of this agent"));
            }
            text::check_paragraphs(&at("description"), description, problems);
            if !schema.is_null() && !schema.is_object() {
                problems.push(Problem::new(at("schema"), "must be a JSON Schema, an object"));
            }
            text::check_depth(&at("schema"), schema, problems);
        }
    }

    fn check_mcp(&self, problems: &mut Vec<Problem>) {
        check_count("/mcp", self.mcp.len(), problems);
        for (index, server) in self.mcp.iter().enumerate() {
            if self.mcp[..index].iter().any(|earlier| earlier.name == server.name) {
                problems.push(Problem::new(format!("/mcp/{index}/name"), "is already the name of another server"));
            }
            server.check(&format!("/mcp/{index}"), problems);
        }
    }

    fn check_limits(&self, problems: &mut Vec<Problem>) {
        let limits = [
            ("iterations", self.limits.iterations, 1, 1_000),
            ("rounds", self.limits.rounds, 1, 100),
            ("retries", self.limits.retries, 0, 20),
        ];
        for (field, value, least, most) in limits {
            if !(least..=most).contains(&value) {
                problems.push(Problem::new(format!("/limits/{field}"), format!("must be {least} to {most}")));
            }
        }
    }

    fn check_deadlines(&self, problems: &mut Vec<Problem>) {
        for (kind, seconds) in &self.deadlines {
            let at = text::field("/deadlines", kind);
            check_kind_name(&at, kind, problems);
            check_seconds(&at, *seconds, problems);
        }
    }
}

impl McpServer {
    fn check(&self, at: &str, problems: &mut Vec<Problem>) {
        text::check_name(&format!("{at}/name"), &self.name, "", problems);
        match (self.command.is_empty(), &self.url) {
            (true, None) => problems.push(Problem::new(at, "needs `command` or `url`")),
            (false, Some(_)) => {
                problems.push(Problem::new(format!("{at}/url"), "cannot be combined with `command`: give one of them"));
            }
            (true, Some(url)) => check_address(&format!("{at}/url"), url, problems),
            (false, None) => {}
        }
        if self.command.first().is_some_and(String::is_empty) || self.command.iter().any(|word| word.contains('\0')) {
            problems.push(Problem::new(format!("{at}/command"), "must be a program and its arguments, without NUL"));
        }
        if let Some(variable) = &self.token_env {
            check_environment(&format!("{at}/token_env"), variable, problems);
            if self.url.is_none() {
                problems.push(Problem::new(format!("{at}/token_env"), "is for a server with a `url`"));
            }
        }
        check_count(&format!("{at}/tools"), self.tools.len(), problems);
        for (index, pattern) in self.tools.iter().enumerate() {
            text::check_identifier(&format!("{at}/tools/{index}"), pattern, problems);
        }
    }
}

/// Checks the suggestions for one kind of question, or of one question.
pub(crate) fn check_suggestions(at: &str, suggestions: &[RuleSuggestion], problems: &mut Vec<Problem>) {
    check_count(at, suggestions.len(), problems);
    for (index, suggestion) in suggestions.iter().enumerate() {
        let field = |field: &str| format!("{at}/{index}/{field}");
        text::check_identifier(&field("id"), &suggestion.id, problems);
        if suggestions[..index].iter().any(|earlier| earlier.id == suggestion.id) {
            problems.push(Problem::new(field("id"), "is already the id of another suggestion"));
        }
        text::check_line(&field("label"), &suggestion.label, problems);
        text::check_depth(&field("data"), &suggestion.data, problems);
        if suggestion.option.is_none() && suggestion.data.is_null() {
            problems.push(Problem::new(format!("{at}/{index}"), "needs an `option` to choose, or `data` to fill in"));
        }
    }
}

/// Checks the name of a kind of question. Definitions may not use custom names of kinds.
pub(crate) fn check_kind_name(at: &str, kind: &str, problems: &mut Vec<Problem>) {
    if Kind::named(kind).custom_name().is_some() {
        let known = KindName::ALL.map(KindName::as_str).join(", ");
        problems.push(Problem::new(at, format!("`{kind}` is not a kind of question; the kinds are {known}")));
    }
}

/// Checks a deadline in seconds.
pub(crate) fn check_seconds(at: &str, seconds: i64, problems: &mut Vec<Problem>) {
    if !(1..=MOST_SECONDS).contains(&seconds) {
        problems.push(Problem::new(at, format!("must be 1 to {MOST_SECONDS} seconds (366 days)")));
    }
}

/// Checks that the whole definition is small enough to store.
pub(crate) fn check_definition_size(definition: &impl serde::Serialize, problems: &mut Vec<Problem>) {
    let bytes = serde_json::to_vec(definition).map_or(usize::MAX, |json| json.len());
    if bytes > MOST_BYTES {
        problems.push(Problem::new("", format!("is larger than {MOST_BYTES} bytes")));
    }
}

/// Checks a URL that the server will call: it must not contain a password or characters that could disguise the host.
pub(super) fn check_address(at: &str, url: &str, problems: &mut Vec<Problem>) {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let plain = url.len() <= 2048 && url.bytes().all(|byte| byte.is_ascii_graphic());
    if !plain || host.is_none_or(|host| host.is_empty() || host.contains('@')) {
        problems.push(Problem::new(at, "must be an http:// or https:// address without user or password"));
    }
}

/// Checks the name of an environment variable.
pub(super) fn check_environment(at: &str, variable: &str, problems: &mut Vec<Problem>) {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if variable.len() > 128
        || variable.is_empty()
        || variable.starts_with(|c: char| c.is_ascii_digit())
        || !variable.chars().all(fits)
    {
        problems.push(Problem::new(at, "must be the name of an environment variable"));
    }
}

fn check_rule_suggestions(by_kind: &BTreeMap<String, Vec<RuleSuggestion>>, problems: &mut Vec<Problem>) {
    for (kind, suggestions) in by_kind {
        let at = text::field("/suggestions", kind);
        check_kind_name(&at, kind, problems);
        if Kind::named(kind) == Kind::Secret {
            problems.push(Problem::new(&at, "a definition must not contain a secret"));
        }
        check_suggestions(&at, suggestions, problems);
    }
}

fn check_allowed(allowed: &[AllowedSuggestion], problems: &mut Vec<Problem>) {
    check_count("/allowed_suggestions", allowed.len(), problems);
    for (index, suggestion) in allowed.iter().enumerate() {
        let at = format!("/allowed_suggestions/{index}");
        text::check_identifier(&format!("{at}/id"), &suggestion.id, problems);
        if allowed[..index].iter().any(|earlier| earlier.id == suggestion.id) {
            problems.push(Problem::new(format!("{at}/id"), "is already the id of another suggestion"));
        }
        check_count(&format!("{at}/parameters"), suggestion.parameters.len(), problems);
        for (name, values) in &suggestion.parameters {
            let at = text::field(&format!("{at}/parameters"), name);
            check_count(&at, values.len(), problems);
            values.iter().for_each(|value: &Value| text::check_depth(&at, value, problems));
        }
        check_count(&format!("{at}/options"), suggestion.options.len(), problems);
        for (index, option) in suggestion.options.iter().enumerate() {
            text::check_identifier(&format!("{at}/options/{index}"), option, problems);
        }
    }
}

fn check_instructions(instructions: &str, problems: &mut Vec<Problem>) {
    if instructions.chars().count() > MOST_INSTRUCTIONS {
        problems.push(Problem::new("/instructions", format!("are longer than {MOST_INSTRUCTIONS} characters")));
    }
    if instructions.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        problems.push(Problem::new("/instructions", "contain a control character"));
    }
}

fn check_count(at: &str, items: usize, problems: &mut Vec<Problem>) {
    if items > MOST_ITEMS {
        problems.push(Problem::new(at, format!("must have at most {MOST_ITEMS} items")));
    }
}
