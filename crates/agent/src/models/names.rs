//! Names of tools as providers accept them: letters, digits, `_` and `-`, at most 64 characters.

use std::collections::{HashMap, HashSet};

use crate::tool::ToolSpec;

const MAX_NAME: usize = 64;

/// Mapping between the names of tools and their names in the format of the provider.
#[derive(Debug, Default)]
pub(super) struct ToolNames {
    out: HashMap<String, String>,
    back: HashMap<String, String>,
}

impl ToolNames {
    /// Keeps names that fit; `files.read` becomes `files_read`, or `files_read_2` if that is taken.
    pub(super) fn of(tools: &[ToolSpec]) -> Self {
        let mut names = Self::default();
        let mut taken = tools
            .iter()
            .map(|tool| tool.name.as_str())
            .filter(|name| fits(name))
            .map(str::to_owned)
            .collect::<HashSet<_>>();
        for tool in tools {
            let provider_name = if fits(&tool.name) { tool.name.clone() } else { free(&tool.name, &mut taken) };
            names.back.insert(provider_name.clone(), tool.name.clone());
            names.out.insert(tool.name.clone(), provider_name);
        }
        names
    }

    /// Name of a tool for the provider, also of a tool that only the history mentions.
    pub(super) fn provider_name(&self, tool: &str) -> String {
        self.out.get(tool).cloned().unwrap_or_else(|| fitted(tool))
    }

    /// Tool that a model means. An unknown name stays and is refused when the call is proposed.
    pub(super) fn tool(&self, provider_name: &str) -> String {
        self.back.get(provider_name).cloned().unwrap_or_else(|| provider_name.to_owned())
    }
}

fn fits(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_legal)
}

fn is_legal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn fitted(name: &str) -> String {
    let name = name
        .chars()
        .take(MAX_NAME)
        .map(|c| if c.is_ascii() && is_legal(c as u8) { c } else { '_' })
        .collect::<String>();
    if name.is_empty() { "_".to_owned() } else { name }
}

fn free(name: &str, taken: &mut HashSet<String>) -> String {
    let mut provider_name = fitted(name);
    let mut number = 2_u32;
    while !taken.insert(provider_name.clone()) {
        let suffix = format!("_{number}");
        provider_name = fitted(name);
        provider_name.truncate(MAX_NAME - suffix.len());
        provider_name.push_str(&suffix);
        number += 1;
    }
    provider_name
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn names(tools: &[&str]) -> ToolNames {
        let spec = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            schema: Value::Null,
            repeatable: false,
            parallel: false,
        };
        ToolNames::of(&tools.iter().map(spec).collect::<Vec<_>>())
    }

    #[test]
    fn every_tool_has_a_unique_reversible_provider_name() {
        let long = "ä".repeat(80);
        let tools = ["files.read", "files_read", "files/read", "", &long, "plain-name"];
        let names = names(&tools);
        let provider_names = tools.map(|tool| names.provider_name(tool));
        assert_eq!(provider_names[0..4], ["files_read_2", "files_read", "files_read_3", "_"]);
        assert_eq!(provider_names[4], "_".repeat(64));
        assert_eq!(provider_names[5], "plain-name");
        for (tool, provider_name) in tools.iter().zip(&provider_names) {
            assert!(fits(provider_name), "{provider_name}");
            assert_eq!(names.tool(provider_name), **tool);
        }
    }

    #[test]
    fn removed_tool_is_still_encoded_and_unknown_name_stays_unchanged() {
        let names = names(&["a"]);
        assert_eq!(names.provider_name("old.tool"), "old_tool");
        assert_eq!(names.tool("invented"), "invented");
    }
}
