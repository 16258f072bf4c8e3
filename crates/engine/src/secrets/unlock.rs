//! Checks that this process has the master key in force, and computes keyed digests with the installation's own key.

use std::sync::Arc;

use domain::TenantId;
use uuid::Uuid;

use crate::{Engine, Error, Vault};

/// Nil tenant that the installation's own key belongs to.
pub(crate) const INSTALLATION: TenantId = TenantId::from_uuid(Uuid::nil());

impl Engine {
    /// Fails if the master key in force is not among the keys of this process.
    pub async fn check_master_key(&self) -> Result<(), Error> {
        let newest = self.vault.masters.newest()?.id();
        let in_force = self.transact(move |work| Ok(work.tx.master_key_lock(&newest)?)).await?;
        self.vault.masters.named(&in_force).map(drop)
    }
}

/// Computes a keyed digest of a text. The key keeps short secrets in the text from being guessed from the stored digest.
///
/// The key belongs to the installation, is created once, and each rotation only wraps it again. Digests therefore stay comparable after a
/// rotation.
pub(crate) async fn fingerprint(engine: &Engine, purpose: &str, text: &str) -> Result<[u8; 32], Error> {
    if let Some(stamped) = engine.vault.stamped(purpose, text) {
        return Ok(stamped);
    }
    let vault = Arc::clone(&engine.vault);
    let key = engine.transact(move |work| vault.find_sealing_key(work, INSTALLATION)).await?;
    *engine.vault.stamp.write() = Some(engine.vault.unwrapped(&key)?);
    engine.vault.stamped(purpose, text).ok_or(Error::Sealed)
}

impl Vault {
    /// Computes the digest if the installation's key is already unwrapped in memory.
    pub(crate) fn stamped(&self, purpose: &str, text: &str) -> Option<[u8; 32]> {
        let stamp = self.stamp.read();
        let key = stamp.as_deref()?;
        Some(crate::access::authenticate::fingerprint(key, format!("{purpose}\n{text}").as_bytes()))
    }
}
