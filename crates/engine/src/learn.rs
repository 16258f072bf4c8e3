//! Rules that explain what people keep deciding: suggested, adopted by whoever may change the policy, and suspended as soon as somebody
//! decides otherwise.

use std::sync::Arc;

use domain::access::Right;
use domain::{Caller, Decision, Effect, InteractionId, Refusal, Scope, Timestamp};
use policy::{Decided, Learnt, Policy, Said, runs};

use crate::forms_check::off_reactor;
use crate::judge::InForce;
use crate::past::Past;
use crate::policy_admin::explained;
use crate::{Engine, Error};

/// How many actions are looked at.
const LOOKED_AT: u32 = 2000;
/// How many rules are proved at most, those of the longest runs: each costs a reading of the whole policy.
const MOST: usize = 10;

/// Rules that explain what people keep deciding.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestions {
    /// How many decisions of people were looked at.
    pub decisions: usize,
    /// Whether there are older actions that were not looked at.
    pub more: bool,
    /// The rules, those with most support first.
    pub suggestions: Vec<Suggested>,
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
    more: bool,
}

impl Engine {
    /// Rules that would explain what people have decided lately. Nothing is changed.
    pub async fn policy_suggestions(&self, caller: &Caller) -> Result<Suggestions, Error> {
        caller.require(Right::Read)?;
        let in_force = self.in_force(caller.scope).await?;
        self.learnt_rules(caller.scope, &in_force.policy).await
    }

    /// Puts a suggested rule into the project's policy, in front of the rule that asked.
    pub async fn policy_adopt(&self, caller: &Caller, name: String, reason: Option<String>) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        explained(reason.as_deref())?;
        let in_force = self.in_force(caller.scope).await?;
        if in_force.policy.rules().any(|rule| rule.name == name) {
            return Ok(in_force);
        }
        let suggested = self.learnt_rules(caller.scope, &in_force.policy).await?.suggestions;
        let found = suggested.into_iter().find(|suggested| suggested.learnt.name == name);
        let Suggested { learnt, support, .. } = found.ok_or(Refusal::NotFound("suggestion"))?;
        let reason = reason.unwrap_or_else(|| format!("learnt from {support} equal decisions"));
        let base = in_force.policy.version().to_owned();
        let adopted = self.policy_put(caller, learnt.text, (Some(base), Some(reason)), None).await?;
        self.still_unanimous(caller, adopted, &name).await
    }

    /// Somebody may have decided otherwise while the rule was being adopted, and found nothing to suspend.
    async fn still_unanimous(&self, caller: &Caller, adopted: InForce, name: &str) -> Result<InForce, Error> {
        let Known { decided, decisions, .. } = self.people_decided(caller.scope).await?;
        let against = decided.iter().position(|one| adopted.policy.spoken_against(name, std::slice::from_ref(one)));
        let Some(decision) = against.and_then(|place| decisions.get(place)).cloned() else { return Ok(adopted) };
        let (scope, rules) = (caller.scope, vec![name.to_owned()]);
        self.transact(move |work| work.suspended(&scope, &rules, &decision)).await?;
        self.in_force(scope).await
    }

    async fn learnt_rules(&self, scope: Scope, policy: &Arc<Policy>) -> Result<Suggestions, Error> {
        let _turn = self.policies.simulating().await;
        let Known { decided, decisions, more } = self.people_decided(scope).await?;
        let looked = Arc::clone(&decided);
        let mut suggestions = Vec::new();
        for run in off_reactor(move || runs(&looked)).await?.into_iter().take(MOST) {
            let (policy, looked) = (Arc::clone(policy), Arc::clone(&decided));
            let learnt = off_reactor(move || policy.learn(&run, &looked)).await?;
            suggestions.extend(learnt.and_then(|learnt| Suggested::of(learnt, &decided, &decisions)));
        }
        Ok(Suggestions { decisions: decisions.len(), more, suggestions })
    }

    async fn people_decided(&self, scope: Scope) -> Result<Known, Error> {
        let mut looking = self.look_back(scope, None, LOOKED_AT);
        let (mut decided, mut decisions) = (Vec::new(), Vec::new());
        loop {
            let past = looking.next().await?;
            if past.is_empty() {
                break;
            }
            for Past { action, behalf, decision, proposal } in past {
                let Some(decision) = decision else { continue };
                decided.push(Decided {
                    tool: action.tool,
                    arguments: action.arguments,
                    agent: proposal.proposed_by.name,
                    user: behalf.user,
                    role: behalf.role,
                    said: said(decision.effect),
                });
                decisions.push(decision);
            }
        }
        Ok(Known { decided: Arc::new(decided), decisions, more: looking.more().await? })
    }
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
