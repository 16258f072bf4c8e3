//! A draft of a policy, held against what was proposed before: what would change, and which decisions of people it contradicts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::access::Right;
use domain::{Caller, Decision, Problem, Refusal, Ruling, Scope, SessionId, Timestamp, Verdict};
use store::{Cost, PastFilter};

use crate::forms_check::off_reactor;
use crate::judge::{Trial, drafted};
use crate::past::Past;
use crate::policy_admin::loaded;
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
        caller.require(Right::Read)?;
        self.simulated(caller.scope, simulate).await
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
        self.simulated(scope.await?, simulate).await
    }

    async fn simulated(&self, scope: Scope, simulate: Simulate) -> Result<Simulation, Error> {
        let limit = simulate.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            let problem = Problem::new("/limit", format!("must be 1 to {MOST}"));
            return Err(Refusal::QuestionInvalid(vec![problem]).into());
        }
        let _turn = self.policies.turn(scope.tenant).await?;
        let policy = Arc::new(loaded(&simulate.file, simulate.text).await?);
        let suspended = self.policy_state(scope).await?.silent().into_iter().map(str::to_owned).collect();
        let mut simulation = Simulation::of(policy.version().to_owned());
        let trial = Arc::new(Trial { policy, suspended });
        let filter = PastFilter { since: simulate.since, asked: false };
        let mut looking = self.look_back(scope, filter, limit);
        let wanted = Wanted::default();
        loop {
            let past = looking.next().await?;
            if past.is_empty() {
                break;
            }
            let (trial, forms, wanted) = (Arc::clone(&trial), Arc::clone(&self.forms), Arc::clone(&wanted.0));
            let judged = off_reactor(move || {
                // Nobody is told any more once its time is up.
                let past = past.into_iter().take_while(|_| wanted.load(Ordering::Relaxed));
                let judge = |past: Past| (drafted(&trial, &forms, &past.behalf, &past.action), past);
                past.map(judge).collect::<Vec<_>>()
            });
            judged.await?.into_iter().for_each(|(after, past)| simulation.take(past, after));
        }
        simulation.more = looking.more().await?;
        Ok(simulation)
    }
}

/// Whether somebody still waits for what is judged. It is over when this is dropped: with the answer, or without one.
struct Wanted(Arc<AtomicBool>);

impl Default for Wanted {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
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
            call: proposal.call,
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
