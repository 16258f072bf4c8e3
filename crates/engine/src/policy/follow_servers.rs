//! The policy and the floor of the servers, for a process that was given none of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use store::Cost;

use crate::policy::project_policy::loaded;
use crate::policy::server_file::NOWHERE;
use crate::{Engine, Error};

impl Engine {
    /// Says that this process drives agents beside the servers: what policy it has is its own, and not noted as theirs.
    pub fn beside_servers(&self) {
        self.policies.stand_beside();
    }

    /// From now on this process takes the policy that the servers of this database have put in force, and takes it at once. Whoever judges beside
    /// them must not judge by another one.
    pub async fn policy_of_servers(&self) -> Result<(), Error> {
        self.policies.follows.store(true, Ordering::Release);
        self.policy_followed().await.map(drop)
    }

    /// Takes what the servers have put in force, as far as this process has no files of its own for it. Says whether it took anything.
    pub async fn follow_servers(&self) -> Result<bool, Error> {
        let policy = self.policies.follows.load(Ordering::Acquire) && self.policy_followed().await?;
        Ok(self.floor_of_servers().await? || policy)
    }

    async fn policy_followed(&self) -> Result<bool, Error> {
        let noted = self.read(Cost::Point, move |reads| {
            let own = reads.policy_state(&NOWHERE)?.and_then(|state| state.own);
            own.map_or(Ok(None), |version| Ok(reads.policy_version(&NOWHERE, &version)?))
        });
        let here = self.policies.server().policy;
        let Some(noted) = noted.await?.filter(|noted| noted.version != here.version()) else { return Ok(false) };
        let policy = loaded("policy.toml", noted.text).await?;
        tracing::info!(version = policy.version(), "policyLoaded");
        self.policies.replace(Arc::new(policy), noted.source);
        Ok(true)
    }
}
