//! Judges an action by the policy in force and the floor, before the transaction. The transaction then checks that both are still in force.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::policy::{AskTerms, Asking, Policy, PolicyInput};
use domain::{
    Action, Actor, AgentEnvironment, Answer, Call, Caller, FloorRuling, PolicySource, PolicyState, ProjectId, Role,
    Ruling, Timestamp, Verdict,
};
use forms::{CheckError, Forms};
use metrics::{counter, gauge};
use moka::sync::Cache;
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use store::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::policy::floor::Floor;
use crate::policy::in_force::{InForce, PolicyMismatch};
use crate::policy::server_file::{RefusedFile, ServerFile};
use crate::{Engine, Error, interactions, run};

/// Policies that this node has loaded.
pub(crate) struct Policies {
    /// Server's policy, which applies to projects without a policy of their own.
    server: RwLock<ServerPolicy>,
    /// Floor of the servers.
    pub(crate) floor: RwLock<Floor>,
    /// Policy file that was refused or could not be read yet.
    refused: RwLock<Option<RefusedFile>>,
    /// Policies of projects, by version.
    pub(crate) compiled: Cache<String, Arc<Policy>>,
    /// Policy versions that are known to be stored in a project.
    pub(crate) kept: Cache<(ProjectId, String), ()>,
    /// Shadow drafts by version; `None` for a draft that cannot be parsed.
    pub(crate) drafts: Cache<String, Option<Arc<Policy>>>,
    /// Names of the suspended rules of a project's shadow draft, by the revision of the policy state. Entries expire after `SILENT_FOR`.
    pub(crate) draft_suspensions: Cache<(ProjectId, u64), Vec<String>>,
    /// Permits to judge shadow drafts. The limit keeps slow drafts from taking the threads of real rulings.
    permits: Arc<Semaphore>,
    /// Running judgements of shadow drafts.
    pub(crate) drafting: Mutex<JoinSet<()>>,
    /// One lock per project for the comparison of the server's policy with the decisions of that project.
    vetting: Cache<ProjectId, Arc<Semaphore>>,
    /// Whether this process runs beside the servers and serves no clients.
    runs_beside_servers: AtomicBool,
    /// Whether this process has no policy of its own and reads the policy of the servers from the store.
    pub(crate) follows: AtomicBool,
    /// Result of the last comparison with the versions that the servers put in force.
    pub(crate) differs: Mutex<Option<PolicyMismatch>>,
}

/// Policy of the server, for projects without a policy of their own.
#[derive(Clone)]
pub(crate) struct ServerPolicy {
    pub(crate) policy: Arc<Policy>,
    pub(crate) source: PolicySource,
    /// Time since which the policy is in force, if that is recorded.
    pub(crate) since: Option<Timestamp>,
    /// Version of the policy if it has learnt rules. These are compared with earlier decisions of a project before the first ruling by
    /// them.
    pub(crate) learnt: Option<String>,
}

impl ServerPolicy {
    fn new(policy: Arc<Policy>, source: PolicySource) -> Self {
        let learnt = policy.learnt().next().map(|_| policy.version().to_owned());
        Self { policy, source, since: None, learnt }
    }
}

/// Number of shadow drafts that may be judged at once.
const DRAFT_PERMITS: usize = 32;
/// Time for which the suspended rules of a shadow draft are cached.
const SILENT_FOR: Duration = Duration::from_mins(1);
/// Time to wait for the lock of a project in `vetting`.
const PATIENCE: Duration = Duration::from_secs(30);

impl Policies {
    pub(crate) fn new() -> Self {
        Self {
            server: RwLock::new(ServerPolicy::new(Arc::new(Policy::builtin()), PolicySource::Builtin)),
            floor: RwLock::new(Floor::default()),
            refused: RwLock::new(None),
            compiled: Cache::new(1000),
            kept: Cache::new(100_000),
            drafts: Cache::new(1000),
            draft_suspensions: Cache::builder().max_capacity(1000).time_to_live(SILENT_FOR).build(),
            permits: Arc::new(Semaphore::new(DRAFT_PERMITS)),
            drafting: Mutex::new(JoinSet::new()),
            vetting: Cache::new(10_000),
            runs_beside_servers: AtomicBool::new(false),
            follows: AtomicBool::new(false),
            differs: Mutex::new(None),
        }
    }

