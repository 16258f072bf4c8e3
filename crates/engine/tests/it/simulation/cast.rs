//! Who takes part: two tenants with the same names in both.

use domain::{Caller, Role, Scope};

/// A person or an agent: name, role, groups.
pub(crate) type Part = (&'static str, Role, &'static [&'static str]);

/// Who is in each tenant.
pub(crate) const PARTS: [Part; 6] = [
    ("planner", Role::Agent, &[]),
    ("deployer", Role::Agent, &[]),
    ("alice", Role::Operator, &["ops"]),
    ("bob", Role::Operator, &["ops", "security"]),
    ("carol", Role::Admin, &["security"]),
    ("dave", Role::Viewer, &["ops"]),
];

/// The tenants' names.
pub(crate) const TENANTS: [&str; 2] = ["acme", "globex"];

/// One tenant's people and agents.
#[derive(Clone)]
pub(crate) struct Tenant {
    pub scope: Scope,
    pub agents: Vec<Caller>,
    pub people: Vec<Caller>,
}

impl Tenant {
    /// Whoever has this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Caller> {
        self.agents.iter().chain(&self.people).find(|caller| caller.actor.name == name)
    }
}
