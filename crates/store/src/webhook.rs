//! Webhooks, what is sent for them, and what it is signed with.

use domain::{
    DataKeyId, Interaction, LeaseId, Scope, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryId, WebhookId,
};

use crate::{Bounded, Cursor, Page, Sealed, StoreResult};

/// A webhook that somebody should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueWebhook {
    /// Whose it is.
    pub scope: Scope,
    /// Which one.
    pub webhook: WebhookId,
}

/// The right of one node to send for a webhook, for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookLease {
    /// What everything that is written under it is fenced by.
    pub lease: LeaseId,
    /// Until when.
    pub until: Timestamp,
}

/// What messages are signed with, sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSecret {
    /// Whose.
    pub scope: Scope,
    /// Of which webhook.
    pub webhook: WebhookId,
    /// Its place among those of the webhook, from 1.
    pub number: u32,
    /// Until when messages are signed with it, if it was replaced.
    pub until: Option<Timestamp>,
    /// The secret.
    pub sealed: Sealed,
}

/// What can be read of them.
pub trait WebhookReads {
    /// A webhook.
    fn webhook(&mut self, scope: &Scope, id: WebhookId) -> StoreResult<Option<Webhook>>;
    /// The webhooks of a project, the newest first.
    fn webhooks(&mut self, scope: &Scope, page: Page<WebhookId>) -> StoreResult<Bounded<Webhook>>;
    /// How many a project has.
    fn webhook_count(&mut self, scope: &Scope) -> StoreResult<u64>;
    /// Webhooks that nobody holds and for which something may be to do, those first that were not looked at for longest.
    fn webhooks_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueWebhook>>;
    /// What was sent, or is to be, for a webhook, the newest first; in this state alone.
    fn webhook_deliveries(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        state: Option<&str>,
        page: Page<WebhookDeliveryId>,
    ) -> StoreResult<Vec<WebhookDelivery>>;
    /// One of them.
    fn webhook_delivery(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        id: WebhookDeliveryId,
    ) -> StoreResult<Option<WebhookDelivery>>;
    /// What is to be sent by now for a webhook, the earliest first.
    fn webhook_deliveries_due(
        &mut self,
        webhook: WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<WebhookDelivery>>;
    /// How much is still to be sent for a webhook, and when the first of it is due.
    fn webhook_backlog(&mut self, webhook: WebhookId) -> StoreResult<(u64, Option<Timestamp>)>;
    /// Answers that wait for an agent and for which this webhook has no delivery yet; none of a session that is paused.
    fn answers_unsent(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        agent: &str,
        limit: u32,
    ) -> StoreResult<Bounded<Interaction>>;
    /// The secrets of a webhook, the newest first.
    fn webhook_secrets(&mut self, scope: &Scope, webhook: WebhookId) -> StoreResult<Vec<WebhookSecret>>;
    /// Secrets that are sealed under a key.
    fn webhook_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<WebhookSecret>>;
}

/// What can be written of them.
pub trait WebhookWrites {
    /// Keeps a new webhook, which follows the project's log from a cursor and is due at once.
    fn webhook_insert(&mut self, webhook: &Webhook, cursor: Cursor) -> StoreResult<()>;
    /// Reads a webhook and keeps everybody else from changing it until the end of the transaction.
    fn webhook_lock(&mut self, scope: &Scope, id: WebhookId) -> StoreResult<Option<Webhook>>;
    /// Writes a webhook that was locked.
    fn webhook_save(&mut self, webhook: &Webhook) -> StoreResult<()>;
    /// Forgets a webhook with its secrets; false where there is none. What was sent goes with the next purge.
    fn webhook_delete(&mut self, scope: &Scope, id: WebhookId, now: Timestamp) -> StoreResult<bool>;
    /// Has it looked at, now.
    fn webhook_wake(&mut self, scope: &Scope, id: WebhookId, now: Timestamp) -> StoreResult<()>;
    /// Takes hold of an enabled webhook; false where somebody else has it, or it has gone.
    fn webhook_claim(&mut self, due: &DueWebhook, hold: &WebhookLease, now: Timestamp) -> StoreResult<bool>;
    /// Holds it for longer and locks it: the webhook and its cursor, unless the hold was lost.
    fn webhook_lease_extend(&mut self, due: &DueWebhook, hold: &WebhookLease)
    -> StoreResult<Option<(Webhook, Cursor)>>;
    /// Moves the cursor of a webhook that was locked.
    fn webhook_cursor_save(&mut self, due: &DueWebhook, cursor: Cursor) -> StoreResult<()>;
    /// Lets go of it. It is looked at again at a moment, and, unless it is held back, when there are new events.
    fn webhook_release(
        &mut self,
        due: &DueWebhook,
        lease: LeaseId,
        at: Option<Timestamp>,
        held_back: bool,
    ) -> StoreResult<()>;
    /// Keeps a new delivery.
    fn webhook_delivery_insert(&mut self, scope: &Scope, delivery: &WebhookDelivery) -> StoreResult<()>;
    /// Writes a delivery of a webhook that was locked.
    fn webhook_delivery_save(&mut self, scope: &Scope, delivery: &WebhookDelivery) -> StoreResult<()>;
    /// Forgets deliveries that were settled before a moment; says how many.
    fn webhook_deliveries_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64>;
    /// Keeps a new secret of a webhook that was locked.
    fn webhook_secret_insert(&mut self, secret: &WebhookSecret) -> StoreResult<()>;
    /// Has the older secrets of a webhook end at a moment, those that end earlier apart.
    fn webhook_secrets_expire(&mut self, scope: &Scope, webhook: WebhookId, until: Timestamp) -> StoreResult<()>;
    /// Forgets secrets that have ended; says how many.
    fn webhook_secrets_purge(&mut self, now: Timestamp, limit: u32) -> StoreResult<u64>;
    /// Writes over a secret that was sealed under another key, unless it has gone.
    fn webhook_secret_reseal(&mut self, from: DataKeyId, secret: &WebhookSecret) -> StoreResult<()>;
}
