//! The key that signs a tenant's audit trail: drawn from the installation's own, so that it outlives every rotation.

use std::sync::Arc;

use domain::audit::chain::{PublicKey, Signer};
use domain::{Caller, TenantId};
use zeroize::Zeroizing;

use crate::{Engine, Error};

/// What it is drawn for.
const PURPOSE: &str = "audit_key";

impl Engine {
    /// The public half of the key that signs the audit trail of the caller's tenant.
    pub async fn audit_key(&self, caller: &Caller) -> Result<PublicKey, Error> {
        caller.require(domain::access::Right::Read)?;
        Ok(self.signer(caller.scope.tenant).await?.public_key())
    }

    /// Opens the key of a tenant.
    pub(crate) async fn signer(&self, tenant: TenantId) -> Result<Arc<Signer>, Error> {
        if let Some(signer) = self.signers.lock().get(&tenant) {
            return Ok(Arc::clone(signer));
        }
        let secret = Zeroizing::new(self.fingerprint(PURPOSE, &tenant.to_string()).await?);
        let signer = Arc::new(Signer::from_secret(&secret));
        self.signers.lock().insert(tenant, Arc::clone(&signer));
        Ok(signer)
    }
}
