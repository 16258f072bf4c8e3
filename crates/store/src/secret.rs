//! Data keys, and the secrets that people keep for later sessions. All values in this module are sealed.

use domain::{DataKeyId, InteractionId, KeptSecret, Scope, SecretId, TenantId, Timestamp};

use crate::{Page, StoreResult};

/// A data key, wrapped with a master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataKey {
    /// Identifier of the key, which sealed values refer to.
    pub id: DataKeyId,
    /// Tenant whose values the key seals.
    pub tenant: TenantId,
    /// Number of the key among the keys of the tenant, from 1. The highest number seals; the others only open.
    pub number: u32,
    /// Name of the master key that wraps this key.
    pub master: String,
    /// Wrapped key in base64.
    pub wrapped: String,
}

/// A sealed value with the data key that opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Data key that opens the value.
    pub key: DataKey,
    /// Sealed bytes of the value.
    pub body: Vec<u8>,
}

/// A value that is sealed with a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedValue {
    /// Project of the question.
    pub scope: Scope,
    /// Identifier of the question.
    pub interaction: InteractionId,
    /// Name of the value.
    pub name: String,
    /// Sealed bytes of the value.
    pub body: Vec<u8>,
}

/// A kept secret with its sealed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSecretValue {
    /// Metadata of the secret.
    pub secret: KeptSecret,
    /// Sealed value of the secret.
    pub sealed: Sealed,
}

/// Reads of data keys, sealed values and kept secrets.
pub trait SecretReads {
    /// Returns all data keys of a tenant, newest first.
    fn data_keys(&mut self, tenant: TenantId) -> StoreResult<Vec<DataKey>>;
    /// Returns tenants that have a data key wrapped with a master key other than this.
    fn tenants_under_other_master_keys(&mut self, master: &str, limit: u32) -> StoreResult<Vec<TenantId>>;
    /// Returns a fence, a point in the order of transactions. Every transaction that may still act on the state before this call lies before
    /// the fence.
    fn fence(&mut self) -> StoreResult<u64>;
    /// Returns whether all transactions before the fence have ended.
    fn is_fence_passed(&mut self, fence: u64) -> StoreResult<bool>;
    /// Returns data keys that are not the newest of their tenant.
    fn data_keys_outdated(&mut self, limit: u32) -> StoreResult<Vec<DataKey>>;
    /// Returns values of questions that are sealed under a data key.
    fn sealed_values_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<SealedValue>>;
    /// Returns kept secrets that are sealed under a data key.
    fn kept_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<KeptSecretValue>>;
    /// Returns all secrets that are kept for an agent.
    fn kept_secrets_for(&mut self, scope: &Scope, agent: &str) -> StoreResult<Vec<KeptSecretValue>>;
    /// Lists the kept secrets of a project, newest first.
    fn kept_secrets(&mut self, scope: &Scope, page: Page<SecretId>) -> StoreResult<Vec<KeptSecret>>;
}

/// Writes of data keys, sealed values and kept secrets.
pub trait SecretWrites {
    /// Returns the name of the master key in force, and sets it to `fresh` if there is none. The name cannot change before the transaction ends.
    fn master_key_lock(&mut self, fresh: &str) -> StoreResult<String>;
    /// Puts the master key `to` in force in place of `from`.
    fn master_key_change(&mut self, from: &str, to: &str) -> StoreResult<()>;
    /// Returns the newest data key of a tenant. A transaction that has read it lies before every [`SecretReads::fence`] that is taken after
    /// a newer key was inserted.
    fn data_key_newest(&mut self, tenant: TenantId) -> StoreResult<Option<DataKey>>;
    /// Inserts a data key; `false` if the tenant has one with this number.
    fn data_key_insert(&mut self, key: &DataKey) -> StoreResult<bool>;
    /// Replaces a data key that is wrapped with the master key `from`.
    fn data_key_rewrap(&mut self, from: &str, key: &DataKey) -> StoreResult<()>;
    /// Deletes a data key; `false` if a value is still sealed under it. The key must have been replaced before a fence that is passed, so
    /// that no transaction can still seal under it.
    fn data_key_delete(&mut self, key: DataKeyId) -> StoreResult<bool>;
    /// Replaces a value of a question that is sealed under the data key `from`; does nothing if the value is gone.
    fn sealed_value_reseal(&mut self, from: DataKeyId, at: &SealedValue, to: DataKeyId) -> StoreResult<()>;
    /// Replaces the value of a kept secret that is sealed under the data key `from`; does nothing if the secret is gone.
    fn kept_secret_reseal(&mut self, from: DataKeyId, kept: &KeptSecretValue) -> StoreResult<()>;
    /// Saves a secret, and replaces the one with the same agent and name.
    fn kept_secret_save(&mut self, kept: &KeptSecretValue) -> StoreResult<()>;
    /// Records when a secret last answered a question; `false` if the secret is gone.
    fn kept_secret_mark_used(&mut self, scope: &Scope, id: SecretId, at: Timestamp) -> StoreResult<bool>;
    /// Deletes a secret; `false` if there is none.
    fn kept_secret_delete(&mut self, scope: &Scope, id: SecretId) -> StoreResult<bool>;
}
