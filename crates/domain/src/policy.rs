//! Which policy is in force in a project, and which ones were.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Actor, Decision, EventDraft, Ruling, SessionId};

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
    /// The draft that is judged beside it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    /// The learnt rules that match nothing any more, those included that are not in it at present, and those of which that is over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspended: Vec<Suspension>,
    /// The version of the server's policy that is in force here, where it has learnt rules and these were held against what people had decided
    /// in the project. Whoever decides since then finds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vetted: Option<String>,
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
    /// The server's version, where it is to be in force and its learnt rules are held against what people have decided.
    pub vetted: Option<String>,
}

/// A learnt rule that somebody has decided otherwise about. It is known by its name, which is made of what it says: taken out and put back,
/// it is the same rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// Its name.
    pub rule: String,
    /// The decision.
    pub decision: Decision,
    /// Who has it match again nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifted: Option<Lift>,
}

/// A person's word that a rule matches again, whatever was decided before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lift {
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}

/// A draft that is judged beside the policy in force, and decides nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// What its differences are known by: the revision that brought it.
    pub number: u64,
    /// The digest of its text.
    pub version: String,
    /// Who wants to know.
    pub by: Actor,
    /// Since when.
    pub at: Timestamp,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One action on which a draft would have said something else than was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// In which session it was proposed.
    pub session: SessionId,
    /// Under which name.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// When.
    pub at: Timestamp,
    /// What was said, and holds.
    pub given: Ruling,
    /// What the draft would have said; none if it failed, or took too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafted: Option<Ruling>,
}

impl Difference {
    /// The word for what the draft would have said.
    #[must_use]
    pub fn drafted_name(&self) -> &'static str {
        self.drafted.as_ref().map_or("failed", |ruling| ruling.verdict.name())
    }
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

/// One change of the policy of a project. A text that is put in force again is another change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyChange {
    /// The digest of the text that is in force by it.
    pub version: String,
    /// Where that came from.
    pub source: PolicySource,
    /// Who put it in force; the system where it came with the server.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// The version that was in force until then, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl PolicyVersion {
    /// That it was put in force, and why.
    #[must_use]
    pub fn change(&self, reason: Option<String>) -> PolicyChange {
        let Self { version, source, by, at, before, .. } = self.clone();
        PolicyChange { version, source, by, at, before, reason }
    }
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

    /// Puts the project's own policy in force, or the server's again.
    #[must_use]
    pub fn adopt(self, adoption: Adoption, by: Actor, at: Timestamp) -> (Self, EventDraft) {
        let Adoption { own, version, before, reason, vetted } = adoption;
        let data = serde_json::json!({ "version": version, "before": before, "reason": reason });
        let happening = EventDraft::by("policy.changed", &by, data);
        (Self { own, by, at, reason, vetted, revision: self.revision + 1, ..self }, happening)
    }

    /// Puts a floor of this version in force on every server, or none. Only the record of the floor itself takes this change.
    #[must_use]
    pub fn put_floor(self, version: Option<String>, at: Timestamp) -> (Self, EventDraft) {
        let by = Actor::system();
        let data = serde_json::json!({ "version": version, "before": self.own });
        let happening = EventDraft::by("policy.floor_changed", &by, data);
        (Self { own: version, by, at, revision: self.revision + 1, ..self }, happening)
    }

    /// The learnt rules of the server's policy of this version are held against what people have decided; or the server's has none.
    #[must_use]
    pub fn vetted(self, version: Option<String>) -> Self {
        Self { vetted: version, revision: self.revision + 1, ..self }
    }

    /// Has a draft of this version judged beside it, in place of any before. What is in force stays as it is.
    #[must_use]
    pub fn shadow(self, version: String, by: Actor, reason: Option<String>, at: Timestamp) -> (Self, EventDraft) {
        let before = self.shadow.map(|shadow| shadow.version);
        let data = serde_json::json!({ "version": version, "before": before, "reason": reason });
        let happening = EventDraft::by("policy.shadow_set", &by, data);
        let number = self.revision + 1;
        (Self { shadow: Some(Shadow { number, version, by, at, reason }), revision: number, ..self }, happening)
    }

    /// Has no draft judged beside it any more. `None` if none was.
    #[must_use]
    pub fn unshadow(self, by: &Actor) -> Option<(Self, EventDraft)> {
        let data = serde_json::json!({ "version": self.shadow?.version });
        let happening = EventDraft::by("policy.shadow_removed", by, data);
        Some((Self { shadow: None, revision: self.revision + 1, ..self }, happening))
    }

    /// Has a rule match nothing any more, because of a decision. `None` if it does so already, or if somebody who knew of the decision has it
    /// match again.
    #[must_use]
    pub fn suspend(mut self, rule: &str, decision: &Decision) -> Option<(Self, EventDraft)> {
        let overruled = |known: &Suspension| {
            let before = |lift: &Lift| decision.at < lift.at || decision.interaction == known.decision.interaction;
            known.lifted.as_ref().is_none_or(before)
        };
        if self.suspended.iter().any(|known| known.rule == rule && overruled(known)) {
            return None;
        }
        self.suspended.retain(|known| known.rule != rule);
        let data = serde_json::json!({ "rule": rule, "interaction": decision.interaction, "effect": decision.effect });
        let happening = EventDraft::by("policy.rule_suspended", &decision.by, data);
        self.suspended.push(Suspension { rule: rule.to_owned(), decision: decision.clone(), lifted: None });
        Some((Self { revision: self.revision + 1, ..self }, happening))
    }

    /// Has a suspended rule match again. `None` if it is not suspended.
    #[must_use]
    pub fn lift(mut self, rule: &str, lift: Lift) -> Option<(Self, EventDraft)> {
        let known = self.suspended.iter_mut().find(|known| known.rule == rule && known.lifted.is_none())?;
        let data = serde_json::json!({ "rule": rule, "reason": lift.reason });
        let happening = EventDraft::by("policy.suspension_lifted", &lift.by, data);
        known.lifted = Some(lift);
        Some((Self { revision: self.revision + 1, ..self }, happening))
    }

    /// The names of the rules that match nothing.
    #[must_use]
    pub fn silent(&self) -> Vec<&str> {
        let in_force = self.suspended.iter().filter(|suspension| suspension.lifted.is_none());
        in_force.map(|suspension| suspension.rule.as_str()).collect()
    }

    /// Switches it on or off.
    #[must_use]
    pub fn switch(self, enabled: bool, by: Actor, reason: String, at: Timestamp) -> (Self, EventDraft) {
        let name = if enabled { "policy.enabled" } else { "policy.disabled" };
        let happening = EventDraft::by(name, &by, serde_json::json!({ "reason": reason }));
        (Self { enabled, by, at, reason: Some(reason), revision: self.revision + 1, ..self }, happening)
    }
}
