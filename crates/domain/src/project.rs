//! Names of projects, as the operator's files and the paths of workspaces use them, and settings of projects.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::text;

/// Name of the tenant and of the project that exist by default.
pub const DEFAULT: &str = "default";

/// Name of a project together with the name of its tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectName {
    /// Name of the tenant.
    pub tenant: String,
    /// Name of the project within the tenant.
    pub project: String,
}

impl ProjectName {
    /// Creates a name from its two parts.
    #[must_use]
    pub fn new(tenant: impl Into<String>, project: impl Into<String>) -> Self {
        Self { tenant: tenant.into(), project: project.into() }
    }

    /// Parses `TENANT/PROJECT`. A name that itself contains a `/` or a `*` cannot be written in this form, because it would be ambiguous.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let (tenant, project) = written.split_once('/')?;
        let plain = |name: &str| text::is_identifier(name) && !name.contains(['/', '*']);
        (plain(tenant) && plain(project)).then(|| Self::new(tenant, project))
    }

    /// Whether the name is `default/default`.
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

/// Projects to which a part of the operator's files belongs. Names are compared exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projects {
    /// Every project of every tenant.
    All,
    /// The projects with these names only.
    Named(BTreeSet<ProjectName>),
}

impl Projects {
    /// Whether the project is included.
    #[must_use]
    pub fn include(&self, project: &ProjectName) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(project),
        }
    }
}

/// The default is the project `default/default` alone.
impl Default for Projects {
    fn default() -> Self {
        Self::Named(BTreeSet::from([ProjectName::default()]))
    }
}

/// Settings that the admins of a project have made.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(example = json!({ "agents_read": "own" })))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectSettings {
    /// Sessions that agents may read.
    pub agents_read: AgentsRead,
}

/// Sessions that the agents of a project may read.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentsRead {
    /// The sessions that they opened, and the sessions that name them.
    #[default]
    Own,
    /// Every session of the project.
    Project,
}

/// A setting that only a file of the operator may contain. The reader of the file removes it before the definition is parsed, and it is not
/// part of a version. If this type is parsed, the setting came from elsewhere and is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnlyInFiles;

impl OnlyInFiles {
    /// Message of the refusal.
    pub const WHY: &'static str = "is allowed only in a file of the server's operator";
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
    fn project_name_is_parsed_with_its_tenant() {
        assert_eq!(ProjectName::parse("acme/main"), Some(ProjectName::new("acme", "main")));
        for wrong in ["", "acme", "/", "acme/", "/main", "a/b/c", "*/main", "acme/*", "ac me/main", "acme/mäin"] {
            assert_eq!(ProjectName::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn definition_without_projects_belongs_to_the_default_project() {
        let projects = Projects::default();
        assert!(projects.include(&ProjectName::default()));
        for other in [("default", "main"), ("acme", "default"), ("Default", "default")] {
            assert!(!projects.include(&ProjectName::new(other.0, other.1)), "{other:?}");
        }
        assert!(Projects::All.include(&ProjectName::new("acme", "main")));
    }
}
