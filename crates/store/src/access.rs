//! Tenants, projects, API keys, stream tickets, and settings of the installation.

use domain::{Key, KeyId, Scope, TenantId, Ticket, TicketId, Timestamp};

use crate::{Bounded, Page, StoreResult};

/// An API key with the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key, without its secret.
    pub key: Key,
    /// Keyed hash of the secret.
    pub hash: [u8; 32],
}

/// Reads of tenants, projects, keys, tickets and settings.
pub trait AccessReads {
    /// Returns a setting of the installation, which all nodes share.
    fn setting(&mut self, name: &str) -> StoreResult<Option<String>>;
    /// Returns the key with this id, in any project: authentication learns the scope of a caller from it.
    fn key(&mut self, id: KeyId) -> StoreResult<Option<KeyRecord>>;
    /// Returns whether a key of the tenant that is not revoked has this name, ignoring ASCII case.
    fn has_key_named(&mut self, tenant: TenantId, name: &str) -> StoreResult<bool>;
    /// Returns the scope of a tenant and a project, given by their names.
    fn scope(&mut self, tenant: &str, project: &str) -> StoreResult<Option<Scope>>;
    /// Returns the scope of every project of every tenant.
    fn scopes(&mut self) -> StoreResult<Vec<Scope>>;
    /// Returns the settings of a project as JSON text; `None` if nobody has set any.
    fn project_settings(&mut self, scope: &Scope) -> StoreResult<Option<String>>;
    /// Lists the keys of a project, newest first.
    fn keys_page(&mut self, scope: &Scope, page: Page<KeyId>) -> StoreResult<Bounded<Key>>;
    /// Lists the keys of a project that are valid at `now` and belong to people, newest first.
    fn keys_of_people(&mut self, scope: &Scope, now: Timestamp, page: Page<KeyId>) -> StoreResult<Bounded<Key>>;
    /// Counts the keys of a project that are not revoked.
    fn key_count(&mut self, scope: &Scope) -> StoreResult<u64>;
    /// Returns the keys of a project that have this name, ignoring ASCII case, and are not revoked; newest first.
    fn keys_named(&mut self, scope: &Scope, name: &str) -> StoreResult<Vec<Key>>;
    /// Returns whether there is a ticket with this id and this keyed hash of its secret. The ticket stays valid.
    fn has_ticket(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<bool>;
}

/// Writes of tenants, projects, keys, tickets and settings.
pub trait AccessWrites {
    /// Inserts a setting of the installation unless it exists, and returns the value in force.
    fn setting_ensure(&mut self, name: &str, value: &str) -> StoreResult<String>;
    /// Returns the scope of a tenant and a project, given by their names; inserts what is missing with the ids of `fresh`.
    fn scope_ensure(&mut self, tenant: &str, project: &str, fresh: Scope) -> StoreResult<Scope>;
    /// Saves the settings of a project.
    fn project_settings_save(&mut self, scope: &Scope, settings: &str) -> StoreResult<()>;
    /// Inserts a key with its hash.
    fn key_insert(&mut self, record: &KeyRecord) -> StoreResult<()>;
    /// Revokes a key; `false` if the project has no such key, or it is revoked already.
    fn key_revoke(&mut self, scope: &Scope, id: KeyId, at: Timestamp) -> StoreResult<bool>;
    /// Records when a key was last used.
    fn key_mark_used(&mut self, id: KeyId, at: Timestamp) -> StoreResult<()>;
    /// Inserts a ticket with its hash.
    fn ticket_insert(&mut self, ticket: &Ticket, hash: &[u8; 32]) -> StoreResult<()>;
    /// Deletes a ticket and returns it, if `hash` is the keyed hash of its secret; `None` if there is no such ticket.
    fn ticket_redeem(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<Option<Ticket>>;
    /// Deletes up to `limit` tickets that expired before a time, and returns how many.
    fn tickets_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64>;
}
