//! Grants: standing approvals of actions that match them, limited in scope, time and number of uses.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::audit::AuditDetails;
use crate::audit::details::GrantDetails;
use crate::audit::kind::GrantRevoked;
use crate::event::GrantGiven;
use crate::{
    Action, Actor, AuditDraft, AuditKind, Call, EventDraft, EventKind, GrantId, InteractionId, Problem, Refusal, Scope,
    SessionId, text,
};

/// A grant: a standing approval of actions that match it. It never overrides a `deny`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// Identifier of the grant.
    pub id: GrantId,
    /// Tenant and project of the grant.
    pub scope: Scope,
    /// Session in which the grant holds. `None` if it holds in the whole project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Name of the key of the agent for which the grant holds, which is the agent that asked.
    pub agent: String,
    /// Whether the grant is for the hosted agent of that name or for a key of that name. `None` in older grants; the question that created
    /// the grant then decides.
    #[serde(rename = "driven", default, skip_serializing_if = "Option::is_none")]
    pub hosted: Option<bool>,
    /// Full name of the tool.
    pub tool: String,
    /// Rule that asked. The grant does not apply to questions of other rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Arguments that the grant covers.
    pub arguments: Covers,
    /// Time at which the grant ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Largest number of uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_uses: Option<u64>,
    /// Number of uses so far.
    pub uses: u64,
    /// Person who gave the grant.
    pub by: Actor,
    /// Time at which the grant was given.
    pub at: Timestamp,
    /// Question whose answer created the grant.
    pub interaction: InteractionId,
    /// Actor and time of the revocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<(Actor, Timestamp)>,
}

/// Arguments that a grant covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covers {
    /// Exactly the approved arguments, identified by the digest of the call.
    Exactly(String),
    /// Arguments whose named values match patterns and whose other values are equal to the approved ones.
    Pattern {
        /// Pattern for the whole value of each named argument, with `*` and `?`.
        named: BTreeMap<String, String>,
        /// Approved values of the arguments that have no pattern.
        rest: Value,
    },
    /// Any arguments of the tool.
    Anything,
}

/// Scope of a grant that a person wants to give with an approval.
#[derive(Debug, Clone, PartialEq)]
pub struct Remember {
    /// Whether the grant holds in the whole project instead of only this session.
    pub project: bool,
    /// Arguments that the grant covers.
    pub arguments: RememberedArguments,
    /// Duration of the grant in seconds.
    pub seconds: Option<i64>,
    /// Largest number of uses.
    pub uses: Option<u64>,
}

/// Arguments that a person wants a grant to cover.
#[derive(Debug, Clone, PartialEq)]
pub enum RememberedArguments {
    /// Exactly the arguments of the action.
    Exactly,
    /// Patterns for the named arguments; the other arguments must be equal.
    Pattern(BTreeMap<String, String>),
    /// Calls with any arguments.
    Anything,
}

/// Longest duration of a grant in seconds.
const LONGEST: i64 = 366 * 24 * 3600;
/// Largest limit on the number of uses.
const MOST_USES: u64 = 1_000_000;

impl Remember {
    /// Lists the errors of the scope for this call.
    pub fn check(&self, call: &Call, problems: &mut Vec<Problem>) {
        if self.seconds.is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
            problems.push(Problem::new("/remember/seconds", format!("must be 1 to {LONGEST}")));
        }
        if self.uses.is_some_and(|uses| !(1..=MOST_USES).contains(&uses)) {
            problems.push(Problem::new("/remember/uses", format!("must be 1 to {MOST_USES}")));
        }
        let RememberedArguments::Pattern(named) = &self.arguments else { return };
        if named.is_empty() {
            problems.push(Problem::new("/remember/arguments", "names no argument"));
        }
        for (name, pattern) in named {
            let pointer = format!("/remember/arguments/{name}");
            text::check_paragraphs(&pointer, pattern, problems);
            if !call.arguments.get(name).is_some_and(Value::is_string) {
                problems.push(Problem::new(pointer, "is not a text among the arguments that were approved"));
            }
        }
    }
}

