//! Rules that explain what people keep deciding: suggested, adopted by whoever may change the policy, and suspended as soon as somebody
//! decides otherwise.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::policy::{Decided, DisputedRun, LEARNT_PREFIX, LearntRule, held_back, runs};
use domain::access::Right;
use domain::{Caller, Decision, InteractionId, Refusal, Scope, SessionId, Timestamp, Verdict};
use store::Cost;

use crate::access::sight::Sight;
use crate::policy::learn::decisions::PeopleDecisions;
use crate::policy::project_policy::{NAME, NewPolicy, explained, loaded};
use crate::policy::ruling::InForce;
use crate::steps::definitions::known_agent;
use crate::{Engine, Error, Idempotency};

/// How many rules are suggested at most, those of the longest runs that can be proved.
const MOST: usize = 10;
/// How many are tried: each costs a reading of the whole policy.
const MOST_TRIED: usize = 200;
/// For how long rules are tried, those of the longest runs first.
const LONGEST: Duration = Duration::from_secs(10);
/// Rules that explain what people keep deciding.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestions {
    /// How many decisions of people were looked at.
    pub decisions: usize,
    /// Whether there are older ones that were not looked at.
    pub more: bool,
    /// The rules, those with most support first.
    pub suggestions: Vec<SuggestedRule>,
    /// What would be a rule, had nobody decided otherwise.
    pub held_back: Vec<DisputedRule>,
}

/// Equal decisions about the same arguments or sort of commands, and those that keep them from being a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct DisputedRule {
    /// What the rule would say.
    pub verdict: Verdict,
    /// The tool.
    pub tool: String,
    /// The agent.
    pub agent: String,
    /// How many decisions speak for it.
    pub support: usize,
    /// How many speak against it.
    pub against: usize,
    /// The newest of those.
    pub counter_examples: Vec<CounterExample>,
}

/// An action about which somebody decided otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterExample {
    /// Its session.
    pub session: SessionId,
    /// The call; none where the agent asked about the action in its own words.
    pub call: Option<String>,
    /// What was decided.
    pub decision: Decision,
}

/// A rule that explains a run of equal decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct SuggestedRule {
    /// The rule, and the policy with it.
    pub learnt: LearntRule,
    /// The tool.
    pub tool: String,
    /// The agent.
    pub agent: String,
    /// How many decisions it explains.
    pub support: usize,
    /// The newest of the questions that were answered so.
    pub interactions: Vec<InteractionId>,
    /// When the first of the decisions was made.
    pub first_at: Timestamp,
    /// When the last was.
    pub last_at: Timestamp,
}

/// How many questions of a run are named.
const NAMED: usize = 20;

impl Engine {
    /// The policy in force for an agent of this name: one that our workers run, or a key. What people let the first do, and a rule was learnt
    /// from, is not allowed to a key of the same name; learnt rules that deny are heard by both.
    pub(crate) async fn in_force_for(&self, scope: Scope, (name, hosted): (&str, bool)) -> Result<InForce, Error> {
        let in_force = self.in_force(scope).await?;
        self.without_unheard_rules(in_force, scope, (name, hosted)).await
    }

    /// Removes the learnt rules that were learnt for a hosted agent of the same name as the key that proposes.
    pub(crate) async fn without_unheard_rules(
        &self,
        mut in_force: InForce,
        scope: Scope,
        (name, hosted): (&str, bool),
    ) -> Result<InForce, Error> {
        let allows = |rule: &&::policy::Rule| rule.name.starts_with(LEARNT_PREFIX) && rule.verdict == Verdict::Allow;
        let learnt: Vec<String> = in_force.policy.rules().filter(allows).map(|rule| rule.name.clone()).collect();
        if hosted || learnt.is_empty() {
            return Ok(in_force);
        }
        let (offered, name) = (self.offered(scope).await?, name.to_owned());
        let namesake = self.read(Cost::Point, move |reads| known_agent(reads, &scope, &offered, &name)).await?;
        if namesake {
            in_force.unheard = learnt;
        }
        Ok(in_force)
    }

    /// Rules that would explain what people have decided lately. Nothing is changed.
    pub async fn policy_suggestions(&self, caller: &Caller) -> Result<Suggestions, Error> {
        caller.require(Right::Read)?;
        let reader = caller.clone();
        let sight = self.read(Cost::Point, move |reads| Sight::of(reads, &reader)).await?;
        if matches!(sight, Sight::Own(_)) {
            // They are made of the calls of all agents, which this one does not read.
            return Ok(Suggestions { decisions: 0, more: false, suggestions: Vec::new(), held_back: Vec::new() });
        }
        let in_force = self.in_force(caller.scope).await?;
        self.learnt_rules(caller, &in_force).await
    }

