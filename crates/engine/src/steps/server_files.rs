//! What the server's own files define, and the projects that each definition belongs to.
//!
//! Whatever the engine does with a definition of a file goes through [`OfferedDefinitions`], which shows one project only what belongs to it.

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

/// How many projects' names are kept at hand.
const MOST_NAMES: u64 = 10_000;

/// What the server's own files define.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    /// Agents, the newest version of a name last.
    pub agents: Vec<AgentVersion>,
    /// Flows, the newest version of a name last.
    pub flows: Vec<FlowVersion>,
}

/// The projects that the definitions of the files belong to, by kind, name and version. What is absent belongs to `default/default`.
#[derive(Debug, Clone, Default)]
pub struct Owners(BTreeMap<&'static str, BTreeMap<(String, String), Projects>>);

impl Owners {
    /// Says to which projects a version belongs.
    pub fn insert(&mut self, kind: DefinitionKind, (name, version): (&str, &str), projects: Projects) {
        self.0.entry(kind.name()).or_default().insert((name.to_owned(), version.to_owned()), projects);
    }

    fn include(&self, kind: DefinitionKind, (name, version): (&str, &str), project: &ProjectName) -> bool {
        let key = (name.to_owned(), version.to_owned());
        let projects = self.0.get(kind.name()).and_then(|owners| owners.get(&key));
        projects.map_or_else(|| project.is_default(), |projects| projects.include(project))
    }
}

/// The definitions of the files with their owners.
#[derive(Debug, Default)]
struct LoadedFiles {
    definitions: Definitions,
    owners: Owners,
}

impl LoadedFiles {
    /// The names and versions of a kind, in the order of the files.
    fn versions(&self, kind: DefinitionKind) -> Vec<(&str, &str)> {
        let Definitions { agents, flows } = &self.definitions;
        match kind {
            DefinitionKind::Agent => agents.iter().map(|one| (one.name.as_str(), one.version.as_str())).collect(),
            DefinitionKind::Flow => flows.iter().map(|one| (one.name.as_str(), one.version.as_str())).collect(),
        }
    }
}

/// What the server brings itself: the definitions of its files, as they are now, and the schemas of the tools that it has built in.
pub(crate) struct ServerDefinitions {
    now: RwLock<Arc<LoadedFiles>>,
    tools: RwLock<BTreeMap<String, Value>>,
    /// The names of projects, which never change.
    names: Cache<Scope, ProjectName>,
}

impl Default for ServerDefinitions {
    fn default() -> Self {
        Self { now: RwLock::default(), tools: RwLock::default(), names: Cache::new(MOST_NAMES) }
    }
}

impl ServerDefinitions {
    /// The schema of a tool that is built in.
    pub(crate) fn schema(&self, tool: &str) -> Option<Value> {
        self.tools.read().get(tool).cloned()
    }
}

/// What the files offer to one project.
#[derive(Debug, Clone)]
pub(crate) struct OfferedDefinitions {
    project: ProjectName,
    files: Arc<LoadedFiles>,
}

impl OfferedDefinitions {
    /// The project.
    pub(crate) const fn project(&self) -> &ProjectName {
        &self.project
    }

    /// What the same files offer to another project.
    pub(crate) fn for_project(&self, project: ProjectName) -> Self {
        Self { project, files: Arc::clone(&self.files) }
    }

    /// The agents that belong to the project, the newest version of a name last.
    pub(crate) fn agents(&self) -> impl DoubleEndedIterator<Item = &AgentVersion> {
        self.files.definitions.agents.iter().filter(|one| self.has(DefinitionKind::Agent, (&one.name, &one.version)))
    }

    /// The flows that belong to the project, likewise.
    pub(crate) fn flows(&self) -> impl DoubleEndedIterator<Item = &FlowVersion> {
        self.files.definitions.flows.iter().filter(|one| self.has(DefinitionKind::Flow, (&one.name, &one.version)))
    }

    /// Every definition of a kind that belongs to the project, as it would be kept there.
    pub(crate) fn definitions(&self, kind: DefinitionKind, at: Timestamp) -> Vec<Definition> {
        let by = Actor::system();
        match kind {
            DefinitionKind::Agent => self.agents().map(|one| Definition::of_agent(one, by.clone(), at)).collect(),
            DefinitionKind::Flow => self.flows().map(|one| Definition::of_flow(one, by.clone(), at)).collect(),
        }
    }

    /// Whether the project may use a definition that it keeps. What somebody brought there is the project's own. What came from a file must
    /// still belong to the project: by the file of that version, else by the file of the newest version of that name, else because the
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
    /// Takes what the server's files define now. All of it belongs to `default/default`.
    pub fn define(&self, definitions: Definitions) {
        self.define_for(definitions, Owners::default());
    }

    /// Takes what the server's files define now, and the projects that it belongs to.
    pub fn define_for(&self, definitions: Definitions, owners: Owners) {
        *self.filed.now.write() = Arc::new(LoadedFiles { definitions, owners });
    }

    /// Takes the schemas of the tools that our workers have built in, by name: what people make of a call of one is held against it.
    pub fn build_in(&self, tools: BTreeMap<String, Value>) {
        *self.filed.tools.write() = tools;
    }

    /// What the files offer to a project now.
    pub(crate) async fn offered(&self, scope: Scope) -> Result<OfferedDefinitions, Error> {
        let files = Arc::clone(&self.filed.now.read());
        Ok(OfferedDefinitions { project: self.project_named(scope).await?, files })
    }

    /// The name of a project, with that of its tenant.
    pub async fn project_named(&self, scope: Scope) -> Result<ProjectName, Error> {
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
