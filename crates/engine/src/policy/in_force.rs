//! Finds the policy and the floor in force in a project, and checks, in the transaction that permits or starts an action, that the ruling on
//! it was given under the policy and the floor now in force.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::policy::Policy;
use domain::{Actor, PolicySource, PolicyState, PolicyVersion, Scope, Suspension, Timestamp};
use metrics::gauge;
use store::{Cost, StoreError};

use crate::policy;
use crate::policy::floor::FLOOR;
use crate::policy::learn;
use crate::policy::ruling::{Judged, Policies, ServerPolicy};
use crate::policy::server_file::NOWHERE;
use crate::run;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// Number of times that a ruling is repeated, at most, because the policy changed before the transaction.
pub(crate) const MOST_RULINGS: u32 = 5;

/// Number of attempts to compare the server's policy with the decisions of a project, if the policy changes each time.
const VETTINGS: usize = 5;

/// Policy in force in a project, with the floor.
#[derive(Clone)]
pub struct InForce {
    /// Compiled policy, ready to judge calls.
    pub policy: Arc<Policy>,
    /// Origin of the policy: the project, the server's file or the built-in policy.
    pub source: PolicySource,
    /// Policy state of the project: the last change, suspensions, and whether approvals are paused.
    pub state: PolicyState,
    /// Time since which the server's policy is in force, if it is the server's and the time is recorded.
    pub(crate) since: Option<Timestamp>,
    /// Learnt rules that do not apply to the agent for which the policy was requested.
    pub(crate) disabled: Vec<String>,
    /// Floor of the servers, if there is one. No ruling is more lenient than the ruling of the floor.
    pub floor: Option<Arc<Policy>>,
}

impl InForce {
    /// Suspensions of rules that this policy contains.
    #[must_use]
    pub fn suspended(&self) -> Vec<Suspension> {
        let here = |suspension: &&Suspension| self.policy.rules().any(|rule| rule.name == suspension.rule);
        self.state.suspended.iter().filter(|suspension| suspension.lifted.is_none()).filter(here).cloned().collect()
    }

    /// Actor, time and reason of the last change. A new version of the server's file counts as a change by the system. While approvals
    /// are paused, this is the pause.
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

/// Difference between the policy or floor of this process and the version that a server put in force last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyMismatch {
    /// Part that differs: `policy` or `floor`.
    pub part: &'static str,
    /// Version that this process has.
    pub here: Option<String>,
    /// Version that was put in force last.
    pub in_force: Option<String>,
}

impl std::fmt::Display for PolicyMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { part, here, in_force } = self;
        let named = |version: &Option<String>| {
            version.as_deref().map_or("none", |text| text.get(..12).unwrap_or(text)).to_owned()
        };
        write!(
            f,
            "this node has another {part} ({}) than the one in force ({}): it allows and starts no action until both are equal; try again",
            named(here),
            named(in_force)
        )
    }
}

/// Versions that the servers put in force last, as the store records them.
pub(crate) struct RecordedVersions {
    /// Version of the server's policy; `None` if no server has put one in force yet.
    policy: Option<String>,
    /// Version of the floor. The inner `None` says that there is no floor, the outer `None` that no server has recorded anything about
    /// it.
    #[expect(clippy::option_option, reason = "no record and no floor are different facts")]
    floor: Option<Option<String>>,
}

impl RecordedVersions {
    fn of(policy: Option<PolicyState>, floor: Option<PolicyState>) -> Self {
        Self { policy: policy.and_then(|state| state.own), floor: floor.map(|state| state.own) }
    }

    /// Compares the versions of a process with the recorded ones. `policy` is `None` for a project that has its own policy and does not
    /// use the server's.
    fn differs(&self, policy: Option<&str>, floor: Option<&str>) -> Option<PolicyMismatch> {
        if let (Some(here), Some(recorded)) = (policy, &self.policy)
            && here != recorded
        {
            let (here, in_force) = (Some(here.to_owned()), Some(recorded.clone()));
            return Some(PolicyMismatch { part: "policy", here, in_force });
        }
        let recorded = self.floor.as_ref()?;
        if recorded.as_deref() == floor {
            return None;
        }
        Some(PolicyMismatch { part: "floor", here: floor.map(str::to_owned), in_force: recorded.clone() })
    }
}