    /// Takes a permit to judge a shadow draft, if one is free.
    pub(crate) fn permit_for_draft(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Waits for the lock under which the server's policy is compared with the decisions of a project.
    pub(crate) async fn vetting(&self, project: ProjectId) -> Result<OwnedSemaphorePermit, Error> {
        let one = self.vetting.get_with(project, || Arc::new(Semaphore::new(1)));
        match tokio::time::timeout(PATIENCE, one.acquire_owned()).await {
            Ok(Ok(one)) => Ok(one),
            Ok(Err(_)) | Err(_) => Err(StoreError::Busy.into()),
        }
    }

    /// Replaces the server's policy in this process.
    pub(crate) fn replace(&self, policy: Arc<Policy>, source: PolicySource) {
        let now = policy.version().to_owned();
        let before = std::mem::replace(&mut *self.server.write(), ServerPolicy::new(policy, source));
        report_version("policy", Some(before.policy.version()), Some(&now));
        self.accept(ServerFile::Policy);
    }

    /// Sets the recorded time since which the server's policy is in force, if it still has this version.
    pub(crate) fn set_since(&self, version: &str, since: Timestamp) {
        let mut server = self.server.write();
        if server.policy.version() == version {
            server.since = Some(since);
        }
    }

    /// Notes that the file is in force, and clears an earlier refusal.
    pub(crate) fn accept(&self, part: ServerFile) {
        match part {
            ServerFile::Policy => *self.refused.write() = None,
            ServerFile::Floor => self.floor.write().refused = None,
        }
        gauge!(part.refused_metric()).set(0.0);
    }

    /// Records that the file has errors or could not be read yet. The previous version stays in force. Returns whether the findings differ from the
    /// findings of the last refusal.
    pub(crate) fn refuse(&self, part: ServerFile, file: RefusedFile) -> bool {
        gauge!(part.refused_metric()).set(1.0);
        let news = self.refused(part).is_none_or(|before| before.findings != file.findings);
        if news {
            match part {
                ServerFile::Policy => *self.refused.write() = Some(file),
                ServerFile::Floor => self.floor.write().refused = Some(file),
            }
        }
        news
    }

    pub(crate) fn refused(&self, part: ServerFile) -> Option<RefusedFile> {
        match part {
            ServerFile::Policy => self.refused.read().clone(),
            ServerFile::Floor => self.floor.read().refused.clone(),
        }
    }

    pub(crate) fn server(&self) -> ServerPolicy {
        self.server.read().clone()
    }

    /// Floor of this process, if it has one.
    pub(crate) fn floor_here(&self) -> Option<Arc<Policy>> {
        self.floor.read().policy.clone()
    }
}

/// Sets the metric that shows the version in force in this process.
pub(crate) fn report_version(part: &'static str, before: Option<&str>, now: Option<&str>) {
    if let Some(before) = before {
        gauge!("flow_policy_in_force", "part" => part, "version" => before.to_owned()).set(0.0);
    }
    if let Some(now) = now {
        gauge!("flow_policy_in_force", "part" => part, "version" => now.to_owned()).set(1.0);
    }
}

/// Ruling on a call, with the policy under which it was given.
#[derive(Clone)]
pub(crate) struct Judged {
    /// Call that was judged.
    pub(crate) call: Call,
    pub(crate) ruling: Ruling,
    /// Rules that ask, if the ruling is to ask: first rules of the policy, then rules of the floor.
    pub(crate) asks: Vec<Asking>,
    /// Combined question of all rules that ask.
    pub(crate) ask: AskTerms,
    /// Question of the floor, if the floor asks.
    pub(crate) floor_ask: Option<AskTerms>,
    /// Whether the tool may be run again.
    pub(crate) repeatable: bool,
    /// Whether every rule could evaluate the whole call and the call fits the schema of its tool. Otherwise only a person who has seen
    /// exactly these arguments can let it through.
    pub(crate) certain: bool,
    pub(crate) in_force: InForce,
}

/// Agent, user and role on whose behalf a call is judged.
#[derive(Debug, Clone)]
pub struct OnBehalfOf {
    /// Name of the agent.
    pub agent: Option<String>,
    /// Name of the user who started the session.
    pub user: String,
    /// Role of the key that proposes the call.
    pub role: Role,
    /// Program and directory for which that key was made.
    pub environment: AgentEnvironment,
}

impl OnBehalfOf {
    /// The agent that proposed an action, and the user who started its session.
    pub(crate) fn of(action: &Action, user: String) -> Self {
        let environment = action.environment.clone();
        Self { agent: Some(action.proposed_by.name.clone()), user, role: action.role, environment }
    }

