//! Simulates a draft of a policy on past actions: which rulings would change, and which decisions of people the draft contradicts.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::access::Right;
use domain::{Caller, Decision, Problem, Refusal, Ruling, Scope, SessionId, Timestamp, Verdict};
use store::{ActionHistoryFilter, Cost};

use crate::policy::learn;
use crate::policy::learn::action_history::HistoricAction;
use crate::policy::project_policy::parse_policy_here;
use crate::policy::ruling::{DraftPolicy, judge_draft};
use crate::run;
use crate::run::fair_gate::Entrant;
use crate::{Engine, Error};

/// Default number of actions.
const USUAL: u32 = 1000;
/// Maximum number of actions.
const MOST: u32 = 10_000;
/// Number of actions that are listed. All actions are counted.
const LISTED: usize = 100;

/// Draft to simulate, and the range of past actions.
#[derive(Debug, Clone)]
pub struct Simulate {
    /// File name in the findings about the draft.
    pub file: String,
    /// Text of the draft, in TOML.
    pub text: String,
    /// Maximum number of actions; `USUAL` by default.
    pub limit: Option<u32>,
    /// Time before which no actions are considered.
    pub since: Option<Timestamp>,
}

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// Version of the draft.
    pub version: String,
    /// Number of actions that the draft judged.
    pub judged: u64,
    /// Whether there are older actions that were not judged.
    pub more: bool,
    /// Number of changed rulings, by the previous verdict and the verdict of the draft.
    pub counts: BTreeMap<(Verdict, Verdict), u64>,
    /// Newest actions with a changed ruling.
    pub changed: Vec<ChangedRuling>,
    /// Number of actions that the draft allows although people held them back, or denies although people approved them.
    pub contradictions: u64,
    /// Newest actions for which the draft contradicts a decision.
    pub contradicted: Vec<ChangedRuling>,
}

/// Past action with the ruling that was given and the ruling of the draft.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedRuling {
    /// Session of the action.
    pub session: SessionId,
    /// Call id of the action.
    pub call: String,
    /// Name of the tool.
    pub tool: String,
    /// Name of the agent that proposed the action.
    pub agent: String,
    /// Time at which the action was proposed.
    pub at: Timestamp,
    /// Ruling that was given.
    pub before: Ruling,
    /// Ruling of the draft.
    pub after: Ruling,
    /// Decision of people about the action.
    pub decision: Option<Decision>,
}

impl Engine {
    /// Simulates a draft on the newest actions of the project, without changing anything.
    pub async fn policy_simulate(&self, caller: &Caller, simulate: Simulate) -> Result<Simulation, Error> {
        caller.require(Right::TryDrafts)?;
        run_simulation(self, caller.scope, Entrant::of(caller), simulate).await
    }

    /// Simulates a draft on the project with the given tenant and project names, for an operator with direct access to the database.
    pub async fn policy_simulate_of(
        &self,
        tenant: String,
        project: String,
        simulate: Simulate,
    ) -> Result<Simulation, Error> {
        let scope = self
            .read(Cost::Point, move |reads| Ok(reads.scope(&tenant, &project)?.ok_or(Refusal::NotFound("project"))?));
        let scope = scope.await?;
        run_simulation(self, scope, Entrant::system(scope), simulate).await
    }
}

async fn run_simulation(engine: &Engine, scope: Scope, by: Entrant, simulate: Simulate) -> Result<Simulation, Error> {
    let limit = simulate.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        let problem = Problem::new("/limit", format!("must be 1 to {MOST}"));
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    let heavy_work = run::gates::begin_heavy_work_of(engine, by).await?;
    let policy = Arc::new(heavy_work.off_reactor(move |_| parse_policy_here(&simulate.file, &simulate.text)).await??);
    let suspended = learn::suspend::suspended_rules(engine, scope, &policy).await?;
    let mut simulation = Simulation::of(policy.version().to_owned());
    let trial = Arc::new(DraftPolicy { policy, suspended, floor: engine.policies.floor_here() });
    let filter = ActionHistoryFilter { since: simulate.since, asked: false };
    let mut looking = learn::action_history::look_back(engine, scope, filter, limit);
    loop {
        let past = looking.next().await?;
        if past.is_empty() {
            break;
        }
        let (trial, forms) = (Arc::clone(&trial), Arc::clone(&engine.forms));
        let judged = heavy_work.off_reactor(move |wanted| {
            let judge =
                |past: HistoricAction| Some((judge_draft((&trial, &forms), &past.behalf, &past.call, wanted)?, past));
            // The simulation stops between two actions when the caller has gone.
            past.into_iter().map_while(judge).collect::<Vec<_>>()
        });
        judged.await?.into_iter().for_each(|(after, past)| simulation.add(past, after));
    }
    simulation.more = looking.more().await?;
    Ok(simulation)
}

impl Simulation {
    fn of(version: String) -> Self {
        let (counts, changed, contradicted) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { version, judged: 0, more: false, counts, changed, contradictions: 0, contradicted }
    }

    fn add(&mut self, HistoricAction { action, call, decision, .. }: HistoricAction, after: Ruling) {
        self.judged += 1;
        let differs = action.ruling.verdict != after.verdict;
        let contradicts = decision.as_ref().is_some_and(|decision| decision.is_contradicted_by(after.verdict));
        let changed = ChangedRuling {
            session: action.session,
            call: action.call_id,
            tool: call.tool,
            agent: action.proposed_by.name,
            at: action.at,
            before: action.ruling,
            after,
            decision,
        };
        if contradicts {
            self.contradictions += 1;
            push_bounded(&mut self.contradicted, changed.clone());
        }
        if differs {
            *self.counts.entry((changed.before.verdict, changed.after.verdict)).or_default() += 1;
            push_bounded(&mut self.changed, changed);
        }
    }
}

fn push_bounded(list: &mut Vec<ChangedRuling>, changed: ChangedRuling) {
    if list.len() < LISTED {
        list.push(changed);
    }
}
