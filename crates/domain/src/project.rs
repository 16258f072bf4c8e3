//! Projects by name, as the operator's files and the paths of workspaces name them.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::text;

/// The name of the tenant, and of the project, that exist without anybody having named one.
pub const DEFAULT: &str = "default";

/// The name of a project with that of its tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectName {
    /// The tenant's name.
    pub tenant: String,
    /// The project's name within the tenant.
    pub project: String,
}

impl ProjectName {
    /// A project by these names.
    #[must_use]
    pub fn new(tenant: impl Into<String>, project: impl Into<String>) -> Self {
        Self { tenant: tenant.into(), project: project.into() }
    }

    /// Reads `TENANT/PROJECT`. A name that itself contains a `/` or a `*` cannot be written this way: it could be taken for another one.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let (tenant, project) = written.split_once('/')?;
        let plain = |name: &str| text::is_identifier(name) && !name.contains(['/', '*']);
        (plain(tenant) && plain(project)).then(|| Self::new(tenant, project))
    }

    /// Whether it is `default/default`.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.tenant == DEFAULT && self.project == DEFAULT
    }
}

impl Default for ProjectName {
    fn default() -> Self {
        Self::new(DEFAULT, DEFAULT)
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.tenant, self.project)
    }
}

/// The projects to which something of the operator's files belongs. Names are compared exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projects {
    /// Every project of every tenant.
    All,
    /// These, and no others.
    Named(BTreeSet<ProjectName>),
}

impl Projects {
    /// Whether a project is among them.
    #[must_use]
    pub fn include(&self, project: &ProjectName) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(project),
        }
    }
}

/// `default/default`, and nothing else.
impl Default for Projects {
    fn default() -> Self {
        Self::Named(BTreeSet::from([ProjectName::default()]))
    }
}

/// What a project's admins have set for it.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(example = json!({ "agents_read": "own" })))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectSettings {
    /// What agents read.
    pub agents_read: AgentsRead,
}

/// What the agents of a project read.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentsRead {
    /// The sessions that they opened, and those that name them.
    #[default]
    Own,
    /// Every session of the project.
    Project,
}

/// A key that stands only in a file of the operator, where it is taken out before the definition is read. It is not part of any version:
/// wherever this type reads it, it is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnlyInFiles;

impl OnlyInFiles {
    /// Why it is refused.
    pub const WHY: &'static str = "may only stand in a file of the server's operator";
}

impl<'de> Deserialize<'de> for OnlyInFiles {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom(Self::WHY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_written_with_its_tenant() {
        assert_eq!(ProjectName::parse("acme/main"), Some(ProjectName::new("acme", "main")));
        for wrong in ["", "acme", "/", "acme/", "/main", "a/b/c", "*/main", "acme/*", "ac me/main", "acme/mäin"] {
            assert_eq!(ProjectName::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_names_no_projects_belongs_to_the_default_one() {
        let projects = Projects::default();
        assert!(projects.include(&ProjectName::default()));
        for other in [("default", "main"), ("acme", "default"), ("Default", "default")] {
            assert!(!projects.include(&ProjectName::new(other.0, other.1)), "{other:?}");
        }
        assert!(Projects::All.include(&ProjectName::new("acme", "main")));
    }
}
