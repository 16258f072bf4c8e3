//! The policy in force in a project, its changes, its shadow draft and its suspended rules.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::audit::kind::{
    PolicyChanged, PolicyFloorChanged, PolicyRuleSuspended, PolicyShadowRemoved, PolicySuspensionLifted, PolicySwitched,
};
use crate::{Actor, AuditDraft, AuditKind, Decision, Ruling, SessionId};

/// State of the policy of a project. Without a policy of its own, the project uses the policy of the server, enabled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyState {
    /// Version of the project's own policy. `None` if the policy of the server is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// Whether the policy asks people. Calls that it denies stay denied even if it is disabled.
    pub enabled: bool,
    /// Actor of the latest change.
    pub by: Actor,
    /// Time of the latest change.
    pub at: Timestamp,
    /// Reason for the latest change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Draft that is evaluated in shadow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    /// Suspensions of learnt rules, including rules that the policy does not contain at present and suspensions that were lifted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspended: Vec<Suspension>,
    /// Version of the server's policy whose learnt rules were compared with the decisions of people in this project, if that policy is in
    /// force and has learnt rules. Later decisions are compared with the rules when they are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vetted: Option<String>,
    /// Number of changes. It guards every write, and every ruling that is made under this state.
    pub revision: u64,
}

/// Change to another policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoption {
    /// Version of the project's own policy. `None` to put the policy of the server in force.
    pub own: Option<String>,
    /// Version that is in force after the change.
    pub version: String,
    /// Version that was in force before, whether of the project or of the server.
    pub before: Option<String>,
    /// Reason for the change.
    pub reason: Option<String>,
    /// Source of the server's policy, if the server's policy changed. Every project then records the change.
    pub source: Option<PolicySource>,
    /// Version of the server's policy, if it is put in force and its learnt rules were compared with the decisions of people.
    pub vetted: Option<String>,
}

/// Suspension of a learnt rule because a person decided against it. The rule is identified by its name, which is derived from its content,
/// so a rule that is removed and added again is still suspended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// Name of the rule.
    pub rule: String,
    /// Decision that contradicts the rule.
    pub decision: Decision,
    /// Lift of the suspension, if a person lifted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifted: Option<Lift>,
}

/// Declaration of a person that a suspended rule matches again, regardless of earlier decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lift {
    /// Person who lifted the suspension.
    pub by: Actor,
    /// Time at which the suspension was lifted.
    pub at: Timestamp,
    /// Reason for lifting the suspension.
    pub reason: String,
}

/// A draft that is evaluated in shadow, beside the policy in force. It decides nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// Number under which its differences are stored: the revision that set the draft.
    pub number: u64,
    /// Digest of the text.
    pub version: String,
    /// Person who set the draft.
    pub by: Actor,
    /// Time at which the draft was set.
    pub at: Timestamp,
    /// Reason for the shadow evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An action on which the draft rules differently from the policy in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Session in which the action was proposed.
    pub session: SessionId,
    /// The agent's own identifier of the call.
    pub call: String,
    /// Name of the tool.
    pub tool: String,
    /// Time of the proposal.
    pub at: Timestamp,
    /// Ruling of the policy in force, which applies.
    pub given: Ruling,
    /// Ruling of the draft. `None` if its evaluation failed or took too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafted: Option<Ruling>,
}

impl Difference {
    /// Name of the drafted verdict, or `failed`.
    #[must_use]
    pub fn drafted_name(&self) -> &'static str {
        self.drafted.as_ref().map_or("failed", |ruling| ruling.verdict.name())
    }
}

/// A policy text that was in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyVersion {
    /// Digest of the text.
    pub version: String,
    /// Text of the policy.
    pub text: String,
    /// Origin of the policy.
    pub source: PolicySource,
    /// Actor that put the policy in force; the system if it is a policy of the server.
    pub by: Actor,
    /// Time at which the text was first stored in the project.
    pub at: Timestamp,
    /// Version before it, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// One change of the policy of a project. A text that is put in force a second time is a second change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyChange {
    /// Digest of the text that the change put in force.
    pub version: String,
    /// Origin of that text.
    pub source: PolicySource,
    /// Actor that put the policy in force; the system if it is a policy of the server.
    pub by: Actor,
    /// Time of the change.
    pub at: Timestamp,
    /// Version that was in force before, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Reason for the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl PolicyVersion {
    /// Change that puts this version in force.
    #[must_use]
    pub fn change(&self, reason: Option<String>) -> PolicyChange {
        let Self { version, source, by, at, before, .. } = self.clone();
        PolicyChange { version, source, by, at, before, reason }
    }
}

/// Origin of a policy.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicySource {
    /// The default policy of the program.
    Builtin,
    /// The policy file of the server.
    File,
    /// The project's own policy, set through the API.
    Project,
}

impl PolicyState {
    /// State before the first change.
    #[must_use]
    pub fn initial(at: Timestamp) -> Self {
        Self {
            own: None,
            enabled: true,
            by: Actor::system(),
            at,
            reason: None,
            shadow: None,
            suspended: Vec::new(),
            vetted: None,
            revision: 0,
        }
    }

