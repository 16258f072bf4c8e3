//! Rules that explain what people keep deciding: suggested, adopted by whoever may change the policy, and suspended as soon as somebody
//! decides otherwise.

use std::sync::Arc;

use domain::access::Right;
use domain::{
    Action, Caller, Decision, Effect, InteractionId, Kind, Refusal, Scope, SessionId, SignedDuration, Timestamp,
    Verdict,
};
use policy::{Decided, HeldBack, Learnt, Policy, Said, held_back, runs};
use store::{Cost, PastFilter, StoreError};

use crate::doubt::asked_about;
use crate::forms_check::off_reactor;
use crate::judge::{Behalf, InForce};
use crate::past::Past;
use crate::policy_admin::{Adopted, NAME, explained, loaded};
use crate::work::Work;
use crate::{Engine, Error, Idempotency};

/// How many decisions of people are looked at.
const LOOKED_AT: usize = 2000;
/// How many actions that people were asked about are gone through for them.
const MOST_ASKED: u32 = 10_000;
/// How many rules are suggested at most, those of the longest runs that can be proved.
const MOST: usize = 10;
/// How many are tried: each costs a reading of the whole policy.
const MOST_TRIED: usize = 200;
/// For how long an answer may be on its way into the store, so that whoever looks does not see it.
const UNSEEN: SignedDuration = SignedDuration::from_secs(300);
/// How many of the last decisions are read at once, and how many times.
const PORTION: u32 = 200;
const MOST_PORTIONS: u32 = 50;

/// Rules that explain what people keep deciding.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestions {
    /// How many decisions of people were looked at.
    pub decisions: usize,
    /// Whether there are older ones that were not looked at.
    pub more: bool,
    /// The rules, those with most support first.
    pub suggestions: Vec<Suggested>,
    /// What would be a rule, had nobody decided otherwise.
    pub held_back: Vec<Disputed>,
}

/// Equal decisions about the same arguments, and those that keep them from being a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Disputed {
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
    /// The call.
    pub call: String,
    /// What was decided.
    pub decision: Decision,
}

/// A rule that explains a run of equal decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggested {
    /// The rule, and the policy with it.
    pub learnt: Learnt,
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

/// The decisions of people about actions, the newest first, and what was decided about.
struct Known {
    decided: Arc<Vec<Decided>>,
    decisions: Vec<Decision>,
    /// Where each action is.
    places: Vec<(SessionId, String)>,
    more: bool,
    /// When they were looked for.
    at: Timestamp,
}

impl Engine {
    /// Rules that would explain what people have decided lately. Nothing is changed.
    pub async fn policy_suggestions(&self, caller: &Caller) -> Result<Suggestions, Error> {
        caller.require(Right::Read)?;
        let in_force = self.in_force(caller.scope).await?;
        self.learnt_rules(caller.scope, &in_force).await
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
                let suggested = self.learnt_rules(caller.scope, &in_force).await?.suggestions;
                suggested.into_iter().find(|suggested| suggested.learnt.name == name)
            }
        };
        let Some(Suggested { learnt, support, .. }) = found else {
            // It was adopted by this very command, or is none.
            self.command::<(), _>(caller, once, move |_| Err(none())).await?;
            return self.in_force(caller.scope).await;
        };
        let reason = reason.unwrap_or_else(|| format!("learnt from {support} equal decisions"));
        let base = in_force.policy.version().to_owned();
        let policy = loaded(NAME, learnt.text).await?;
        let adopted = Adopted::of_project(policy, (Some(base), Some(reason))).suggested(name);
        self.adopt(caller, adopted, once).await
    }

    async fn learnt_rules(&self, scope: Scope, in_force: &InForce) -> Result<Suggestions, Error> {
        let _turn = self.policies.turn(scope.tenant).await?;
        let known = self.people_decided(scope).await?;
        let Known { decided, decisions, .. } = &known;
        let looked = Arc::clone(decided);
        let silent = in_force.state.silent();
        let mut suggestions = Vec::new();
        for run in off_reactor(move || runs(&looked)).await?.into_iter().take(MOST_TRIED) {
            let (policy, looked) = (Arc::clone(&in_force.policy), Arc::clone(decided));
            let learnt = off_reactor(move || policy.learn(&run, &looked)).await?;
            let learnt = learnt.filter(|learnt| !silent.contains(&learnt.name.as_str()));
            suggestions.extend(learnt.and_then(|learnt| Suggested::of(learnt, decided, decisions)));
            if suggestions.len() == MOST {
                break;
            }
        }
        let (policy, looked) = (Arc::clone(&in_force.policy), Arc::clone(decided));
        let held = off_reactor(move || {
            let asks = |decided: &Decided| policy.judge(&decided.call()).ruling.verdict == Verdict::Ask;
            let asked = |held: &HeldBack| held.decisions.first().and_then(|place| looked.get(*place)).is_some_and(asks);
            held_back(&looked).into_iter().filter(asked).take(MOST).collect::<Vec<_>>()
        });
        let held_back = held.await?.iter().filter_map(|held| Disputed::of(held, &known)).collect();
        Ok(Suggestions { decisions: decisions.len(), more: known.more, suggestions, held_back })
    }

    /// What people decided about actions, as far back as rules are learnt from.
    async fn people_decided(&self, scope: Scope) -> Result<Known, Error> {
        let at = self.read(Cost::Point, |reads| Ok(reads.now()?)).await?;
        let mut looking = self.look_back(scope, PastFilter { since: None, asked: true }, MOST_ASKED);
        let (mut decided, mut decisions, mut places) = (Vec::new(), Vec::new(), Vec::new());
        while decisions.len() < LOOKED_AT {
            let past = looking.next().await?;
            if past.is_empty() {
                break;
            }
            for Past { action, behalf, decision, proposal, earlier } in past {
                let last = decision.map(|decision| (action, decision));
                for (action, decision) in last.into_iter().chain(earlier.into_iter().rev()) {
                    let behalf = Behalf { agent: Some(proposal.proposed_by.name.clone()), ..behalf.clone() };
                    decided.extend(decided_about(action, behalf, &decision));
                    decisions.push(decision);
                    places.push((proposal.session, proposal.call.clone()));
                }
            }
        }
        Ok(Known { decided: Arc::new(decided), decisions, places, more: looking.more().await?, at })
    }

    /// The decisions that speak against rules, one a rule. Those of the last moments may be missing: they are looked for again in the
    /// transaction that puts the rules in force.
    pub(crate) async fn spoken_against(
        &self,
        scope: Scope,
        policy: &Arc<Policy>,
        rules: &[String],
    ) -> Result<Against, Error> {
        let Known { decided, decisions, at, .. } = self.people_decided(scope).await?;
        let (policy, names) = (Arc::clone(policy), rules.to_vec());
        let found = off_reactor(move || {
            let against = |name: String| {
                let place = decided.iter().position(|one| policy.spoken_against(&name, std::slice::from_ref(one)))?;
                Some((name, place))
            };
            names.into_iter().filter_map(against).collect::<Vec<_>>()
        });
        let found = found.await?.into_iter().filter_map(|(name, place)| Some((name, decisions.get(place)?.clone())));
        let since = at.saturating_sub(UNSEEN).unwrap_or(Timestamp::MIN);
        Ok(Against { found: found.collect(), since })
    }
}

