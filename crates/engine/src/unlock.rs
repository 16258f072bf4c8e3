//! Whether this process has the right master key, and what depends on it for as long as the installation lives.

use std::sync::Arc;

use domain::TenantId;
use uuid::Uuid;

use crate::{Engine, Error};

/// The tenant that the installation's own key belongs to: nobody's.
pub(crate) const INSTALLATION: TenantId = TenantId::from_uuid(Uuid::nil());

impl Engine {
    /// Refuses master keys among which the one in force is not.
    pub async fn unlock(&self) -> Result<(), Error> {
        let newest = self.vault.masters.newest()?.id();
        let in_force = self.transact(move |work| Ok(work.tx.master_held(&newest)?)).await?;
        self.vault.masters.named(&in_force).map(drop)
    }

    /// A keyed digest: what is kept of a body tells nothing about the secrets in it, however short they are.
    ///
    /// Its key is the installation's own, made once and wrapped anew by each rotation: what was digested before is the same
    /// afterwards.
    pub(crate) async fn fingerprint(&self, purpose: &str, text: &str) -> Result<[u8; 32], Error> {
        let text = format!("{purpose}\n{text}");
        let stamped = |key: &[u8; 32]| crate::authenticate::fingerprint(key, text.as_bytes());
        if let Some(key) = self.vault.stamp.read().as_deref() {
            return Ok(stamped(key));
        }
        let vault = Arc::clone(&self.vault);
        let key = self.transact(move |work| vault.sealing_key(work, INSTALLATION)).await?;
        let key = self.vault.unwrapped(&key)?;
        let fingerprint = stamped(&key);
        *self.vault.stamp.write() = Some(key);
        Ok(fingerprint)
    }
}
