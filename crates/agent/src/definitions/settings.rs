//! Settings of the operator in definition files: the projects that may use a definition, and the directories and
//! networks that its programs may reach.
//!
//! Settings are not part of a version. They are removed from the document before the version is computed and the
//! definition is read, so a changed setting does not make another version.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use domain::{AgentVersion, FlowVersion, ProjectName, Projects};
use serde_json::Value;

use super::document::Document;
use super::finding::FileFinding;

/// Largest number of projects or directories in one list.
const MOST: usize = 1_000;

/// Settings beside an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorSettings {
    /// The projects that may use the agent.
    pub projects: Projects,
    /// Whether its commands may use the network.
    pub network: bool,
    /// Directories outside the workspace that its commands may read.
    pub read_only: Vec<PathBuf>,
    /// The settings of its MCP servers, by the server's name. A server without settings is absent.
    pub mcp: BTreeMap<String, McpSettings>,
}

/// Settings beside an MCP server of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpSettings {
    /// Whether the server's program may use the network.
    pub network: bool,
    /// Directories that the server's program may read.
    pub read_only: Vec<PathBuf>,
}

/// An agent read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFile {
    /// Version of the agent that the file defines.
    pub agent: AgentVersion,
    /// Settings of the operator.
    pub settings: OperatorSettings,
}

/// A flow read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowFile {
    /// Version of the flow that the file defines.
    pub flow: FlowVersion,
    /// Projects that may use the flow.
    pub projects: Projects,
}

/// Removes the settings from the document of an agent and adds their problems to the findings.
pub(super) fn of_agent(document: &mut Document, findings: &mut Vec<FileFinding>) -> OperatorSettings {
    let projects = projects(document, findings);
    let (network, read_only) = reach(document, "", findings);
    let mut mcp = BTreeMap::new();
    let servers = document.value.get("mcp").and_then(Value::as_array).map_or(0, Vec::len);
    for index in 0..servers {
        let at = format!("/mcp/{index}");
        let (network, read_only) = reach(document, &at, findings);
        let name = document.value.pointer(&format!("{at}/name")).and_then(Value::as_str);
        if let Some(name) = name.filter(|_| network || !read_only.is_empty()) {
            mcp.insert(name.to_owned(), McpSettings { network, read_only });
        }
    }
    OperatorSettings { projects, network, read_only, mcp }
}

/// Removes `projects` from the document.
pub(super) fn projects(document: &mut Document, findings: &mut Vec<FileFinding>) -> Projects {
    let Some(value) = document.remove("", "projects") else { return Projects::default() };
    let mut found = |at: &str, message: String| findings.push(document.finding(at, message));
    let Some(items) = list("projects", &value, "/projects", &mut found) else { return Projects::default() };
    if items.iter().any(|(_, item)| *item == "*") {
        if items.len() > 1 {
            found("/projects", "`projects`: `*` stands for all projects and needs no others beside it".to_owned());
        }
        return Projects::All;
    }
    if items.is_empty() {
        let message = "`projects` names no project; without this key the file belongs to `default/default`";
        found("/projects", message.to_owned());
    }
    let mut named = std::collections::BTreeSet::new();
    for (at, item) in items {
        match ProjectName::parse(item) {
            Some(project) => drop(named.insert(project)),
            None => found(&at, "`projects`: each is written `TENANT/PROJECT`, and `*` alone stands for all".to_owned()),
        }
    }
    Projects::Named(named)
}

/// Removes `network` and `read_only` from a table of the document.
fn reach(document: &mut Document, table: &str, findings: &mut Vec<FileFinding>) -> (bool, Vec<PathBuf>) {
    let (network, read_only) = (document.remove(table, "network"), document.remove(table, "read_only"));
    let key = |name: &str| if table.is_empty() { name.to_owned() } else { format!("mcp.{name}") };
    let mut found = |at: &str, message: String| findings.push(document.finding(at, message));
    let network = match network {
        None => false,
        Some(Value::Bool(network)) => network,
        Some(_) => {
            found(&format!("{table}/network"), format!("`{}` must be true or false", key("network")));
            false
        }
    };
    let Some(value) = read_only else { return (network, Vec::new()) };
    let (key, place) = (key("read_only"), format!("{table}/read_only"));
    let mut directories = Vec::new();
    for (at, item) in list(&key, &value, &place, &mut found).unwrap_or_default() {
        if is_directory(item) {
            directories.push(PathBuf::from(item));
        } else {
            let wanted = "an absolute path below `/`, without `.` and `..`";
            found(&at, format!("`{key}`: each directory is {wanted}"));
        }
    }
    (network, directories)
}

/// The strings of a list, each with its pointer.
fn list<'v>(
    key: &str,
    value: &'v Value,
    place: &str,
    found: &mut impl FnMut(&str, String),
) -> Option<Vec<(String, &'v str)>> {
    let items = value.as_array().filter(|items| items.iter().all(Value::is_string));
    let Some(items) = items else {
        found(place, format!("`{key}` must be a list of texts"));
        return None;
    };
    if items.len() > MOST {
        found(place, format!("`{key}` has more than {MOST} items"));
        return None;
    }
    let items = items.iter().filter_map(Value::as_str).enumerate();
    Some(items.map(|(index, item)| (format!("{place}/{index}"), item)).collect())
}

/// Whether a text is the absolute, normalised path of a directory other than the root.
fn is_directory(text: &str) -> bool {
    let path = Path::new(text);
    let mut parts = path.components();
    let straight =
        parts.next() == Some(Component::RootDir) && parts.clone().all(|part| matches!(part, Component::Normal(_)));
    let spelled = text.split('/').all(|part| part != ".") && !text.contains(char::is_control);
    straight && spelled && parts.next().is_some()
}
