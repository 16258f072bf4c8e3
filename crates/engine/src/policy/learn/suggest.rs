//! Suggests policy rules that explain repeated decisions of people. A caller who may manage the policy adopts a rule; a later decision
//! that contradicts the rule suspends it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::policy::{Decided, DisputedRun, LEARNT_PREFIX, LearntRule, held_back, runs};
use domain::access::Right;
use domain::{Caller, Decision, InteractionId, Refusal, Scope, SessionId, Timestamp, Verdict};
use store::Cost;

use crate::access::sight::Sight;
use crate::policy;
use crate::policy::in_force::InForce;
use crate::policy::learn;
use crate::policy::learn::decisions::PeopleDecisions;
use crate::policy::project_policy::{NAME, NewPolicy, check_reason, parse_policy};
use crate::run;
use crate::steps;
use crate::{Engine, Error, Idempotency};

/// Maximum number of suggested rules. Rules of the longest runs come first.
const MOST: usize = 10;
/// Maximum number of runs that are tried. Each attempt parses the whole policy.
const MOST_TRIED: usize = 200;
/// Time limit for the attempts. The longest runs are tried first.
const LONGEST: Duration = Duration::from_secs(10);
/// Suggested rules, with the decisions that they were derived from.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestions {
    /// Number of decisions that were considered.
    pub decisions: usize,
    /// Whether there are older decisions that were not considered.
    pub more: bool,
    /// Suggested rules, those with most support first.
    pub suggestions: Vec<SuggestedRule>,
    /// Rules that are not suggested because some decisions contradict them.
    pub held_back: Vec<DisputedRule>,
}

/// Run of equal decisions about the same arguments or the same kind of command, and the decisions that keep it from becoming a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct DisputedRule {
    /// Verdict that the rule would have.
    pub verdict: Verdict,
    /// Name of the tool.
    pub tool: String,
    /// Name of the agent.
    pub agent: String,
    /// Number of decisions that support the rule.
    pub support: usize,
    /// Number of decisions that contradict the rule.
    pub against: usize,
    /// Newest decisions that contradict the rule.
    pub counter_examples: Vec<CounterExample>,
}

/// Action with a decision that contradicts a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterExample {
    /// Session of the action.
    pub session: SessionId,
    /// Call id of the action; `None` where the agent asked in its own words.
    pub call: Option<String>,
    /// Decision about the action.
    pub decision: Decision,
}

/// Rule that explains a run of equal decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct SuggestedRule {
    /// Learnt rule, with the text of the policy that contains it.
    pub learnt: LearntRule,
    /// Name of the tool.
    pub tool: String,
    /// Name of the agent.
    pub agent: String,
    /// Number of decisions that the rule explains.
    pub support: usize,
    /// Newest of the questions behind these decisions.
    pub interactions: Vec<InteractionId>,
    /// Time of the first of these decisions.
    pub first_at: Timestamp,
    /// Time of the last of these decisions.
    pub last_at: Timestamp,
}

/// Number of questions that are listed for a run.
const NAMED: usize = 20;

impl Engine {
    /// Suggests rules that explain recent decisions, without changing the policy.
    pub async fn suggestion_list(&self, caller: &Caller) -> Result<Suggestions, Error> {
        caller.require(Right::Read)?;
        let sight = self.read_by(caller, Cost::Point, |reads, caller| Sight::of(reads, caller)).await?;
        if matches!(sight, Sight::Own(_)) {
            // Suggestions contain the calls of all agents, and this agent may read only its own sessions.
            return Ok(Suggestions { decisions: 0, more: false, suggestions: Vec::new(), held_back: Vec::new() });
        }
        let in_force = policy::in_force::load(self, caller.scope).await?;
        suggest(self, caller, &in_force).await
    }