    /// Puts a suggested rule into the project's policy, in front of the rule that asked.
    pub async fn policy_adopt(
        &self,
        caller: &Caller,
        name: String,
        reason: Option<String>,
        once: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        explained(reason.as_deref())?;
        let none = || Error::from(Refusal::NotFound("suggestion"));
        let in_force = self.in_force(caller.scope).await?;
        let found = match in_force.policy.rules().any(|rule| rule.name == name) {
            true => None,
            false => {
                let suggested = self.learnt_rules(caller, &in_force).await?.suggestions;
                suggested.into_iter().find(|suggested| suggested.learnt.name == name)
            }
        };
        let Some(SuggestedRule { learnt, support, .. }) = found else {
            // It was adopted by this very command, or is none.
            self.command::<(), _>(caller, once, move |_| Err(none())).await?;
            return self.in_force(caller.scope).await;
        };
        let reason = reason.unwrap_or_else(|| format!("learnt from {support} equal decisions"));
        let base = in_force.policy.version().to_owned();
        let policy = loaded(NAME, learnt.text).await?;
        let adopted = NewPolicy::of_project(policy, (Some(base), Some(reason))).suggested(name);
        self.adopt(caller, adopted, once).await
    }

    async fn learnt_rules(&self, caller: &Caller, in_force: &InForce) -> Result<Suggestions, Error> {
        let turn = self.turn(caller).await?;
        let known = self.people_decided(caller.scope).await?;
        let PeopleDecisions { decided, decisions, .. } = &known;
        let looked = Arc::clone(decided);
        let silent = in_force.state.silent();
        let mut suggestions = Vec::new();
        let begun = Instant::now();
        for run in turn.off_reactor(move |_| runs(&looked)).await?.into_iter().take(MOST_TRIED) {
            let (policy, looked) = (Arc::clone(&in_force.policy), Arc::clone(decided));
            let learnt = turn.off_reactor(move |_| policy.learn(&run, &looked)).await?;
            let learnt = learnt.filter(|learnt| !silent.contains(&learnt.name.as_str()));
            suggestions.extend(learnt.and_then(|learnt| SuggestedRule::of(learnt, decided, decisions)));
            if suggestions.len() == MOST || begun.elapsed() > LONGEST {
                break;
            }
        }
        let (policy, looked) = (Arc::clone(&in_force.policy), Arc::clone(decided));
        let held = turn.off_reactor(move |_| {
            let asks = |decided: &Decided| policy.judge(&decided.call()).ruling.verdict == Verdict::Ask;
            let asked =
                |held: &DisputedRun| held.decisions.first().and_then(|place| looked.get(*place)).is_some_and(asks);
            held_back(&looked).into_iter().filter(asked).take(MOST).collect::<Vec<_>>()
        });
        let held_back = held.await?.iter().filter_map(|held| DisputedRule::of(held, &known)).collect();
        Ok(Suggestions { decisions: decisions.len(), more: known.more, suggestions, held_back })
    }
}

impl DisputedRule {
    fn of(held: &DisputedRun, known: &PeopleDecisions) -> Option<Self> {
        let Decided { tool, agent, .. } = known.decided.get(*held.decisions.first()?)?.clone();
        let example = |place: &usize| {
            let (session, call) = known.places.get(*place)?.clone();
            Some(CounterExample { session, call, decision: known.decisions.get(*place)?.clone() })
        };
        Some(Self {
            verdict: held.verdict,
            tool,
            agent,
            support: held.decisions.len(),
            against: held.against.len(),
            counter_examples: held.against.iter().take(NAMED).filter_map(example).collect(),
        })
    }
}

impl SuggestedRule {
    fn of(learnt: LearntRule, decided: &[Decided], decisions: &[Decision]) -> Option<Self> {
        let of_run: Vec<&Decision> = learnt.decisions.iter().filter_map(|place| decisions.get(*place)).collect();
        let Decided { tool, agent, .. } = decided.get(*learnt.decisions.first()?)?.clone();
        Some(Self {
            tool,
            agent,
            support: of_run.len(),
            interactions: of_run.iter().take(NAMED).map(|decision| decision.interaction).collect(),
            first_at: of_run.iter().map(|decision| decision.at).min()?,
            last_at: of_run.iter().map(|decision| decision.at).max()?,
            learnt,
        })
    }
}
