//! Holds the definitions of the server's files, and the projects that each definition belongs to.
//!
//! The engine uses definitions of files only through [`OfferedDefinitions`], which shows a project only the definitions that belong to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{
    Actor, AgentVersion, Definition, DefinitionKind, FlowVersion, ProjectName, Projects, Refusal, Scope, Timestamp,
};
use moka::sync::Cache;
use parking_lot::RwLock;
use serde_json::Value;
use store::Cost;

use crate::{Engine, Error};

/// Number of project names in the cache.
const MOST_NAMES: u64 = 10_000;

/// Definitions of the server's files.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    /// Agents; the newest version of a name comes last.
    pub agents: Vec<AgentVersion>,
    /// Flows; the newest version of a name comes last.
    pub flows: Vec<FlowVersion>,
}

/// Projects that the definitions of the files belong to, by kind, name and version. A definition without an entry belongs to `default/default`.
#[derive(Debug, Clone, Default)]
pub struct Owners(BTreeMap<&'static str, BTreeMap<(String, String), Projects>>);

impl Owners {
    /// Sets the projects that a version belongs to.
    pub fn insert(&mut self, kind: DefinitionKind, (name, version): (&str, &str), projects: Projects) {
        self.0.entry(kind.name()).or_default().insert((name.to_owned(), version.to_owned()), projects);
    }

    fn include(&self, kind: DefinitionKind, (name, version): (&str, &str), project: &ProjectName) -> bool {
        let key = (name.to_owned(), version.to_owned());
        let projects = self.0.get(kind.name()).and_then(|owners| owners.get(&key));
        projects.map_or_else(|| project.is_default(), |projects| projects.include(project))
    }
}

/// Definitions of the files with their owners.
#[derive(Debug, Default)]
struct LoadedFiles {
    definitions: Definitions,
    owners: Owners,
}

impl LoadedFiles {
    /// Names and versions of a kind, in the order of the files.
    fn versions(&self, kind: DefinitionKind) -> Vec<(&str, &str)> {
        let Definitions { agents, flows } = &self.definitions;
        match kind {
            DefinitionKind::Agent => agents.iter().map(|one| (one.name.as_str(), one.version.as_str())).collect(),
            DefinitionKind::Flow => flows.iter().map(|one| (one.name.as_str(), one.version.as_str())).collect(),
        }
    }
}

/// Definitions that the server provides: the definitions of its current files, and the schemas of its built-in tools.
pub(crate) struct ServerDefinitions {
    now: RwLock<Arc<LoadedFiles>>,
    tools: RwLock<BTreeMap<String, Value>>,
    /// Cache of project names, which never change.
    names: Cache<Scope, ProjectName>,
}

impl Default for ServerDefinitions {
    fn default() -> Self {
        Self { now: RwLock::default(), tools: RwLock::default(), names: Cache::new(MOST_NAMES) }
    }
}

impl ServerDefinitions {
    /// Schema of a built-in tool.
    pub(crate) fn schema(&self, tool: &str) -> Option<Value> {
        self.tools.read().get(tool).cloned()
    }
}

/// Definitions that the files offer to one project.
#[derive(Debug, Clone)]
pub(crate) struct OfferedDefinitions {
    project: ProjectName,
    files: Arc<LoadedFiles>,
}

impl OfferedDefinitions {
    /// Name of the project.
    pub(crate) const fn project(&self) -> &ProjectName {
        &self.project
    }

    /// Definitions that these files offer to another project.
    pub(crate) fn for_project(&self, project: ProjectName) -> Self {
        Self { project, files: Arc::clone(&self.files) }
    }

    /// Agents that belong to the project; the newest version of a name comes last.
    pub(crate) fn agents(&self) -> impl DoubleEndedIterator<Item = &AgentVersion> {
        self.files.definitions.agents.iter().filter(|one| self.has(DefinitionKind::Agent, (&one.name, &one.version)))
    }

    /// Flows that belong to the project; the newest version of a name comes last.
    pub(crate) fn flows(&self) -> impl DoubleEndedIterator<Item = &FlowVersion> {
        self.files.definitions.flows.iter().filter(|one| self.has(DefinitionKind::Flow, (&one.name, &one.version)))
    }

    /// Definitions of a kind that belong to the project, in the form in which the project would store them.
    pub(crate) fn definitions(&self, kind: DefinitionKind, at: Timestamp) -> Vec<Definition> {
        let by = Actor::system();
        match kind {
            DefinitionKind::Agent => self.agents().map(|one| Definition::of_agent(one, by.clone(), at)).collect(),
            DefinitionKind::Flow => self.flows().map(|one| Definition::of_flow(one, by.clone(), at)).collect(),
        }
    }

    /// Whether the project may use a stored definition. A definition that was added over the API is the project's own. A definition from a file must
    /// still belong to the project: by the file of that version, otherwise by the file of the newest version of that name, otherwise because the
    /// project is `default/default`.
    pub(crate) fn allows(&self, kept: &Definition) -> bool {
        if kept.by != Actor::system() {
            return true;
        }
        let versions = self.files.versions(kept.kind);
        let same_name = || versions.iter().rev().filter(|(name, _)| *name == kept.name);
        let exact = same_name().find(|(_, version)| *version == kept.version);
        match exact.or_else(|| same_name().next()) {
            Some(version) => self.has(kept.kind, *version),
            None => self.project.is_default(),
        }
    }

    fn has(&self, kind: DefinitionKind, version: (&str, &str)) -> bool {
        self.files.owners.include(kind, version, &self.project)
    }
}

impl Engine {
    /// Replaces the definitions of the server's files. All of them belong to `default/default`.
    pub fn set_definitions(&self, definitions: Definitions) {
        self.set_definitions_for(definitions, Owners::default());
    }

    /// Replaces the definitions of the server's files and the projects that they belong to.
    pub fn set_definitions_for(&self, definitions: Definitions, owners: Owners) {
        *self.filed.now.write() = Arc::new(LoadedFiles { definitions, owners });
    }

    /// Sets the schemas of the workers' built-in tools, by name. Arguments that people edit are validated against them.
    pub fn set_tool_schemas(&self, tools: BTreeMap<String, Value>) {
        *self.filed.tools.write() = tools;
    }

    /// Returns the name of a project and the name of its tenant.
    pub async fn project_names(&self, scope: Scope) -> Result<ProjectName, Error> {
        if let Some(known) = self.filed.names.get(&scope) {
            return Ok(known);
        }
        let names = self.read(Cost::Point, move |reads| Ok(reads.scope_names(&scope)?)).await?;
        let (tenant, project) = names.ok_or(Refusal::NotFound("project"))?;
        let named = ProjectName::new(tenant, project);
        self.filed.names.insert(scope, named.clone());
        Ok(named)
    }
}

/// Returns the definitions that the current files offer to a project.
pub(crate) async fn offered(engine: &Engine, scope: Scope) -> Result<OfferedDefinitions, Error> {
    let files = Arc::clone(&engine.filed.now.read());
    Ok(OfferedDefinitions { project: engine.project_names(scope).await?, files })
}
