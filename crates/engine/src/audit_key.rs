//! The key that signs a tenant's audit trail: made when it is first needed, kept sealed under the tenant's data key.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::audit::chain::{PublicKey, Signer};
use domain::{Caller, InteractionId, ProjectId, Scope, TenantId};
use store::Cost;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::{Engine, Error};

/// Under which name the secret half is sealed.
const NAME: &str = "audit_key";

impl Engine {
    /// The public half of the key that signs the audit trail of the caller's tenant.
    pub async fn audit_key(&self, caller: &Caller) -> Result<PublicKey, Error> {
        caller.require(domain::access::Right::Read)?;
        Ok(self.signer(caller.scope.tenant).await?.public_key())
    }

    /// Opens the key of a tenant, making one where there is none.
    pub(crate) async fn signer(&self, tenant: TenantId) -> Result<Arc<Signer>, Error> {
        if let Some(signer) = self.signers.lock().get(&tenant) {
            return Ok(Arc::clone(signer));
        }
        self.open_vault(tenant).await?;
        let (scope, id) = bound_to(tenant);
        let name = format!("{NAME}:{tenant}");
        let lookup = name.clone();
        let kept = match self.read(Cost::Point, move |reads| Ok(reads.setting(&lookup)?)).await? {
            Some(kept) => kept,
            None => {
                let fresh = Zeroizing::new(self.ids.random::<32>());
                let sealed = self.vault.seal(&scope, id, NAME, fresh.as_slice(), &self.ids)?;
                let text = BASE64_STANDARD.encode(sealed);
                self.transact(move |work| Ok(work.tx.setting_ensure(&name, &text)?)).await?
            }
        };
        let sealed = BASE64_STANDARD.decode(kept).map_err(|_| Error::Sealed)?;
        let secret = self.vault.unseal(&scope, id, NAME, &sealed)?;
        let secret: &[u8; 32] = secret.as_slice().try_into().map_err(|_| Error::Sealed)?;
        let signer = Arc::new(Signer::from_secret(secret));
        self.signers.lock().insert(tenant, Arc::clone(&signer));
        Ok(signer)
    }
}

/// It belongs to the tenant as a whole: to no project and no question.
const fn bound_to(tenant: TenantId) -> (Scope, InteractionId) {
    (Scope { tenant, project: ProjectId::from_uuid(Uuid::nil()) }, InteractionId::from_uuid(Uuid::nil()))
}