    /// Adds a suggested rule to the project's policy, before the rule that asked.
    pub async fn suggestion_adopt(
        &self,
        caller: &Caller,
        name: String,
        reason: Option<String>,
        idempotency: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        check_reason(reason.as_deref())?;
        let none = || Error::from(Refusal::NotFound("suggestion"));
        let in_force = policy::in_force::load(self, caller.scope).await?;
        let found = if in_force.policy.rules().any(|rule| rule.name == name) {
            None
        } else {
            let suggested = suggest(self, caller, &in_force).await?.suggestions;
            suggested.into_iter().find(|suggested| suggested.learnt.name == name)
        };
        let Some(SuggestedRule { learnt, support, .. }) = found else {
            // Either this command is a repetition and the rule is adopted already, or there is no such suggestion.
            self.command::<(), _>(caller, idempotency, move |_| Err(none())).await?;
            return policy::in_force::load(self, caller.scope).await;
        };
        let reason = reason.unwrap_or_else(|| format!("learnt from {support} equal decisions"));
        let base = in_force.policy.version().to_owned();
        let policy = parse_policy(NAME, learnt.text).await?;
        let adopted = NewPolicy::of_project(policy, (Some(base), Some(reason))).suggested(name);
        policy::project_policy::adopt(self, caller, adopted, idempotency).await
    }
}

/// Policy in force for a hosted agent or for a key with this name. A rule that was learnt from approvals of a hosted agent does not
/// apply to a key of that name; learnt rules that deny apply to both.
pub(crate) async fn load_for(engine: &Engine, scope: Scope, name: &str, hosted: bool) -> Result<InForce, Error> {
    let in_force = policy::in_force::load(engine, scope).await?;
    disable_rules_of_hosted_agents(engine, in_force, scope, name, hosted).await
}

/// Disables the learnt rules that allow, if the proposing key has the name of a hosted agent.
pub(crate) async fn disable_rules_of_hosted_agents(
    engine: &Engine,
    mut in_force: InForce,
    scope: Scope,
    name: &str,
    hosted: bool,
) -> Result<InForce, Error> {
    let allows = |rule: &&::policy::Rule| rule.name.starts_with(LEARNT_PREFIX) && rule.verdict == Verdict::Allow;
    let learnt: Vec<String> = in_force.policy.rules().filter(allows).map(|rule| rule.name.clone()).collect();
    if hosted || learnt.is_empty() {
        return Ok(in_force);
    }
    let (offered, name) = (steps::server_files::offered(engine, scope).await?, name.to_owned());
    let namesake = engine
        .read(Cost::Point, move |reads| steps::definitions::is_known_agent(reads, &scope, &offered, &name))
        .await?;
    if namesake {
        in_force.disabled = learnt;
    }
    Ok(in_force)
}

async fn suggest(engine: &Engine, caller: &Caller, in_force: &InForce) -> Result<Suggestions, Error> {
    let heavy_work = run::gates::begin_heavy_work(engine, caller).await?;
    let known = learn::decisions::read_people_decisions(engine, caller.scope).await?;
    let PeopleDecisions { decided, decisions, .. } = &known;
    let looked = Arc::clone(decided);
    let silent = in_force.state.silent();
    let mut suggestions = Vec::new();
    let begun = Instant::now();
    for run in heavy_work.off_reactor(move |_| runs(&looked)).await?.into_iter().take(MOST_TRIED) {
        let (policy, looked) = (Arc::clone(&in_force.policy), Arc::clone(decided));
        let learnt = heavy_work.off_reactor(move |_| policy.learn(&run, &looked)).await?;
        let learnt = learnt.filter(|learnt| !silent.contains(&learnt.name.as_str()));
        suggestions.extend(learnt.and_then(|learnt| SuggestedRule::of(learnt, decided, decisions)));
        if suggestions.len() == MOST || begun.elapsed() > LONGEST {
            break;
        }
    }
    let (policy, looked) = (Arc::clone(&in_force.policy), Arc::clone(decided));
    let held = heavy_work.off_reactor(move |_| {
        let asks = |decided: &Decided| policy.judge(&decided.call()).ruling.verdict == Verdict::Ask;
        let asked = |held: &DisputedRun| held.decisions.first().and_then(|place| looked.get(*place)).is_some_and(asks);
        held_back(&looked).into_iter().filter(asked).take(MOST).collect::<Vec<_>>()
    });
    let held_back = held.await?.iter().filter_map(|held| DisputedRule::of(held, &known)).collect();
    Ok(Suggestions { decisions: decisions.len(), more: known.more, suggestions, held_back })
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
