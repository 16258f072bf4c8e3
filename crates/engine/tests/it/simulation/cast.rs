//! The participants: two tenants with identical names in both.

use domain::{Caller, Role, Scope};

/// Name, role and groups of a person or an agent.
pub(crate) type Part = (&'static str, Role, &'static [&'static str]);

/// People and agents of each tenant.
pub(crate) const PARTS: [Part; 6] = [
    ("planner", Role::Agent, &[]),
    ("deployer", Role::Agent, &[]),
    ("alice", Role::Operator, &["ops"]),
    ("bob", Role::Operator, &["ops", "security"]),
    ("carol", Role::Admin, &["security"]),
    ("dave", Role::Viewer, &["ops"]),
];

/// Names of the tenants.
pub(crate) const TENANTS: [&str; 2] = ["acme", "globex"];

/// People and agents of one tenant.
#[derive(Clone)]
pub(crate) struct Tenant {
    pub scope: Scope,
    pub agents: Vec<Caller>,
    pub people: Vec<Caller>,
}

impl Tenant {
    /// Finds the person or agent with this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Caller> {
        self.agents.iter().chain(&self.people).find(|caller| caller.actor.name == name)
    }
}
