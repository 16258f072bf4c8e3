//! A draft of a policy, held against what was proposed before: what would change, and which decisions of people it contradicts.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::access::Right;
use domain::{Caller, Decision, Problem, Refusal, Ruling, Scope, SessionId, Timestamp, Verdict};
use store::{Cost, PastFilter};

use crate::fair_gate::Entrant;
use crate::judge::{Trial, drafted};
use crate::past::Past;
use crate::policy_admin::readable;
use crate::{Engine, Error};

/// How many actions are looked at unless somebody says otherwise.
const USUAL: u32 = 1000;
/// How many at most.
const MOST: u32 = 10_000;
/// How many are listed; all are counted.
const LISTED: usize = 100;

/// A draft, and how far to look back.
#[derive(Debug, Clone)]
pub struct Simulate {
    /// The name that the draft goes by in its findings.
    pub file: String,
    /// The draft, in TOML.
    pub text: String,
    /// At most so many actions.
    pub limit: Option<u32>,
    /// None from before this moment.
    pub since: Option<Timestamp>,
}

/// What a draft would have made of what was proposed.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// The version of the draft.
    pub version: String,
    /// How many actions it was held against.
    pub judged: u64,
    /// Whether there are older ones that it was not held against.
    pub more: bool,
    /// How often it would have said the second instead of the first.
    pub counts: BTreeMap<(Verdict, Verdict), u64>,
    /// The newest of those.
    pub changed: Vec<Changed>,
    /// How often it would have allowed what people held back, or denied what they approved.
    pub contradictions: u64,
    /// The newest of those.
    pub contradicted: Vec<Changed>,
}

/// One action of which a draft says something else than was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// Its session.
    pub session: SessionId,
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The agent that proposed it.
    pub agent: String,
    /// When.
    pub at: Timestamp,
    /// What was said.
    pub before: Ruling,
    /// What the draft says.
    pub after: Ruling,
    /// What people decided about it.
    pub decision: Option<Decision>,
}

impl Engine {
    /// Holds a draft against the newest actions of the project. Nothing is changed.
    pub async fn policy_simulate(&self, caller: &Caller, simulate: Simulate) -> Result<Simulation, Error> {
        caller.require(Right::TryDrafts)?;
        self.simulated(caller.scope, Entrant::of(caller), simulate).await
    }

    /// The same for whoever holds the database itself, by the names of a tenant and a project.
    pub async fn policy_simulate_of(
        &self,
        tenant: String,
        project: String,
        simulate: Simulate,
    ) -> Result<Simulation, Error> {
        let scope = self
            .read(Cost::Point, move |reads| Ok(reads.scope(&tenant, &project)?.ok_or(Refusal::NotFound("project"))?));
        let scope = scope.await?;
        self.simulated(scope, Entrant::system(scope), simulate).await
    }

    async fn simulated(&self, scope: Scope, by: Entrant, simulate: Simulate) -> Result<Simulation, Error> {
        let limit = simulate.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            let problem = Problem::new("/limit", format!("must be 1 to {MOST}"));
            return Err(Refusal::QuestionInvalid(vec![problem]).into());
        }
        let turn = self.turn_of(by).await?;
        let policy = Arc::new(turn.off_reactor(move |_| readable(&simulate.file, &simulate.text)).await??);
        let suspended = self.silent_in(scope, &policy).await?;
        let mut simulation = Simulation::of(policy.version().to_owned());
        let trial = Arc::new(Trial { policy, suspended, floor: self.policies.floor_here() });
        let filter = PastFilter { since: simulate.since, asked: false };
        let mut looking = self.look_back(scope, filter, limit);
        loop {
            let past = looking.next().await?;
            if past.is_empty() {
                break;
            }
            let (trial, forms) = (Arc::clone(&trial), Arc::clone(&self.forms));
            let judged = turn.off_reactor(move |wanted| {
                let judge = |past: Past| Some((drafted((&trial, &forms), &past.behalf, &past.action, wanted)?, past));
                // Nobody is told any more once its time is up.
                past.into_iter().map_while(judge).collect::<Vec<_>>()
            });
            judged.await?.into_iter().for_each(|(after, past)| simulation.take(past, after));
        }
        simulation.more = looking.more().await?;
        Ok(simulation)
    }
}

impl Simulation {
    fn of(version: String) -> Self {
        let (counts, changed, contradicted) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { version, judged: 0, more: false, counts, changed, contradictions: 0, contradicted }
    }

    fn take(&mut self, Past { proposal, action, decision, .. }: Past, after: Ruling) {
        self.judged += 1;
        let differs = proposal.ruling.verdict != after.verdict;
        let contradicts = decision.as_ref().is_some_and(|decision| decision.contradicted_by(after.verdict));
        let changed = Changed {
            session: proposal.session,
            call: proposal.call_id,
            tool: action.tool,
            agent: proposal.proposed_by.name,
            at: proposal.at,
            before: proposal.ruling,
            after,
            decision,
        };
        if contradicts {
            self.contradictions += 1;
            listed(&mut self.contradicted, changed.clone());
        }
        if differs {
            *self.counts.entry((changed.before.verdict, changed.after.verdict)).or_default() += 1;
            listed(&mut self.changed, changed);
        }
    }
}

fn listed(list: &mut Vec<Changed>, changed: Changed) {
    if list.len() < LISTED {
        list.push(changed);
    }
}