impl Policies {
    /// Whether this process follows the policy or the floor that the store records.
    fn follows_servers(&self) -> bool {
        self.follows.load(Ordering::Acquire) || self.floor.read().is_followed()
    }
}

impl Engine {
    /// Compares the policy and the floor of this process with the versions that were put in force last. The result is shown as a metric;
    /// the log reports when a difference appears and when it disappears.
    pub async fn compare_policy_with_store(&self) -> Result<Option<PolicyMismatch>, Error> {
        let read = self.read(Cost::Point, |reads| {
            Ok(RecordedVersions::of(reads.policy_state(&NOWHERE)?, reads.policy_state(&FLOOR)?))
        });
        let recorded = read.await?;
        let (served, floor) = (self.policies.server(), self.policies.floor_here());
        let version = floor.as_ref().map(|floor| floor.version());
        let differs = recorded.differs(Some(served.policy.version()), version);
        let before = std::mem::replace(&mut *self.policies.differs.lock(), differs.clone());
        gauge!("flow_policy_differs").set(if differs.is_some() { 1.0 } else { 0.0 });
        match &differs {
            Some(differs) if before.as_ref() != Some(differs) => tracing::error!(%differs, "policyDiffers"),
            None if before.is_some() => {
                tracing::info!(version = served.policy.version(), floor = version, "policyAgrees");
            }
            _ => {}
        }
        Ok(differs)
    }
}

/// Returns the policy in force in a project, its own or else the server's, with the floor.
pub(crate) async fn load(engine: &Engine, scope: Scope) -> Result<InForce, Error> {
    let (mut state, recorded) = read_state_and_served(engine, scope).await?;
    for _ in 0..VETTINGS {
        if let Some(version) = &state.own {
            let (policy, source) = (load_own(engine, scope, version.clone()).await?, PolicySource::Project);
            let floor = engine.policies.floor_here();
            return Ok(InForce { policy, source, state, since: None, disabled: Vec::new(), floor });
        }
        let served = engine.policies.server();
        // A server policy that differs from the recorded version is shown but permits nothing. It must not replace the comparison
        // that the servers have made with their version.
        let elsewhere = recorded.as_deref().is_some_and(|version| version != served.policy.version());
        if elsewhere || state.vetted == served.learnt {
            let ServerPolicy { policy, source, since, .. } = served;
            let floor = engine.policies.floor_here();
            return Ok(InForce { policy, source, state, since, disabled: Vec::new(), floor });
        }
        learn::suspend::compare_with_decisions(engine, scope, served).await?;
        state = read_state(engine, scope).await?;
    }
    // Servers with different policy files keep replacing each other's comparison.
    Err(StoreError::Busy.into())
}

/// Loads the policy of a project by its version.
async fn load_own(engine: &Engine, scope: Scope, version: String) -> Result<Arc<Policy>, Error> {
    if let Some(policy) = engine.policies.compiled.get(&version) {
        return Ok(policy);
    }
    let lookup = version.clone();
    let kept = engine.read(Cost::Point, move |reads| Ok(reads.policy_version(&scope, &lookup)?)).await?;
    let text = kept.ok_or_else(|| StoreError::Corrupt("the policy in force is not kept".into()))?.text;
    let policy = run::heavy_work::off_reactor(move || Policy::load_stored("policy.toml", &text)).await?;
    // The policy was valid when it was put in force. Rules that this version of the program refuses allow nothing; another error is unexpected.
    let policy = policy.map_err(|_| StoreError::Corrupt("the policy in force cannot be loaded".into()))?;
    let policy = Arc::new(policy);
    engine.policies.compiled.insert(version, Arc::clone(&policy));
    Ok(policy)
}

