//! Makes sure, in the transaction that permits or starts something, that it was ruled on by the policy and the floor that are in force now.

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

/// This process has another policy, or another floor, than the one that a server put in force last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyMismatch {
    /// `policy` or `floor`.
    pub part: &'static str,
    /// The version that this process has.
    pub here: Option<String>,
    /// The version that was put in force last.
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

/// What the servers put in force last, as the store has it.
pub(crate) struct RecordedVersions {
    /// The version of the server's policy, where any was ever put in force.
    policy: Option<String>,
    /// The version of the floor, or none; nothing where no server has ever said.
    floor: Option<Option<String>>,
}

impl RecordedVersions {
    fn of(policy: Option<PolicyState>, floor: Option<PolicyState>) -> Self {
        Self { policy: policy.and_then(|state| state.own), floor: floor.map(|state| state.own) }
    }

    /// How what a process has differs from it. A project with a policy of its own does not go by the server's.
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
    /// Whether this process takes its policy or its floor out of the store.
    fn follows_servers(&self) -> bool {
        self.follows.load(Ordering::Acquire) || self.floor.read().followed()
    }
}

impl Engine {
    /// Whether a ruling that came to nothing is given again: the policy moved on in the meantime, or this process has just taken the one that the
    /// servers have put in force.
    pub(crate) async fn rules_again(&self, error: &Error) -> bool {
        match error {
            Error::Store(StoreError::Conflict) => true,
            Error::PolicyDiffers(_) => {
                self.policies.follows_servers() && self.follow_servers().await.is_ok_and(|taken| taken)
            }
            _ => false,
        }
    }

    /// How the policy or the floor of this process differs from the one that was put in force last. Told in the figures, and in the log when it
    /// begins and when it ends.
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
                tracing::info!(version = served.policy.version(), floor = version, "policyAgrees")
            }
            _ => {}
        }
        Ok(differs)
    }
}

/// Refuses a ruling that was given under a policy or a floor which is no longer the one in force, and keeps the text of the policy that is.
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

/// Whether a policy and a floor are those in force: by what the project has decided, by what this process has read since, and by what any
/// server has put in force.
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
