//! Judges an action by the policy in force, before the transaction; the transaction then makes sure that it still is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::policy::{Ask, Asking, Policy, PolicyInput};
use domain::{
    Actor, Answer, Call, PolicySource, PolicyState, ProjectId, Role, Ruling, Scope, Suspension, Timestamp, Verdict,
};
use forms::{CheckError, Forms};
use metrics::{counter, gauge};
use moka::sync::Cache;
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use store::{Cost, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::interactions::forms_check::off_reactor;
use crate::policy::floor::{Floor, asked_by, floored};
use crate::policy::in_force::PolicyMismatch;
use crate::policy::server_file::{NOWHERE, RefusedFile, ServerFile};
use crate::{Engine, Error};

/// The policies that this node has at hand.
pub(crate) struct Policies {
    /// The server's own, for projects that have none.
    server: RwLock<ServerPolicy>,
    /// The floor of the servers, and whether this process has it from a file or from the store.
    pub(crate) floor: RwLock<Floor>,
    /// The policy file as it is, where it was refused or could not be read yet.
    refused: RwLock<Option<RefusedFile>>,
    /// Projects' own, by version.
    compiled: Cache<String, Arc<Policy>>,
    /// Which versions are known to be kept in which project.
    pub(crate) kept: Cache<(ProjectId, String), ()>,
    /// Drafts that are judged beside a policy in force, by version; none where one cannot be read.
    pub(crate) drafts: Cache<String, Option<Arc<Policy>>>,
    /// What matches nothing in the draft of a project, by the revision of its state; for a while.
    pub(crate) silent_beside: Cache<(ProjectId, u64), Vec<String>>,
    /// How many drafts may be at work at once, so that slow ones never take the threads of what counts.
    places: Arc<Semaphore>,
    /// Drafts that are being judged beside a policy in force.
    pub(crate) drafting: Mutex<JoinSet<()>>,
    /// Who holds the server's policy against what was decided in a project: one at a time.
    vetting: Cache<ProjectId, Arc<Semaphore>>,
    /// Whether this process stands beside the servers, and serves nobody.
    beside: AtomicBool,
    /// Whether this process has no policy of its own and takes that of the servers out of the store.
    pub(crate) follows: AtomicBool,
    /// How this process differed from what the servers have put in force, when that was last looked at.
    pub(crate) differs: Mutex<Option<PolicyMismatch>>,
}

/// The server's own policy.
#[derive(Clone)]
pub(crate) struct ServerPolicy {
    pub(crate) policy: Arc<Policy>,
    pub(crate) source: PolicySource,
    /// Since when, where that is on record.
    pub(crate) since: Option<Timestamp>,
    /// Its version, where it has learnt rules: those are held against what people decided before anything is ruled on by them.
    pub(crate) learnt: Option<String>,
}

impl ServerPolicy {
    fn new(policy: Arc<Policy>, source: PolicySource) -> Self {
        let learnt = policy.learnt().next().map(|_| policy.version().to_owned());
        Self { policy, source, since: None, learnt }
    }
}

/// How many drafts may be at work at once.
const PLACES: usize = 32;
/// How often the server's policy is held against what was decided, where it is another one each time.
const VETTINGS: usize = 5;
/// For how long it is believed what matches nothing in a draft.
const SILENT_FOR: Duration = Duration::from_secs(60);
/// How long somebody waits for a turn.
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
            silent_beside: Cache::builder().max_capacity(1000).time_to_live(SILENT_FOR).build(),
            places: Arc::new(Semaphore::new(PLACES)),
            drafting: Mutex::new(JoinSet::new()),
            vetting: Cache::new(10_000),
            beside: AtomicBool::new(false),
            follows: AtomicBool::new(false),
            differs: Mutex::new(None),
        }
    }

    /// A place for a draft to work in, if one is free.
    pub(crate) fn place_for_draft(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Waits until nobody else holds the server's policy against what was decided in a project.
    pub(crate) async fn vetting(&self, project: ProjectId) -> Result<OwnedSemaphorePermit, Error> {
        let one = self.vetting.get_with(project, || Arc::new(Semaphore::new(1)));
        match tokio::time::timeout(PATIENCE, one.acquire_owned()).await {
            Ok(Ok(one)) => Ok(one),
            Ok(Err(_)) | Err(_) => Err(StoreError::Busy.into()),
        }
    }

    /// Puts another policy in the place of the server's own.
    pub(crate) fn replace(&self, policy: Arc<Policy>, source: PolicySource) {
        let now = policy.version().to_owned();
        let before = std::mem::replace(&mut *self.server.write(), ServerPolicy::new(policy, source));
        told_in_force("policy", Some(before.policy.version()), Some(&now));
        self.accept(ServerFile::Policy);
    }

    /// It is on record since when the server's policy is the one of this version.
    pub(crate) fn dated(&self, version: &str, since: Timestamp) {
        let mut server = self.server.write();
        if server.policy.version() == version {
            server.since = Some(since);
        }
    }

    /// The file of this part is in force as it is.
    pub(crate) fn accept(&self, part: ServerFile) {
        match part {
            ServerFile::Policy => *self.refused.write() = None,
            ServerFile::Floor => self.floor.write().refused = None,
        }
        gauge!(part.refused_figure()).set(0.0);
    }

    /// The file of this part is bad, or could not be read yet; what was in force stays. Says whether that is news.
    pub(crate) fn refuse(&self, part: ServerFile, file: RefusedFile) -> bool {
        gauge!(part.refused_figure()).set(1.0);
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
}

/// Shows in the figures which version is in force in this process.
pub(crate) fn told_in_force(part: &'static str, before: Option<&str>, now: Option<&str>) {
    if let Some(before) = before {
        gauge!("flow_policy_in_force", "part" => part, "version" => before.to_owned()).set(0.0);
    }
    if let Some(now) = now {
        gauge!("flow_policy_in_force", "part" => part, "version" => now.to_owned()).set(1.0);
    }
}

/// The policy in force in a project.
#[derive(Clone)]
pub struct InForce {
    /// The policy.
    pub policy: Arc<Policy>,
    /// Where it comes from.
    pub source: PolicySource,
    /// Who changed what last in the project, and whether it is switched on.
    pub state: PolicyState,
    /// Since when it is the server's, where it is and that is on record.
    pub(crate) since: Option<Timestamp>,
    /// Learnt rules that are not heard for whoever it is asked for.
    pub(crate) unheard: Vec<String>,
    /// The floor of the servers, where there is one: no ruling is milder than what it says.
    pub floor: Option<Arc<Policy>>,
}

impl InForce {
    /// The rules of it that match nothing, because somebody decided otherwise.
    #[must_use]
    pub fn suspended(&self) -> Vec<Suspension> {
        let here = |suspension: &&Suspension| self.policy.rules().any(|rule| rule.name == suspension.rule);
        self.state.suspended.iter().filter(|suspension| suspension.lifted.is_none()).filter(here).cloned().collect()
    }

    /// Who changed what is in force last, when and why. A file that changes under a project is a change too; but while the policy is
    /// switched off, this says who did that.
    #[must_use]
    pub fn changed(&self) -> (Actor, Timestamp, Option<String>) {
        let state = &self.state;
        let later = |since: &Timestamp| state.enabled && (state.revision == 0 || *since > state.at);
        match self.since.filter(later) {
            Some(since) => (Actor::system(), since, None),
            None => (state.by.clone(), state.at, state.reason.clone()),
        }
    }
}

/// A ruling that has been given, and under which policy.
#[derive(Clone)]
pub(crate) struct Judged {
    /// What was judged.
    pub(crate) action: Call,
    pub(crate) ruling: Ruling,
    /// Everything that asks, where the ruling is to ask: the policy's part, then the floor's.
    pub(crate) asks: Vec<Asking>,
    /// How the question of all of them is put.
    pub(crate) ask: Ask,
    /// Whom the floor asks, where it does.
    pub(crate) floor_ask: Option<Ask>,
    /// Whether the tool may be run again.
    pub(crate) repeatable: bool,
    /// Every rule saw the whole of the action, and it fits the schema of its tool. Otherwise only a person's look at these very arguments
    /// lets it through.
    pub(crate) certain: bool,
    pub(crate) in_force: InForce,
}

/// On whose behalf an action is judged.
#[derive(Debug, Clone)]
pub struct OnBehalfOf {
    /// The agent's name.
    pub agent: Option<String>,
    /// Who started the session.
    pub user: String,
    /// The role of the key that proposes.
    pub role: Role,
}

impl OnBehalfOf {
    /// An action, as policy sees it.
    pub(crate) fn call<'a>(&'a self, action: &'a Call) -> PolicyInput<'a> {
        PolicyInput {
            tool: &action.tool,
            arguments: &action.arguments,
            agent: self.agent.as_deref(),
            user: &self.user,
            role: self.role,
        }
    }
}

impl Judged {
    /// The rules that ask beside the one that the ruling names.
    pub(crate) fn also_asking(&self) -> Vec<String> {
        let names = self.asks.iter().filter_map(|ask| ask.rule.clone());
        names.filter(|name| self.ruling.rule.as_ref() != Some(name)).collect()
    }

    /// Whether these equal answers are enough for everybody who has to be asked.
    pub(crate) fn is_settled_by(&self, answers: &[&Answer], started_by: &Actor) -> bool {
        self.ask.audiences.iter().all(|audience| audience.settled_by(answers, started_by))
    }

    /// The schema of the tool's arguments, where the policy declares one.
    pub(crate) fn schema(&self) -> Option<Value> {
        self.in_force.policy.schema(&self.action.tool).cloned()
    }
}

impl Engine {
    /// The policy in force in a project: its own, else the server's; and the floor of the servers.
    pub(crate) async fn in_force(&self, scope: Scope) -> Result<InForce, Error> {
        let (mut state, recorded) = self.policy_state_beside(scope).await?;
        for _ in 0..VETTINGS {
            let served = self.policies.server();
            if state.own.is_some() {
                return self.own_in_force(scope, state).await;
            }
            // What this process has and the servers do not is shown, and permits nothing: it must not undo what they have vetted.
            let elsewhere = recorded.as_deref().is_some_and(|version| version != served.policy.version());
            if elsewhere || state.vetted == served.learnt {
                let ServerPolicy { policy, source, since, .. } = served;
                return Ok(InForce {
                    policy,
                    source,
                    state,
                    since,
                    floor: self.policies.floor_here(),
                    unheard: Vec::new(),
                });
            }
            self.vet(scope, served).await?;
            state = self.policy_state(scope).await?;
        }
        // Servers with different files are at it at once.
        Err(StoreError::Busy.into())
    }

    /// The project's own policy.
    async fn own_in_force(&self, scope: Scope, state: PolicyState) -> Result<InForce, Error> {
        let none = || StoreError::Corrupt("the policy in force is not kept".into());
        let version = state.own.clone().ok_or_else(none)?;
        let source = PolicySource::Project;
        if let Some(policy) = self.policies.compiled.get(&version) {
            return Ok(InForce {
                policy,
                source,
                state,
                since: None,
                floor: self.policies.floor_here(),
                unheard: Vec::new(),
            });
        }
        let lookup = version.clone();
        let kept = self.read(Cost::Point, move |reads| Ok(reads.policy_version(&scope, &lookup)?)).await?;
        let text = kept.ok_or_else(none)?.text;
        let policy = off_reactor(move || Policy::load("policy.toml", &text)).await?;
        // It was loaded before it was put in force; another version of this program may read it more strictly.
        let policy = policy.map_err(|_| StoreError::Corrupt("the policy in force cannot be loaded".into()))?;
        let policy = Arc::new(policy);
        self.policies.compiled.insert(version, Arc::clone(&policy));
        Ok(InForce { policy, source, state, since: None, floor: self.policies.floor_here(), unheard: Vec::new() })
    }

    /// What is true of the policy of a project, and the version that the servers put in force last, where that is on record.
    async fn policy_state_beside(&self, scope: Scope) -> Result<(PolicyState, Option<String>), Error> {
        let found = self.read(Cost::Point, move |reads| {
            let mut states = reads.policy_states(&[scope, NOWHERE])?.into_iter();
            let [own, server] = [(); 2].map(|()| states.next().flatten());
            Ok((own.unwrap_or(PolicyState::initial(reads.now()?)), server.and_then(|state| state.own)))
        });
        found.await
    }

    /// What is true of the policy of a project beside its text.
    pub(crate) async fn policy_state(&self, scope: Scope) -> Result<PolicyState, Error> {
        let state = self.read(Cost::Point, move |reads| {
            let state = reads.policy_state(&scope)?;
            Ok(state.unwrap_or(PolicyState::initial(reads.now()?)))
        });
        state.await
    }

    /// Rules on an action by the policy that is known to be in force.
    pub(crate) async fn judge_by(&self, in_force: InForce, behalf: OnBehalfOf, action: Call) -> Result<Judged, Error> {
        let misfit = self.misfit(&in_force.policy, &action).await?;
        let judged = off_reactor(move || {
            let mut silent = in_force.state.silent();
            silent.extend(in_force.unheard.iter().map(String::as_str));
            let judgement = in_force.policy.judge_without(&behalf.call(&action), &silent);
            let repeatable = in_force.policy.repeatable(&action.tool);
            let certain = judgement.certain && misfit.is_none();
            let ruling = switched(held(judgement.ruling, misfit), &in_force.state);
            let floor = in_force.floor.as_ref().map(|floor| floor.judge(&behalf.call(&action)));
            let (floor, below) = floor.map_or((None, Vec::new()), |floor| (Some(floor.ruling), floor.asks));
            let floor_ask = (!below.is_empty()).then(|| Ask::of(&below));
            let asks = asked_by(&ruling, judgement.asks, below);
            let (ruling, ask) = (floored(ruling, floor), Ask::of(&asks));
            Judged { ruling, asks, ask, floor_ask, repeatable, certain, action, in_force }
        });
        let judged = judged.await?;
        counter!("flow_policy_verdicts_total", "verdict" => judged.ruling.verdict.name()).increment(1);
        Ok(judged)
    }

    /// The first thing in which an action does not fit the schema of its tool, where the policy declares one.
    pub(crate) async fn misfit(&self, policy: &Policy, action: &Call) -> Result<Option<String>, Error> {
        let Some(schema) = policy.schema(&action.tool).cloned() else { return Ok(None) };
        let problems = self.misfits(schema, action.arguments.clone(), "").await?;
        Ok(problems.into_iter().next().map(|problem| format!("`{}` {}", problem.pointer, problem.message)))
    }
}

/// A policy that is not in force, and the rules that would be suspended in it.
#[derive(Clone)]
pub(crate) struct DraftPolicy {
    pub(crate) policy: Arc<Policy>,
    pub(crate) suspended: Vec<String>,
    /// The floor of the servers, which stays in force whatever the policy is.
    pub(crate) floor: Option<Arc<Policy>>,
}

/// What a policy that is not in force would say of an action, were it switched on. None once nobody waits for it.
pub(crate) fn drafted(
    (trial, forms): (&DraftPolicy, &Forms),
    behalf: &OnBehalfOf,
    action: &Call,
    wanted: &dyn Fn() -> bool,
) -> Option<Ruling> {
    let DraftPolicy { policy, suspended, floor } = trial;
    let misfit = misfit_of(policy, forms, action);
    let silent: Vec<&str> = suspended.iter().map(String::as_str).collect();
    let ruling = held(policy.judge_while(&behalf.call(action), &silent, wanted)?.ruling, misfit);
    let floor = match floor {
        Some(floor) => Some(floor.judge_while(&behalf.call(action), &[], wanted)?.ruling),
        None => None,
    };
    Some(floored(ruling, floor))
}

/// The first thing in which an action does not fit the schema of its tool, where a policy that is not in force declares one.
pub(crate) fn misfit_of(policy: &Policy, forms: &Forms, action: &Call) -> Option<String> {
    let checked = policy.schema(&action.tool).map_or(Ok(()), |schema| forms.check(schema, &action.arguments));
    checked.err().map(|error| match error {
        CheckError::Schema(error) => error.to_string(),
        CheckError::Fields(fields) => {
            fields.first().map_or_else(String::new, |field| format!("`{}` {}", field.pointer, field.message))
        }
    })
}

/// What does not fit the schema of its tool is not what the policy was written for: it is asked about, where it would have been allowed.
pub(crate) fn held(ruling: Ruling, misfit: Option<String>) -> Ruling {
    match misfit {
        Some(misfit) if ruling.verdict == Verdict::Allow => {
            let reason = format!("It does not fit the schema of its tool: {}.", misfit.trim_end_matches('.'));
            Ruling { verdict: Verdict::Ask, reason, ..ruling }
        }
        _ => ruling,
    }
}

/// With the policy switched off nobody is asked; what it denies stays denied, and what the floor asks is asked.
pub(crate) fn switched(ruling: Ruling, state: &PolicyState) -> Ruling {
    if state.enabled || ruling.verdict != Verdict::Ask || ruling.floor_asks() {
        return ruling;
    }
    let why = state.reason.as_deref().unwrap_or("no reason was given");
    let reason = format!("the policy is switched off by {}: {why}", state.by.name);
    Ruling { verdict: Verdict::Allow, reason, ..ruling }
}

impl Policies {
    /// From now on this process stands beside the servers.
    pub(crate) fn stand_beside(&self) {
        self.beside.store(true, Ordering::Release);
    }

    /// Whether it does.
    pub(crate) fn beside(&self) -> bool {
        self.beside.load(Ordering::Acquire)
    }

    /// Remembers, after a commit, which versions need not be kept again.
    pub(crate) fn remember(&self, kept: Vec<(ProjectId, String)>) {
        kept.into_iter().for_each(|known| self.kept.insert(known, ()));
    }
}