/// Reads the policy state of a project, and the version that the servers put in force last, if that is recorded.
async fn read_state_and_served(engine: &Engine, scope: Scope) -> Result<(PolicyState, Option<String>), Error> {
    let found = engine.read(Cost::Point, move |reads| {
        let mut states = reads.policy_states(&[scope, NOWHERE])?.into_iter();
        let [own, server] = [(); 2].map(|()| states.next().flatten());
        Ok((own.unwrap_or(PolicyState::initial(reads.now()?)), server.and_then(|state| state.own)))
    });
    found.await
}

/// Reads the policy state of a project.
pub(crate) async fn read_state(engine: &Engine, scope: Scope) -> Result<PolicyState, Error> {
    let state = engine.read(Cost::Point, move |reads| {
        let state = reads.policy_state(&scope)?;
        Ok(state.unwrap_or(PolicyState::initial(reads.now()?)))
    });
    state.await
}

/// Runs `attempt`, which judges and writes, again if the policy or the subject changed between the ruling and the transaction.
pub(crate) async fn with_current_ruling<T, F>(engine: &Engine, mut attempt: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut repeated = 0;
    loop {
        // The future of an attempt is large, so it is not kept in that of the caller.
        match Box::pin(attempt()).await {
            Err(error) if repeated < MOST_RULINGS && may_judge_again(engine, &error).await => repeated += 1,
            other => return other,
        }
    }
}

/// Whether a failed ruling should be repeated, because the policy changed meanwhile or because this process has just taken the policy
/// of the servers.
pub(crate) async fn may_judge_again(engine: &Engine, error: &Error) -> bool {
    if matches!(error, Error::PolicyDiffers(_)) {
        return engine.policies.follows_servers() && engine.follow_servers().await.is_ok_and(|taken| taken);
    }
    matches!(error, Error::Store(StoreError::Conflict))
}

/// Refuses a ruling that was given under a policy or floor that is no longer in force. Stores the text of the policy in force if the
/// project does not have it yet.
pub(crate) fn require_in_force(
    work: &mut Work<'_>,
    scope: &Scope,
    judged: &Judged,
    policies: &Policies,
) -> Result<(), Error> {
    require_current(work, scope, &judged.in_force, policies)?;
    let InForce { policy, source, .. } = &judged.in_force;
    let known = (scope.project, policy.version().to_owned());
    if policies.kept.contains_key(&known) {
        return Ok(());
    }
    if work.tx.policy_version(scope, policy.version())?.is_none() {
        let before = policy::read_newest_version(work, scope)?;
        let version = PolicyVersion {
            version: policy.version().to_owned(),
            text: policy.text().to_owned(),
            source: *source,
            by: Actor::system(),
            at: work.now,
            before,
        };
        policy::record_first_use(work, scope, &version)?;
    }
    work.effects.policies_kept.push(known);
    Ok(())
}

/// Checks that a policy and a floor are still in force: against the project's policy state, against the files that this process has read
/// since, and against the versions that the servers put in force.
fn require_current(work: &mut Work<'_>, scope: &Scope, in_force: &InForce, policies: &Policies) -> Result<(), Error> {
    let mut states = work.tx.policy_states(&[*scope, NOWHERE, FLOOR])?.into_iter();
    let [own, policy, on_record] = [(); 3].map(|()| states.next().flatten());
    let now = own.map_or(0, |state| state.revision);
    let served = (in_force.source != PolicySource::Project).then(|| in_force.policy.version());
    let floor = in_force.floor.as_ref().map(|floor| floor.version());
    let replaced = served.is_some_and(|version| policies.server().policy.version() != version);
    let refloored = policies.floor_here().as_ref().map(|floor| floor.version()) != floor;
    if now != in_force.state.revision || replaced || refloored {
        return Err(StoreError::Conflict.into());
    }
    match RecordedVersions::of(policy, on_record).differs(served, floor) {
        Some(differs) => Err(Error::PolicyDiffers(differs)),
        None => Ok(()),
    }
}
