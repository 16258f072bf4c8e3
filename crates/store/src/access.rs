//! Tenants, projects, keys, tickets, and the settings that all nodes share.

use domain::{Key, KeyId, Scope, TenantId, Ticket, TicketId, Timestamp};

use crate::{Bounded, Page, StoreResult};

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key without its secret.
    pub key: Key,
    /// Keyed hash of the secret.
    pub hash: [u8; 32],
}

/// What can be read of them.
pub trait AccessReads {
    /// A value that the whole installation shares.
    fn setting(&mut self, name: &str) -> StoreResult<Option<String>>;
    /// The key of this id, whosever it is: this is how a scope is come by.
    fn key(&mut self, id: KeyId) -> StoreResult<Option<KeyRecord>>;
    /// Whether a key of the tenant that was not revoked has this name, whatever its case.
    fn has_key_named(&mut self, tenant: TenantId, name: &str) -> StoreResult<bool>;
    /// The scope of these names.
    fn scope(&mut self, tenant: &str, project: &str) -> StoreResult<Option<Scope>>;
    /// Every project of every tenant.
    fn scopes(&mut self) -> StoreResult<Vec<Scope>>;
    /// The settings of a project, as text; none where nobody has set any.
    fn project_settings(&mut self, scope: &Scope) -> StoreResult<Option<String>>;
    /// Part of the keys of a project, the newest first.
    fn keys_page(&mut self, scope: &Scope, page: Page<KeyId>) -> StoreResult<Bounded<Key>>;
    /// Part of the keys of a project that are good at a moment and no agent's, the newest first.
    fn keys_of_people(&mut self, scope: &Scope, now: Timestamp, page: Page<KeyId>) -> StoreResult<Bounded<Key>>;
    /// How many keys of a project were not revoked.
    fn key_count(&mut self, scope: &Scope) -> StoreResult<u64>;
    /// The keys of a project that have this name, whatever its case, and were not revoked; the newest first.
    fn keys_named(&mut self, scope: &Scope, name: &str) -> StoreResult<Vec<Key>>;
    /// Whether there is a ticket of this id, and this is the keyed hash of its secret. Uses nothing up.
    fn has_ticket(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<bool>;
}

/// What can be written of them.
pub trait AccessWrites {
    /// Keeps a value that the whole installation shares, unless there is one, and gives back the one in force.
    fn setting_ensure(&mut self, name: &str, value: &str) -> StoreResult<String>;
    /// The scope of these names, made with these ids where absent.
    fn scope_ensure(&mut self, tenant: &str, project: &str, fresh: Scope) -> StoreResult<Scope>;
    /// Keeps the settings of a project.
    fn project_settings_save(&mut self, scope: &Scope, settings: &str) -> StoreResult<()>;
    /// Keeps a new key.
    fn key_insert(&mut self, record: &KeyRecord) -> StoreResult<()>;
    /// Revokes a key; false where there is none that could be.
    fn key_revoke(&mut self, scope: &Scope, id: KeyId, at: Timestamp) -> StoreResult<bool>;
    /// Notes that a key was used.
    fn key_mark_used(&mut self, id: KeyId, at: Timestamp) -> StoreResult<()>;
    /// Keeps a new ticket.
    fn ticket_insert(&mut self, ticket: &Ticket, hash: &[u8; 32]) -> StoreResult<()>;
    /// Uses a ticket up, where this is the keyed hash of its secret; nothing where it has gone.
    fn ticket_redeem(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<Option<Ticket>>;
    /// Forgets tickets that have expired; says how many.
    fn tickets_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64>;
}