    /// The caller that proposes a call, and the user who started its session.
    pub(crate) fn caller(caller: &Caller, user: String) -> Self {
        let environment = caller.environment.clone();
        Self { agent: Some(caller.actor.name.clone()), user, role: caller.role, environment }
    }

    /// An agent that asked about a call in its own words.
    pub(crate) fn agent(agent: String, user: String) -> Self {
        Self { agent: Some(agent), user, role: Role::Agent, environment: AgentEnvironment::default() }
    }

    /// Builds the input of the policy for a call.
    pub(crate) fn call<'a>(&'a self, call: &'a Call) -> PolicyInput<'a> {
        PolicyInput {
            tool: &call.tool,
            arguments: &call.arguments,
            agent: self.agent.as_deref(),
            user: &self.user,
            role: self.role,
            client: self.environment.client.as_deref(),
            root: self.environment.root.as_deref(),
        }
    }
}

impl Judged {
    /// Names of the asking rules other than the one that the ruling names.
    pub(crate) fn also_asking(&self) -> Vec<String> {
        let names = self.asks.iter().filter_map(|ask| ask.rule.clone());
        names.filter(|name| self.ruling.rule.as_ref() != Some(name)).collect()
    }

    /// Whether equal answers satisfy every audience that has to be asked.
    pub(crate) fn is_settled_by(&self, answers: &[&Answer], started_by: &Actor) -> bool {
        self.ask.audiences.iter().all(|audience| audience.settled_by(answers, started_by))
    }

