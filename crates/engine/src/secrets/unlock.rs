//! Whether this process has the right master key, and what depends on it for as long as the installation lives.

use std::sync::Arc;

use domain::TenantId;
use uuid::Uuid;

use crate::{Engine, Error, Vault};

/// The tenant that the installation's own key belongs to: nobody's.
pub(crate) const INSTALLATION: TenantId = TenantId::from_uuid(Uuid::nil());

impl Engine {
    /// Refuses master keys among which the one in force is not.
    pub async fn unlock(&self) -> Result<(), Error> {
        let newest = self.vault.masters.newest()?.id();
        let in_force = self.transact(move |work| Ok(work.tx.master_key_lock(&newest)?)).await?;
        self.vault.masters.named(&in_force).map(drop)
    }

    /// A keyed digest: what is kept of a body tells nothing about the secrets in it, however short they are.
    ///
    /// Its key is the installation's own, made once and wrapped anew by each rotation: what was digested before is the same
    /// afterwards.
    pub(crate) async fn fingerprint(&self, purpose: &str, text: &str) -> Result<[u8; 32], Error> {
        if let Some(stamped) = self.vault.stamped(purpose, text) {
            return Ok(stamped);
        }
        let vault = Arc::clone(&self.vault);
        let key = self.transact(move |work| vault.sealing_key(work, INSTALLATION)).await?;
        *self.vault.stamp.write() = Some(self.vault.unwrapped(&key)?);
        self.vault.stamped(purpose, text).ok_or(Error::Sealed)
    }
}

impl Vault {
    /// The same where the installation's key has been opened.
    pub(crate) fn stamped(&self, purpose: &str, text: &str) -> Option<[u8; 32]> {
        let stamp = self.stamp.read();
        let key = stamp.as_deref()?;
        Some(crate::access::authenticate::fingerprint(key, format!("{purpose}\n{text}").as_bytes()))
    }
}