    /// Puts the project's own policy in force, or the policy of the server again.
    #[must_use]
    pub fn adopt(self, adoption: Adoption, by: Actor, at: Timestamp) -> (Self, AuditDraft) {
        let Adoption { own, version, before, reason, source, vetted } = adoption;
        let changed = PolicyChanged { version, before, reason: reason.clone(), source };
        let draft = AuditDraft::by(&by, AuditKind::PolicyChanged(changed));
        (Self { own, by, at, reason, vetted, revision: self.revision + 1, ..self }, draft)
    }

    /// Puts a floor of this version in force on every server, or no floor. Only the state record of the floor itself uses this change.
    #[must_use]
    pub fn put_floor(self, version: Option<String>, at: Timestamp) -> (Self, AuditDraft) {
        let by = Actor::system();
        let changed = PolicyFloorChanged { version: version.clone(), before: self.own };
        let draft = AuditDraft::by(&by, AuditKind::PolicyFloorChanged(changed));
        (Self { own: version, by, at, revision: self.revision + 1, ..self }, draft)
    }

    /// Records that the learnt rules of the server's policy of this version were compared with the decisions of people. `None` if that
    /// policy has no learnt rules.
    #[must_use]
    pub fn mark_compared(self, version: Option<String>) -> Self {
        Self { vetted: version, revision: self.revision + 1, ..self }
    }

    /// Sets the draft that is evaluated in shadow, in place of an earlier one. The policy in force stays unchanged.
    #[must_use]
    pub fn shadow(self, version: String, by: Actor, reason: Option<String>, at: Timestamp) -> (Self, AuditDraft) {
        let before = self.shadow.map(|shadow| shadow.version);
        let changed = PolicyChanged { version: version.clone(), before, reason: reason.clone(), source: None };
        let draft = AuditDraft::by(&by, AuditKind::PolicyShadowSet(changed));
        let number = self.revision + 1;
        (Self { shadow: Some(Shadow { number, version, by, at, reason }), revision: number, ..self }, draft)
    }

    /// Removes the draft that is evaluated in shadow. Returns `None` if there is none.
    #[must_use]
    pub fn unshadow(self, by: &Actor) -> Option<(Self, AuditDraft)> {
        let removed = PolicyShadowRemoved { version: self.shadow?.version };
        let draft = AuditDraft::by(by, AuditKind::PolicyShadowRemoved(removed));
        Some((Self { shadow: None, revision: self.revision + 1, ..self }, draft))
    }

    /// Suspends a rule because of a decision. Returns `None` if the rule is already suspended, or if a person who knew the decision has
    /// lifted the suspension.
    #[must_use]
    pub fn suspend(mut self, rule: &str, decision: &Decision) -> Option<(Self, AuditDraft)> {
        let overruled = |known: &Suspension| {
            let before = |lift: &Lift| decision.at < lift.at || decision.interaction == known.decision.interaction;
            known.lifted.as_ref().is_none_or(before)
        };
        if self.suspended.iter().any(|known| known.rule == rule && overruled(known)) {
            return None;
        }
        self.suspended.retain(|known| known.rule != rule);
        let (rule_name, interaction, effect) = (rule.to_owned(), decision.interaction, decision.effect);
        let suspended = PolicyRuleSuspended { rule: rule_name, interaction, effect };
        let draft = AuditDraft::by(&decision.by, AuditKind::PolicyRuleSuspended(suspended));
        self.suspended.push(Suspension { rule: rule.to_owned(), decision: decision.clone(), lifted: None });
        Some((Self { revision: self.revision + 1, ..self }, draft))
    }

    /// Lifts the suspension of a rule. Returns `None` if the rule is not suspended.
    #[must_use]
    pub fn lift(mut self, rule: &str, lift: Lift) -> Option<(Self, AuditDraft)> {
        let known = self.suspended.iter_mut().find(|known| known.rule == rule && known.lifted.is_none())?;
        let lifted = PolicySuspensionLifted { rule: rule.to_owned(), reason: lift.reason.clone() };
        let draft = AuditDraft::by(&lift.by, AuditKind::PolicySuspensionLifted(lifted));
        known.lifted = Some(lift);
        Some((Self { revision: self.revision + 1, ..self }, draft))
    }

    /// Names of the suspended rules.
    #[must_use]
    pub fn silent(&self) -> Vec<&str> {
        let in_force = self.suspended.iter().filter(|suspension| suspension.lifted.is_none());
        in_force.map(|suspension| suspension.rule.as_str()).collect()
    }

    /// Enables or disables the policy.
    #[must_use]
    pub fn switch(self, enabled: bool, by: Actor, reason: String, at: Timestamp) -> (Self, AuditDraft) {
        let switched = PolicySwitched { reason: reason.clone() };
        let kind = if enabled { AuditKind::PolicyEnabled(switched) } else { AuditKind::PolicyDisabled(switched) };
        let draft = AuditDraft::by(&by, kind);
        (Self { enabled, by, at, reason: Some(reason), revision: self.revision + 1, ..self }, draft)
    }
}
