//! Takes the policy and the floor of the servers from the store, for a process that has no policy files of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use store::Cost;

use crate::policy;
use crate::policy::project_policy::parse_policy;
use crate::policy::server_file::NOWHERE;
use crate::{Engine, Error};

impl Engine {
    /// Declares that this process hosts agents beside the servers. Its policy is not recorded as the policy of the servers.
    pub fn work_beside_servers(&self) {
        self.policies.mark_beside_servers();
    }

    /// Makes this process follow the policy that the servers of this database put in force, and takes that policy at once. A process that
    /// judges calls beside the servers must use their policy.
    pub async fn follow_policy_of_servers(&self) -> Result<(), Error> {
        self.policies.follows.store(true, Ordering::Release);
        follow_policy(self).await.map(drop)
    }

    /// Takes the policy and the floor that the servers put in force, except where this process has a file of its own. Returns whether
    /// either changed.
    pub async fn follow_servers(&self) -> Result<bool, Error> {
        let policy = self.policies.follows.load(Ordering::Acquire) && follow_policy(self).await?;
        Ok(policy::floor::follow_servers(self).await? || policy)
    }
}

async fn follow_policy(engine: &Engine) -> Result<bool, Error> {
    let noted = engine.read(Cost::Point, move |reads| {
        let own = reads.policy_state(&NOWHERE)?.and_then(|state| state.own);
        own.map_or(Ok(None), |version| Ok(reads.policy_version(&NOWHERE, &version)?))
    });
    let here = engine.policies.server().policy;
    let Some(noted) = noted.await?.filter(|noted| noted.version != here.version()) else { return Ok(false) };
    let policy = parse_policy("policy.toml", noted.text).await?;
    tracing::info!(version = policy.version(), "policyLoaded");
    engine.policies.replace(Arc::new(policy), noted.source);
    Ok(true)
}
