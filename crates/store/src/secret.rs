//! Keys that values are sealed with, and secret values that are kept for later. Everything here is sealed or says nothing.

use domain::{DataKeyId, InteractionId, KeptSecret, Scope, SecretId, TenantId, Timestamp};

use crate::{Page, StoreResult};

/// A data key as it is kept: wrapped with a master key, which it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataKey {
    /// What sealed values name it by.
    pub id: DataKeyId,
    /// Whose values it seals.
    pub tenant: TenantId,
    /// Its place among the tenant's keys, from 1. The highest seals, the others only open.
    pub number: u32,
    /// The master key that it is wrapped with.
    pub master: String,
    /// The key itself, wrapped, in base64.
    pub wrapped: String,
}

/// A sealed value, with the key that opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The key.
    pub key: DataKey,
    /// The value, sealed.
    pub body: Vec<u8>,
}

/// A value sealed with a question, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedValue {
    /// Whose.
    pub scope: Scope,
    /// Of which question.
    pub interaction: InteractionId,
    /// Under which name.
    pub name: String,
    /// The value, sealed.
    pub body: Vec<u8>,
}

/// A kept secret with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSecretValue {
    /// What is known of it.
    pub secret: KeptSecret,
    /// Its value.
    pub sealed: Sealed,
}

/// What can be read of them.
pub trait SecretReads {
    /// Every key of a tenant, the newest first.
    fn data_keys(&mut self, tenant: TenantId) -> StoreResult<Vec<DataKey>>;
    /// Tenants that have a key wrapped with another master key than this.
    fn tenants_under_other_master_keys(&mut self, master: &str, limit: u32) -> StoreResult<Vec<TenantId>>;
    /// Draws a line: whoever may still act on what was true until now lies before it.
    fn fence(&mut self) -> StoreResult<u64>;
    /// Whether no transaction that lies before the line is under way any more.
    fn is_fence_passed(&mut self, fence: u64) -> StoreResult<bool>;
    /// Keys that are no longer the newest of their tenant.
    fn data_keys_outdated(&mut self, limit: u32) -> StoreResult<Vec<DataKey>>;
    /// Values of questions that are sealed under a key.
    fn sealed_values_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<SealedValue>>;
    /// Kept values that are sealed under a key.
    fn kept_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<KeptSecretValue>>;
    /// Everything that is kept for an agent.
    fn kept_secrets_for(&mut self, scope: &Scope, agent: &str) -> StoreResult<Vec<KeptSecretValue>>;
    /// What is kept in a project, the newest first.
    fn kept_secrets(&mut self, scope: &Scope, page: Page<SecretId>) -> StoreResult<Vec<KeptSecret>>;
}

/// What can be written of them.
pub trait SecretWrites {
    /// The master key in force, this one where there is none; nobody changes it before the transaction ends.
    fn master_key_lock(&mut self, fresh: &str) -> StoreResult<String>;
    /// Puts another master key in force.
    fn master_key_change(&mut self, from: &str, to: &str) -> StoreResult<()>;
    /// The newest key of a tenant. A transaction that has read it lies before every [`SecretReads::fence`] drawn after a newer
    /// one was kept.
    fn data_key_newest(&mut self, tenant: TenantId) -> StoreResult<Option<DataKey>>;
    /// Keeps a new key; false where the tenant has one of this number.
    fn data_key_insert(&mut self, key: &DataKey) -> StoreResult<bool>;
    /// Writes over a key that was wrapped with another master key.
    fn data_key_rewrap(&mut self, from: &str, key: &DataKey) -> StoreResult<()>;
    /// Forgets a key that nothing is sealed under; false where something is. Only for a key that was replaced before a fence
    /// that has been passed: nobody seals under it any more.
    fn data_key_delete(&mut self, key: DataKeyId) -> StoreResult<bool>;
    /// Writes over a value of a question that was sealed under another key, unless it has gone.
    fn sealed_value_reseal(&mut self, from: DataKeyId, at: &SealedValue, to: DataKeyId) -> StoreResult<()>;
    /// Writes over a kept value that was sealed under another key, unless it has gone.
    fn kept_secret_reseal(&mut self, from: DataKeyId, kept: &KeptSecretValue) -> StoreResult<()>;
    /// Keeps a value, in place of the one of the same agent and name.
    fn kept_secret_save(&mut self, kept: &KeptSecretValue) -> StoreResult<()>;
    /// Notes that a kept value answers a question; false where it has gone.
    fn kept_secret_mark_used(&mut self, scope: &Scope, id: SecretId, at: Timestamp) -> StoreResult<bool>;
    /// Forgets a kept value; false where there is none.
    fn kept_secret_delete(&mut self, scope: &Scope, id: SecretId) -> StoreResult<bool>;
}
