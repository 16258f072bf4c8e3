//! Views of the versions of agents and flows. Requests contain the definition itself, in the format of a definition file.

use domain::{Actor, ActorKind, Definition, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Origin of a version.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionSource {
    /// A definition file of the server.
    File,
    /// The API of the project.
    Project,
}

/// A version of an agent or a flow.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example_definition)]
pub struct DefinitionView {
    /// Name of the agent or flow.
    pub name: String,
    /// Version of the agent or flow.
    pub version: String,
    /// Origin of the version.
    pub source: DefinitionSource,
    /// Description in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Actor that added the version to the project. Absent for a version of the server's files that no session has used yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_by: Option<Actor>,
    /// Time at which the version was added to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub added_at: Option<Timestamp>,
    /// Time at which the version was retired. New sessions do not use a retired version; sessions that already use it continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub retired_at: Option<Timestamp>,
    /// The definition itself, present only if one version is read. Commands, addresses and names of variables, which only a file of the
    /// server may contain, are left out.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub definition: Value,
}

impl DefinitionView {
    /// Builds the view for a list. `kept` says whether the project has stored the version.
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

    /// Builds the view including the definition itself.
    #[must_use]
    pub fn whole(definition: Definition, kept: bool) -> Self {
        let shown = definition.public_body();
        Self { definition: shown, ..Self::new(definition, kept) }
    }
}

/// A page of agents, ordered by name and version.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "agents": [listed()], "next": "scribe@1" }))]
pub struct AgentsPage {
    /// Versions of agents, by name and version.
    pub agents: Vec<DefinitionView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A page of flows, ordered by name and version.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "flows": [], "next": "release-notes@1" }))]
pub struct FlowsPage {
    /// Versions of flows, by name and version.
    pub flows: Vec<DefinitionView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
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
