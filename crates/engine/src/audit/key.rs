//! Derives the key that signs a tenant's audit trail from the key of the installation. The derived key survives every key rotation and is
//! stored nowhere.

use domain::access::Right;
use domain::audit::chain::{PublicKey, Signer};
use domain::{Caller, TenantId};
use zeroize::Zeroizing;

use crate::secrets;
use crate::{Engine, Error};

/// Purpose under which the signing key is derived.
const PURPOSE: &str = "audit_key";

impl Engine {
    /// Public key that verifies the audit trail of the caller's tenant.
    pub async fn audit_key(&self, caller: &Caller) -> Result<PublicKey, Error> {
        caller.require(Right::Read)?;
        Ok(signer(self, caller.scope.tenant).await?.public_key())
    }
}

/// Returns the signer of a tenant. Its secret is a keyed digest of the tenant's id, which nobody can compute from the database alone.
pub(crate) async fn signer(engine: &Engine, tenant: TenantId) -> Result<Signer, Error> {
    let secret = Zeroizing::new(secrets::unlock::fingerprint(engine, PURPOSE, &tenant.to_string()).await?);
    Ok(Signer::from_secret(&secret))
}
