//! Versions of agents and flows, on the wire. What is sent is the definition itself, as in a file.

use domain::{Actor, ActorKind, Definition, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Where a version comes from.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionSource {
    /// A file of the server.
    File,
    /// Somebody brought it into the project.
    Project,
}

/// One version of an agent or a flow.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example_definition)]
pub struct DefinitionView {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it comes from.
    pub source: DefinitionSource,
    /// One line for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who brought it into the project; absent where no session has used a version of the server's files yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_by: Option<Actor>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub added_at: Option<Timestamp>,
    /// Since when no new session uses it. Those that do go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub retired_at: Option<Timestamp>,
    /// The definition itself, without what only a file of the server's operator may say (commands, addresses, names of variables); only where one
    /// version is read.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub definition: Value,
}

impl DefinitionView {
    /// What is shown in a list; `kept` says whether the project has it already.
    #[must_use]
    pub fn new(definition: Definition, kept: bool) -> Self {
        let filed = !kept || definition.by.kind == ActorKind::System;
        Self {
            source: if filed { DefinitionSource::File } else { DefinitionSource::Project },
            description: definition.body["description"].as_str().map(ToOwned::to_owned),
            added_by: kept.then_some(definition.by),
            added_at: kept.then_some(definition.at),
            retired_at: definition.retired_at,
            name: definition.name,
            version: definition.version,
            definition: Value::Null,
        }
    }

    /// The same with the definition itself.
    #[must_use]
    pub fn whole(definition: Definition, kept: bool) -> Self {
        let shown = definition.shown();
        Self { definition: shown, ..Self::new(definition, kept) }
    }
}

/// A page of agents, by name and version.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "agents": [listed()], "next": "scribe@1" }))]
pub struct AgentsPage {
    /// Versions of agents.
    pub agents: Vec<DefinitionView>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A page of flows, by name and version.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "flows": [], "next": "release-notes@1" }))]
pub struct FlowsPage {
    /// Versions of flows.
    pub flows: Vec<DefinitionView>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

fn listed() -> Value {
    json!({ "name": "scribe", "version": "1", "source": "project", "description": "Writes what people ask for",
            "added_by": { "kind": "user", "name": "alice" }, "added_at": "2026-11-15T10:00:00Z" })
}

fn example_definition() -> Value {
    let mut shown = listed();
    shown["definition"] = json!({ "name": "scribe", "version": "1", "description": "Writes what people ask for",
        "model": { "provider": "openai", "name": "gpt-4.1-mini", "key_secret": "OPENAI_KEY" } });
    shown
}
