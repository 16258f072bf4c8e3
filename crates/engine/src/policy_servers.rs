//! The policy of the servers, for a process beside them that was given none of its own.

use std::sync::Arc;

use store::Cost;

use crate::policy_admin::loaded;
use crate::policy_file::NOWHERE;
use crate::{Engine, Error};

impl Engine {
    /// Says that this process drives agents beside the servers: what policy it has is its own, and not noted as theirs.
    pub fn beside_servers(&self) {
        self.policies.stand_beside();
    }

    /// Takes the policy that the servers of this database have said to have, unless it is in force here. Whoever judges beside them must not judge
    /// by another one.
    pub async fn policy_of_servers(&self) -> Result<(), Error> {
        let noted = self.read(Cost::Point, move |reads| {
            let own = reads.policy_state(&NOWHERE)?.and_then(|state| state.own);
            own.map_or(Ok(None), |version| Ok(reads.policy_version(&NOWHERE, &version)?))
        });
        let here = self.policies.server().policy;
        if let Some(noted) = noted.await?.filter(|noted| noted.version != here.version()) {
            let policy = loaded("policy.toml", noted.text).await?;
            tracing::info!(version = policy.version(), "policyLoaded");
            self.policies.replace(Arc::new(policy), noted.source);
        }
        Ok(())
    }
}