impl Grant {
    /// Creates the grant for an approved action, and the event draft that records it.
    #[must_use]
    pub fn give(
        id: GrantId,
        action: &Action,
        (remember, by, interaction): (&Remember, Actor, InteractionId),
        now: Timestamp,
    ) -> (Self, EventDraft) {
        let call = action.effective();
        let arguments = match &remember.arguments {
            RememberedArguments::Exactly => Covers::Exactly(call.digest().to_string()),
            RememberedArguments::Anything => Covers::Anything,
            RememberedArguments::Pattern(named) => {
                Covers::Pattern { named: named.clone(), rest: without(&call.arguments, named) }
            }
        };
        let until =
            remember.seconds.and_then(|seconds| now.saturating_add(jiff::SignedDuration::from_secs(seconds)).ok());
        let grant = Self {
            id,
            scope: action.scope,
            session: (!remember.project).then_some(action.session),
            agent: action.proposed_by.name.clone(),
            hosted: Some(action.hosted),
            tool: call.tool,
            rule: action.ruling.rule.clone(),
            arguments,
            until,
            most_uses: remember.uses,
            uses: 0,
            by,
            at: now,
            interaction,
            revoked: None,
        };
        let given = GrantGiven {
            grant: id,
            tool: grant.tool.clone(),
            session: grant.session,
            until,
            most_uses: grant.most_uses,
            call_id: action.call_id.clone(),
        };
        let details =
            GrantDetails { covers: grant.arguments.clone(), rule: grant.rule.clone(), agent: grant.agent.clone() };
        let draft = EventDraft::by(&grant.by, EventKind::GrantGiven(given)).recording(AuditDetails::Grant(details));
        (grant, draft)
    }

    /// Whether the grant is in force.
    #[must_use]
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.revoked.is_none()
            && self.until.is_none_or(|until| until > now)
            && self.most_uses.is_none_or(|most| self.uses < most)
    }

    /// Time at which the grant was revoked or expires. The number of uses is not considered.
    #[must_use]
    pub fn ends(&self) -> Option<Timestamp> {
        self.revoked.iter().map(|(_, at)| *at).chain(self.until).min()
    }

    /// Refuses to start an action that this grant allowed if the grant was revoked or has expired since. An exhausted number of uses does
    /// not refuse, because the action itself was one of these uses.
    pub fn require_not_over(&self, now: Timestamp) -> Result<(), Refusal> {
        let over = self.revoked.is_some() || self.until.is_some_and(|until| until <= now);
        if over { Err(Refusal::GrantOver(self.id)) } else { Ok(()) }
    }

    /// Whether the grant covers a call of this agent in this session that this rule asks about. `matches` says whether the value of a named
    /// argument matches a pattern.
    pub fn covers(
        &self,
        (session, agent): (SessionId, &str),
        rule: Option<&str>,
        call: &Call,
        matches: impl Fn(&str, &str) -> bool,
    ) -> bool {
        let here = self.session.is_none_or(|only| only == session) && self.agent == agent;
        if !here || self.tool != call.tool || self.rule.as_deref() != rule {
            return false;
        }
        match &self.arguments {
            Covers::Anything => true,
            Covers::Exactly(digest) => *digest == call.digest().to_string(),
            Covers::Pattern { named, rest } => {
                let as_it_was = Call { tool: call.tool.clone(), arguments: without(&call.arguments, named) };
                let before = Call { tool: call.tool.clone(), arguments: rest.clone() };
                as_it_was.digest() == before.digest() && named.iter().all(|(name, pattern)| matches(name, pattern))
            }
        }
    }

    /// Revokes the grant before its end.
    pub fn revoke(self, by: Actor, now: Timestamp) -> Result<(Self, AuditDraft), Refusal> {
        if self.revoked.is_some() {
            return Err(Refusal::GrantRevoked(self.id));
        }
        let revoked = GrantRevoked { grant: self.id, tool: self.tool.clone() };
        let draft = AuditDraft::by(&by, AuditKind::GrantRevoked(revoked));
        Ok((Self { revoked: Some((by, now)), ..self }, draft))
    }
}

fn without(arguments: &Value, named: &BTreeMap<String, String>) -> Value {
    let fields = arguments.as_object().into_iter().flatten();
    fields.filter(|(name, _)| !named.contains_key(*name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}