    /// Schema of the tool's arguments, if the policy declares one.
    pub(crate) fn schema(&self) -> Option<Value> {
        self.in_force.policy.schema(&self.call.tool).cloned()
    }
}

/// Judges a call by the given policy.
pub(crate) async fn judge(engine: &Engine, in_force: InForce, behalf: OnBehalfOf, call: Call) -> Result<Judged, Error> {
    let misfit = find_misfit(engine, &in_force.policy, &call).await?;
    let judged = run::heavy_work::off_reactor(move || {
        let mut silent = in_force.state.silent();
        silent.extend(in_force.disabled.iter().map(String::as_str));
        let judgement = in_force.policy.judge_without(&behalf.call(&call), &silent);
        let repeatable = in_force.policy.repeatable(&call.tool);
        let certain = judgement.certain && misfit.is_none();
        let ruling = apply_switch(ask_on_misfit(judgement.ruling, misfit), &in_force.state);
        let floor = in_force.floor.as_ref().map(|floor| floor.judge(&behalf.call(&call)));
        let (floor, below) = floor.map_or((None, Vec::new()), |floor| (Some(floor.ruling), floor.asks));
        let floor_ask = (!below.is_empty()).then(|| AskTerms::of(&below));
        let asks = asked_by(&ruling, judgement.asks, below);
        let (ruling, ask) = (apply_floor(ruling, floor), AskTerms::of(&asks));
        Judged { call, ruling, asks, ask, floor_ask, repeatable, certain, in_force }
    });
    let judged = judged.await?;
    counter!("flow_policy_verdicts_total", "verdict" => judged.ruling.verdict.name()).increment(1);
    Ok(judged)
}

/// Finds the first problem of a call with the schema of its tool, if the policy declares one.
pub(crate) async fn find_misfit(engine: &Engine, policy: &Policy, call: &Call) -> Result<Option<String>, Error> {
    let Some(schema) = policy.schema(&call.tool).cloned() else { return Ok(None) };
    let problems = interactions::forms_check::check_value(engine, schema, call.arguments.clone(), "").await?;
    Ok(problems.into_iter().next().map(|problem| format!("`{}` {}", problem.pointer, problem.message)))
}

/// Policy that is not in force, with the rules that would be suspended in it.
#[derive(Clone)]
pub(crate) struct DraftPolicy {
    pub(crate) policy: Arc<Policy>,
    pub(crate) suspended: Vec<String>,
    /// Floor of the servers, which applies to a draft too.
    pub(crate) floor: Option<Arc<Policy>>,
}

/// Judges a call by a draft, as if the draft were in force and approvals were not paused. Returns `None` if the caller has gone.
pub(crate) fn judge_draft(
    (trial, forms): (&DraftPolicy, &Forms),
    behalf: &OnBehalfOf,
    call: &Call,
    wanted: &dyn Fn() -> bool,
) -> Option<Ruling> {
    let DraftPolicy { policy, suspended, floor } = trial;
    let misfit = misfit_of(policy, forms, call);
    let silent: Vec<&str> = suspended.iter().map(String::as_str).collect();
    let ruling = ask_on_misfit(policy.judge_while(&behalf.call(call), &silent, wanted)?.ruling, misfit);
    let floor = match floor {
        Some(floor) => Some(floor.judge_while(&behalf.call(call), &[], wanted)?.ruling),
        None => None,
    };
    Some(apply_floor(ruling, floor))
}

/// Like [`find_misfit`], but checks on the current thread, for callers that are on a blocking thread already.
pub(crate) fn misfit_of(policy: &Policy, forms: &Forms, call: &Call) -> Option<String> {
    let checked = policy.schema(&call.tool).map_or(Ok(()), |schema| forms.check(schema, &call.arguments));
    checked.err().map(|error| match error {
        CheckError::Schema(error) => error.to_string(),
        CheckError::Fields(fields) => {
            fields.first().map_or_else(String::new, |field| format!("`{}` {}", field.pointer, field.message))
        }
    })
}

/// Turns an allowing ruling into a question if the call does not fit the schema of its tool, because the policy was not written for such
/// a call.
pub(crate) fn ask_on_misfit(ruling: Ruling, misfit: Option<String>) -> Ruling {
    match misfit {
        Some(misfit) if ruling.verdict == Verdict::Allow => {
            let reason = format!("It does not fit the schema of its tool: {}.", misfit.trim_end_matches('.'));
            Ruling { verdict: Verdict::Ask, reason, ..ruling }
        }
        _ => ruling,
    }
}

/// Allows a call that the policy would ask about if approvals were not paused. A denial by the policy and a question by the floor still hold.
pub(crate) fn apply_switch(ruling: Ruling, state: &PolicyState) -> Ruling {
    if state.enabled || ruling.verdict != Verdict::Ask || ruling.floor_asks() {
        return ruling;
    }
    let why = state.reason.as_deref().unwrap_or("no reason was given");
    let reason = format!("approvals are paused by {}: {why}", state.by.name);
    Ruling { verdict: Verdict::Allow, reason, ..ruling }
}

/// Combines a ruling of the policy with the ruling of the floor on the same call.
pub(crate) fn apply_floor(ruling: Ruling, floor: Option<Ruling>) -> Ruling {
    match floor {
        Some(Ruling { verdict, rule, reason, policy: version, .. }) => {
            ruling.under_floor(FloorRuling { version, verdict, rule, reason })
        }
        None => ruling,
    }
}

/// Collects the rules that ask about a call: the rules of the policy if its ruling is to ask, then the rules of the floor.
pub(crate) fn asked_by(ruling: &Ruling, policy: Vec<Asking>, floor: Vec<Asking>) -> Vec<Asking> {
    let mut asks = match ruling.verdict {
        // The call does not fit the schema of its tool, and no rule asks.
        Verdict::Ask if policy.is_empty() => vec![Asking::by_default()],
        Verdict::Ask => policy,
        Verdict::Allow | Verdict::Deny => Vec::new(),
    };
    asks.extend(floor);
    asks
}

impl Policies {
    /// Declares that this process runs beside the servers.
    pub(crate) fn mark_beside_servers(&self) {
        self.runs_beside_servers.store(true, Ordering::Release);
    }

    /// Whether this process runs beside the servers.
    pub(crate) fn is_beside_servers(&self) -> bool {
        self.runs_beside_servers.load(Ordering::Acquire)
    }

    /// Remembers, after a commit, the policy versions that are stored, so that they are not stored again.
    pub(crate) fn remember(&self, kept: Vec<(ProjectId, String)>) {
        kept.into_iter().for_each(|known| self.kept.insert(known, ()));
    }
}
