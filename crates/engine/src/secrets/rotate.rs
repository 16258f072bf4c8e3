//! Replaces the master key in force and the data keys while all nodes keep running.
//!
//! Each step is a transaction of its own and leaves all values readable. A rotation that was interrupted is therefore finished by running it again:
//!
//! 1. The newest master key is put in force. From here on no data key is wrapped with an older one.
//! 2. For each tenant, the data keys are wrapped with it and a new data key is created, which seals from then on; the audit trail records it.
//! 3. When every transaction that could still use an older data key has ended, the values under those keys are sealed again, a few at a
//!    time, and the keys are deleted.

use std::sync::Arc;
use std::time::Duration;

use domain::audit::kind::SecretsRotated;
use domain::{AuditDraft, AuditKind, EntryPoint, Refusal, Scope, TenantId};
use store::{Cost, DataKey, Sealed, StoreError};

use crate::run::transaction::{Originator, Work};
use crate::secrets::master::MasterKey;
use crate::secrets::unlock::INSTALLATION;
use crate::secrets::vault::SealContext;
use crate::{Engine, Error, Vault};

/// Number of values or keys in one batch. It is small, so that a transaction holds its locks only briefly.
const BATCH: u32 = 50;
/// First pause between two checks whether older transactions have ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Maximum pause between two checks.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Result of a rotation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RotationReport {
    /// Number of tenants that got a new data key.
    pub tenants: u64,
    /// Number of values that were sealed again.
    pub values: u64,
    /// Number of data keys that were deleted.
    pub forgotten: u64,
}

impl Engine {
    /// Seals everything under the newest master key, so that the older keys can be deleted.
    pub async fn rotate_master_key(&self) -> Result<RotationReport, Error> {
        let master = self.vault.masters.newest_now()?;
        put_in_force(self, &master).await?;
        let mut rotated = RotationReport::default();
        loop {
            let id = master.id();
            let left =
                self.read(Cost::Scan, move |reads| Ok(reads.tenants_under_other_master_keys(&id, BATCH)?)).await?;
            if left.is_empty() {
                break;
            }
            for tenant in left {
                let (vault, master) = (Arc::clone(&self.vault), master.clone());
                let originator = Originator::system(EntryPoint::Cli);
                self.transact_as(originator, move |work| renew_data_key(&vault, work, tenant, &master)).await?;
                rotated.tenants += u64::from(tenant != INSTALLATION);
            }
        }
        loop {
            let outdated = self.read(Cost::Scan, |reads| Ok(reads.data_keys_outdated(BATCH)?)).await?;
            if outdated.is_empty() {
                return Ok(rotated);
            }
            wait_for_older_transactions(self).await?;
            for key in outdated {
                rotated.values += seal_again(self, &key).await?;
                let forgotten = self.transact(move |work| Ok(work.tx.data_key_delete(key.id)?)).await?;
                rotated.forgotten += u64::from(forgotten);
            }
        }
    }
}

/// Waits until every transaction that is writing at this moment has ended. After that, nothing is sealed under a data key that was replaced
/// before, and every earlier audit entry can get its position.
pub(crate) async fn wait_for_older_transactions(engine: &Engine) -> Result<(), Error> {
    let fence = engine.transact(|work| Ok(work.tx.fence()?)).await?;
    let mut pause = LOOK_AGAIN;
    while !engine.read(Cost::Point, move |reads| Ok(reads.is_fence_passed(fence)?)).await? {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(())
}

async fn put_in_force(engine: &Engine, master: &MasterKey) -> Result<(), Error> {
    let (vault, id) = (Arc::clone(&engine.vault), master.id());
    engine
        .transact(move |work| {
            let in_force = work.tx.master_key_lock(&id)?;
            vault.masters.named(&in_force)?;
            if in_force == id { Ok(()) } else { Ok(work.tx.master_key_change(&in_force, &id)?) }
        })
        .await
}

/// Seals all values under a data key again, and returns their number.
async fn seal_again(engine: &Engine, key: &DataKey) -> Result<u64, Error> {
    let mut values = 0;
    loop {
        let (vault, key) = (Arc::clone(&engine.vault), key.clone());
        let done = engine.transact(move |work| seal_values_again(&vault, work, &key)).await?;
        values += done;
        if done == 0 {
            return Ok(values);
        }
    }
}

/// Wraps all data keys of a tenant with a master key, creates a new data key and records that in the audit trail, in one transaction.
fn renew_data_key(vault: &Vault, work: &mut Work<'_>, tenant: TenantId, master: &MasterKey) -> Result<(), Error> {
    let (keys, wanted) = (work.tx.data_keys(tenant)?, master.id());
    if keys.iter().all(|key| key.master == wanted) {
        // Another rotation has already done this tenant.
        return Ok(());
    }
    for key in keys.iter().filter(|key| key.master != wanted) {
        work.tx.data_key_rewrap(&key.master, &vault.rewrapped(key, master, work.ids)?)?;
    }
    // The installation keeps its key, because its digests must stay comparable for ever.
    if tenant == INSTALLATION {
        return Ok(());
    }
    let number = keys.first().map_or(1, |newest| newest.number + 1);
    let fresh = vault.create_data_key(work, tenant, number)?;
    if !work.tx.data_key_insert(&fresh)? {
        return Err(StoreError::Conflict.into());
    }
    let project = work.tx.first_project(tenant)?.ok_or(Refusal::NotFound("project"))?;
    let rotated = SecretsRotated { master_key: wanted, data_key: fresh.id, number };
    work.append_audit(&Scope { tenant, project }, &AuditDraft::plain(AuditKind::SecretsRotated(rotated)))
}

/// Seals a batch of values of a data key again under the newest key of their tenant.
fn seal_values_again(vault: &Vault, work: &mut Work<'_>, old: &DataKey) -> Result<u64, Error> {
    let mut done = 0;
    for mut at in work.tx.sealed_values_under(old.id, BATCH)? {
        let (scope, name) = (at.scope, at.name.clone());
        let context = SealContext::Question(&scope, at.interaction, &name);
        let value = vault.unseal(&context, &Sealed { key: old.clone(), body: std::mem::take(&mut at.body) })?;
        let Sealed { key, body } = vault.seal(work, &context, &value)?;
        at.body = body;
        work.tx.sealed_value_reseal(old.id, &at, key.id)?;
        done += 1;
    }
    for mut kept in work.tx.kept_secrets_under(old.id, BATCH)? {
        let context = SealContext::Kept(&kept.secret);
        let value = vault.unseal(&context, &kept.sealed)?;
        kept.sealed = vault.seal(work, &context, &value)?;
        work.tx.kept_secret_reseal(old.id, &kept)?;
        done += 1;
    }
    for mut secret in work.tx.webhook_secrets_under(old.id, BATCH)? {
        let context = SealContext::Webhook(&secret.scope, secret.webhook, secret.number);
        let value = vault.unseal(&context, &secret.sealed)?;
        secret.sealed = vault.seal(work, &context, &value)?;
        work.tx.webhook_secret_reseal(old.id, &secret)?;
        done += 1;
    }
    for mut secret in work.tx.idempotency_secrets_under(old.id, BATCH)? {
        let context = SealContext::Idempotency(&secret.scope, &secret.actor, &secret.key);
        let value = vault.unseal(&context, &secret.sealed)?;
        secret.sealed = vault.seal(work, &context, &value)?;
        work.tx.idempotency_secret_reseal(old.id, &secret)?;
        done += 1;
    }
    Ok(done)
}
