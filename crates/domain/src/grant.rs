//! An approval that holds for more than one action, limited in reach, time and count.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Action, Actor, Call, EventDraft, GrantId, InteractionId, Problem, Refusal, Scope, SessionId, text};

/// An approval that holds for more than one action. It never overrides a `deny`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// Whose it is.
    pub scope: Scope,
    /// The session that it holds in; the whole project if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The agent that it holds for, by the name of its key: the one that asked.
    pub agent: String,
    /// Whether it is for the agent of that name that our workers run, or for a key of that name. Older grants do not say: the question that
    /// they were given with does.
    #[serde(rename = "driven", default, skip_serializing_if = "Option::is_none")]
    pub hosted: Option<bool>,
    /// The tool, by its whole name.
    pub tool: String,
    /// The rule that asked. What another rule asks about is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Which arguments.
    pub arguments: Covers,
    /// From when on it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// How often it may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_uses: Option<u64>,
    /// How often it was.
    pub uses: u64,
    /// Who gave it.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// With the answer to which question.
    pub interaction: InteractionId,
    /// Who took it back, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<(Actor, Timestamp)>,
}

/// Which arguments a grant is good for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covers {
    /// These and no others, by the digest of the action.
    Exactly(String),
    /// Those named match their patterns; every other one is as it was.
    Pattern {
        /// A pattern for the whole of each named argument: `*` and `?`.
        named: BTreeMap<String, String>,
        /// The arguments that are not named, as they were approved.
        rest: Value,
    },
    /// Any: the tool as a whole.
    Anything,
}

/// What a person wants to be remembered of an approval.
#[derive(Debug, Clone, PartialEq)]
pub struct Remember {
    /// Whether for the whole project, or for this session alone.
    pub project: bool,
    /// Which arguments.
    pub arguments: RememberedArguments,
    /// For how long.
    pub seconds: Option<i64>,
    /// How often.
    pub uses: Option<u64>,
}

/// Which arguments a person wants to be remembered.
#[derive(Debug, Clone, PartialEq)]
pub enum RememberedArguments {
    /// Just these.
    Exactly,
    /// Those named by pattern, the rest as they are.
    Pattern(BTreeMap<String, String>),
    /// Any.
    Anything,
}

/// The longest time that a grant may be given for.
const LONGEST: i64 = 366 * 24 * 3600;
/// The most uses that can be counted out.
const MOST_USES: u64 = 1_000_000;

impl Remember {
    /// Lists what is wrong with it, for an action with these arguments.
    pub fn check(&self, action: &Call, problems: &mut Vec<Problem>) {
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
            text::paragraphs(&pointer, pattern, problems);
            if !action.arguments.get(name).is_some_and(Value::is_string) {
                problems.push(Problem::new(pointer, "is not a text among the arguments that were approved"));
            }
        }
    }
}

impl Grant {
    /// Gives what was asked for, on the strength of an approval.
    #[must_use]
    pub fn give(
        id: GrantId,
        proposal: &Action,
        (remember, by, interaction): (&Remember, Actor, InteractionId),
        now: Timestamp,
    ) -> (Self, EventDraft) {
        let action = proposal.effective();
        let arguments = match &remember.arguments {
            RememberedArguments::Exactly => Covers::Exactly(action.digest().to_string()),
            RememberedArguments::Anything => Covers::Anything,
            RememberedArguments::Pattern(named) => {
                Covers::Pattern { named: named.clone(), rest: without(&action.arguments, named) }
            }
        };
        let until =
            remember.seconds.and_then(|seconds| now.saturating_add(jiff::SignedDuration::from_secs(seconds)).ok());
        let grant = Self {
            id,
            scope: proposal.scope,
            session: (!remember.project).then_some(proposal.session),
            agent: proposal.proposed_by.name.clone(),
            hosted: Some(proposal.hosted),
            tool: action.tool,
            rule: proposal.ruling.rule.clone(),
            arguments,
            until,
            most_uses: remember.uses,
            uses: 0,
            by,
            at: now,
            interaction,
            revoked: None,
        };
        let data = json!({
            "grant": id, "tool": grant.tool, "session": grant.session, "until": until, "most_uses": grant.most_uses,
            "call_id": proposal.call_id,
        });
        let record = json!({ "covers": grant.arguments, "rule": grant.rule, "agent": grant.agent });
        let happening = EventDraft::by("grant.given", &grant.by, data).recording(record);
        (grant, happening)
    }

    /// Whether it is in force.
    #[must_use]
    pub fn in_force(&self, now: Timestamp) -> bool {
        self.revoked.is_none()
            && self.until.is_none_or(|until| until > now)
            && self.most_uses.is_none_or(|most| self.uses < most)
    }

    /// When it was or will be over, however often it may still be used: taken back, or at the end of its time.
    #[must_use]
    pub fn ends(&self) -> Option<Timestamp> {
        self.revoked.iter().map(|(_, at)| *at).chain(self.until).min()
    }

    /// Refuses to start what it let through once it was taken back or its time is over. Uses that are spent were spent on it.
    pub fn still_stands(&self, now: Timestamp) -> Result<(), Refusal> {
        let over = self.revoked.is_some() || self.until.is_some_and(|until| until <= now);
        if over { Err(Refusal::GrantOver(self.id)) } else { Ok(()) }
    }

    /// Whether it covers an action of this agent in this session that this rule asks about. `matches` says whether the whole of
    /// an argument fits a pattern, by its name.
    pub fn covers(
        &self,
        (session, agent): (SessionId, &str),
        rule: Option<&str>,
        action: &Call,
        matches: impl Fn(&str, &str) -> bool,
    ) -> bool {
        let here = self.session.is_none_or(|only| only == session) && self.agent == agent;
        if !here || self.tool != action.tool || self.rule.as_deref() != rule {
            return false;
        }
        match &self.arguments {
            Covers::Anything => true,
            Covers::Exactly(digest) => *digest == action.digest().to_string(),
            Covers::Pattern { named, rest } => {
                let as_it_was = Call { tool: action.tool.clone(), arguments: without(&action.arguments, named) };
                let before = Call { tool: action.tool.clone(), arguments: rest.clone() };
                as_it_was.digest() == before.digest() && named.iter().all(|(name, pattern)| matches(name, pattern))
            }
        }
    }

    /// Takes it back.
    pub fn revoke(self, by: Actor, now: Timestamp) -> Result<(Self, EventDraft), Refusal> {
        if self.revoked.is_some() {
            return Err(Refusal::GrantRevoked(self.id));
        }
        let happening = EventDraft::by("grant.revoked", &by, json!({ "grant": self.id, "tool": self.tool }));
        Ok((Self { revoked: Some((by, now)), ..self }, happening))
    }
}

fn without(arguments: &Value, named: &BTreeMap<String, String>) -> Value {
    let fields = arguments.as_object().into_iter().flatten();
    fields.filter(|(name, _)| !named.contains_key(*name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}
