//! The key that signs a tenant's audit trail: drawn from the installation's own, so that it outlives every rotation and is kept
//! nowhere.

use domain::access::Right;
use domain::audit::chain::{PublicKey, Signer};
use domain::{Caller, TenantId};
use zeroize::Zeroizing;

use crate::{Engine, Error};

/// What it is drawn for.
const PURPOSE: &str = "audit_key";

impl Engine {
    /// The public half of the key that signs the audit trail of the caller's tenant.
    pub async fn audit_key(&self, caller: &Caller) -> Result<PublicKey, Error> {
        caller.require(Right::Read)?;
        Ok(self.signer(caller.scope.tenant).await?.public_key())
    }

    /// What signs for a tenant: a keyed digest of its id, which whoever has the database alone cannot make.
    pub(crate) async fn signer(&self, tenant: TenantId) -> Result<Signer, Error> {
        let secret = Zeroizing::new(self.fingerprint(PURPOSE, &tenant.to_string()).await?);
        Ok(Signer::from_secret(&secret))
    }
}
