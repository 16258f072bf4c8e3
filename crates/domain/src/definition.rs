//! Definitions of agents and flows as they are kept: versions that never change.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Actor, AgentVersion, FlowVersion};

/// What is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionKind {
    /// An agent.
    Agent,
    /// A flow.
    Flow,
}

impl DefinitionKind {
    /// The word for it in the stores and in errors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Flow => "flow",
        }
    }
}

/// One version of an agent or a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// What it defines.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Who brought it here.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Since when no new session uses it. Those that do go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Timestamp>,
    /// The definition itself.
    pub body: Value,
}

impl Definition {
    /// A version of an agent, as it is kept.
    #[must_use]
    pub fn of_agent(agent: &AgentVersion, by: Actor, at: Timestamp) -> Self {
        let body = serde_json::to_value(agent).unwrap_or_default();
        let (name, version) = (agent.name.clone(), agent.version.clone());
        Self { kind: DefinitionKind::Agent, name, version, by, at, retired_at: None, body }
    }

    /// A version of a flow, as it is kept.
    #[must_use]
    pub fn of_flow(flow: &FlowVersion, by: Actor, at: Timestamp) -> Self {
        let body = serde_json::to_value(flow).unwrap_or_default();
        let (name, version) = (flow.name.clone(), flow.version.clone());
        Self { kind: DefinitionKind::Flow, name, version, by, at, retired_at: None, body }
    }
}