/// What speaks against rules that are to be put in force.
#[derive(Debug, Clone)]
pub(crate) struct Against {
    pub(crate) found: Vec<(String, Decision)>,
    /// From when on there may be decisions that were not seen.
    pub(crate) since: Timestamp,
}

impl Work<'_> {
    /// The decisions since a moment that speak against rules of a policy. Called once the policy is written: whoever decides after that finds
    /// the rules there.
    pub(crate) fn decided_against(
        &mut self,
        scope: &Scope,
        policy: &Policy,
        (rules, since): (&[String], Timestamp),
    ) -> Result<Vec<(String, Decision)>, Error> {
        let mut found = Vec::new();
        let mut after = None;
        for _ in 0..MOST_PORTIONS {
            let closed = self.tx.closed(scope, since, after, PORTION)?;
            let whole = closed.len() < PORTION as usize;
            after = closed.last().map(|closed| (closed.resolved_at, closed.id));
            for closed in closed.into_iter().filter(|closed| closed.kind == Kind::Approval.name()) {
                let decision = self.tx.interaction(scope, closed.id)?.as_ref().and_then(Decision::of);
                let (Some((action, behalf)), Some(decision)) =
                    (asked_about(&mut *self.tx, scope, closed.id)?, decision)
                else {
                    continue;
                };
                let Some(decided) = decided_about(action, behalf, &decision) else { continue };
                let against = |rule: &&String| policy.spoken_against(rule, std::slice::from_ref(&decided));
                found.extend(rules.iter().filter(against).map(|rule| (rule.clone(), decision.clone())));
            }
            if whole {
                return Ok(found);
            }
        }
        // So many at once cannot be looked at here: it is tried again.
        Err(StoreError::Conflict.into())
    }
}

/// A decision about an action of an agent that has a name.
fn decided_about(action: Action, behalf: Behalf, decision: &Decision) -> Option<Decided> {
    let Action { tool, arguments } = action;
    let Behalf { agent, user, role } = behalf;
    Some(Decided { tool, arguments, agent: agent?, user, role, said: said(decision.effect) })
}

const fn said(effect: Effect) -> Said {
    match effect {
        Effect::Approve => Said::Approved,
        Effect::Reject => Said::Rejected,
        Effect::Edit | Effect::Retry | Effect::Terminate | Effect::Provide | Effect::Skip | Effect::Custom => {
            Said::Otherwise
        }
    }
}

impl Disputed {
    fn of(held: &HeldBack, known: &Known) -> Option<Self> {
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

impl Suggested {
    fn of(learnt: Learnt, decided: &[Decided], decisions: &[Decision]) -> Option<Self> {
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
