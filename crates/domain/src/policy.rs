//! Which policy is in force in a project, and which ones were.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Actor, Happening};

/// Which policy is in force in a project. Without one it is the server's own, switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyState {
    /// The version of the project's own policy; the server's if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// Whether what the policy asks about is asked. What it denies stays denied.
    pub enabled: bool,
    /// Who changed it last.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often it has changed. Guards every write, and every ruling that is given under it.
    pub revision: u64,
}

/// A policy that takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoption {
    /// The version of the project's own policy; the server's is to be in force if none.
    pub own: Option<String>,
    /// The version that is in force from now on.
    pub version: String,
    /// The one that was in force until now, wherever it came from.
    pub before: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// One text that was in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyVersion {
    /// The digest of the text.
    pub version: String,
    /// The text itself.
    pub text: String,
    /// Where it came from.
    pub source: PolicySource,
    /// Who put it in force; the system where it came with the server.
    pub by: Actor,
    /// Since when it is known here.
    pub at: Timestamp,
    /// The version before it, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// Where a policy comes from.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicySource {
    /// It came with the program.
    Builtin,
    /// The server's policy file.
    File,
    /// The project's own, through the API.
    Project,
}

impl PolicyState {
    /// What is true before anybody has changed anything.
    #[must_use]
    pub fn initial(at: Timestamp) -> Self {
        Self { own: None, enabled: true, by: Actor::system(), at, reason: None, revision: 0 }
    }

    /// Puts the project's own policy in force, or the server's again.
    #[must_use]
    pub fn adopt(self, adoption: Adoption, by: Actor, at: Timestamp) -> (Self, Happening) {
        let Adoption { own, version, before, reason } = adoption;
        let data = serde_json::json!({ "version": version, "before": before, "reason": reason });
        let happening = Happening::by("policy.changed", &by, data);
        (Self { own, by, at, reason, revision: self.revision + 1, ..self }, happening)
    }

    /// Switches it on or off.
    #[must_use]
    pub fn switch(self, enabled: bool, by: Actor, reason: String, at: Timestamp) -> (Self, Happening) {
        let name = if enabled { "policy.enabled" } else { "policy.disabled" };
        let happening = Happening::by(name, &by, serde_json::json!({ "reason": reason }));
        (Self { enabled, by, at, reason: Some(reason), revision: self.revision + 1, ..self }, happening)
    }
}
