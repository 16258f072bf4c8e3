//! Stored definitions of agents and flows: versions that never change.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Actor, AgentVersion, FlowVersion};

/// Kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionKind {
    /// A version of an agent.
    Agent,
    /// A version of a flow.
    Flow,
}

impl DefinitionKind {
    /// Name of the kind in the stores and in errors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Flow => "flow",
        }
    }
}

/// A version of an agent or a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Kind of the definition.
    pub kind: DefinitionKind,
    /// Name of the agent or flow.
    pub name: String,
    /// Version of the agent or flow.
    pub version: String,
    /// Actor that added the version.
    pub by: Actor,
    /// Time at which the version was added.
    pub at: Timestamp,
    /// Time at which the version was retired. New sessions do not use a retired version; sessions that already use it continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Timestamp>,
    /// Contents of the definition as JSON.
    pub body: Value,
}

impl Definition {
    /// Stored form of a version of an agent.
    #[must_use]
    pub fn of_agent(agent: &AgentVersion, by: Actor, at: Timestamp) -> Self {
        let body = serde_json::to_value(agent).unwrap_or_default();
        let (name, version) = (agent.name.clone(), agent.version.clone());
        Self { kind: DefinitionKind::Agent, name, version, by, at, retired_at: None, body }
    }

    /// Stored form of a version of a flow.
    #[must_use]
    pub fn of_flow(flow: &FlowVersion, by: Actor, at: Timestamp) -> Self {
        let body = serde_json::to_value(flow).unwrap_or_default();
        let (name, version) = (flow.name.clone(), flow.version.clone());
        Self { kind: DefinitionKind::Flow, name, version, by, at, retired_at: None, body }
    }

    /// The definition without the commands, addresses and names of variables that only the operator's files contain. They may contain
    /// credentials of other systems, so the API and the records never show them.
    #[must_use]
    pub fn public_body(&self) -> Value {
        let mut shown = self.body.clone();
        redact(&mut shown);
        shown
    }
}

/// Removes the parts of a definition that are not shown.
pub(crate) fn redact(body: &mut Value) {
    let hide = |table: Option<&mut Value>, keys: &[&str]| {
        if let Some(table) = table.and_then(Value::as_object_mut) {
            table.retain(|key, _| !keys.contains(&key.as_str()));
        }
    };
    hide(body.get_mut("model"), &["endpoint", "key_env"]);
    let servers = body.get_mut("mcp").and_then(Value::as_array_mut);
    servers.into_iter().flatten().for_each(|server| hide(Some(server), &["command", "url", "token_env"]));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_addresses_and_variables_are_not_shown() {
        let agent: AgentVersion = serde_json::from_value(json!({
            "name": "ops", "version": "1", "instructions": "Be kind.", "workspace": "shop", "tools": ["read_file"],
            "model": { "provider": "openai", "name": "m", "endpoint": "http://10.0.0.7/HIDE", "key_env": "HIDE_KEY" },
            "mcp": [
                { "name": "tickets", "command": ["mcp-tickets", "--token", "HIDE"], "tools": ["get_*"] },
                { "name": "wiki", "url": "https://wiki.example/mcp?apikey=HIDE", "token_env": "HIDE_TOKEN" },
            ],
        }))
        .unwrap();
        let kept = Definition::of_agent(&agent, Actor::system(), Timestamp::UNIX_EPOCH);
        let shown = kept.public_body();
        assert!(!shown.to_string().contains("HIDE") && !shown.to_string().contains("wiki.example"), "{shown}");
        assert_eq!(shown["mcp"], json!([{ "name": "tickets", "tools": ["get_*"] }, { "name": "wiki" }]));
        assert_eq!(shown["model"], json!({ "provider": "openai", "name": "m" }));
        assert_eq!((&shown["workspace"], &shown["instructions"]), (&json!("shop"), &json!("Be kind.")));
        assert!(kept.body.to_string().contains("HIDE"), "the stored definition is complete");
    }
}
