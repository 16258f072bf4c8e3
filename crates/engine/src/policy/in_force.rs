//! Checks, in the transaction that permits or starts an action, that the ruling on it was given under the policy and the floor now in
//! force.

use std::sync::atomic::Ordering;

use domain::{Actor, PolicySource, PolicyState, PolicyVersion, Scope};
use metrics::gauge;
use store::{Cost, StoreError};

use crate::policy;
use crate::policy::floor::FLOOR;
use crate::policy::ruling::{InForce, Judged, Policies};
use crate::policy::server_file::NOWHERE;
use crate::run::transaction::Work;
use crate::{Engine, Error};

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
            "this node has another {part} ({}) than the one that was put in force last ({}): it permits and starts nothing until both are the same; try again",
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
        self.follows.load(Ordering::Acquire) || self.floor.read().followed()
    }
}

impl Engine {
    /// Whether a failed ruling should be repeated, because the policy changed meanwhile or because this process has just taken the policy
    /// of the servers.
    pub(crate) async fn rules_again(&self, error: &Error) -> bool {
        if matches!(error, Error::PolicyDiffers(_)) {
            return self.policies.follows_servers() && self.follow_servers().await.is_ok_and(|taken| taken);
        }
        matches!(error, Error::Store(StoreError::Conflict))
    }

    /// Compares the policy and the floor of this process with the versions that were put in force last. The result is shown as a metric;
    /// the log reports when a difference appears and when it disappears.
    pub async fn policy_differs(&self) -> Result<Option<PolicyMismatch>, Error> {
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
        let before = policy::newest_version(work, scope)?;
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
