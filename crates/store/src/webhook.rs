//! Webhooks, their deliveries, and their signing secrets.

use domain::{
    DataKeyId, Interaction, LeaseId, Scope, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryId,
    WebhookDeliveryState, WebhookId,
};

use crate::{Bounded, Cursor, Page, Sealed, StoreResult};

/// A webhook that is due for a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueWebhook {
    /// Project of the webhook.
    pub scope: Scope,
    /// Identifier of the webhook.
    pub webhook: WebhookId,
}

/// Lease under which one node sends the deliveries of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookLease {
    /// Identifier of the lease. A write under another lease is refused.
    pub lease: LeaseId,
    /// Time at which the lease ends.
    pub until: Timestamp,
}

/// A signing secret of a webhook, sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSecret {
    /// Project of the webhook.
    pub scope: Scope,
    /// Identifier of the webhook.
    pub webhook: WebhookId,
    /// Number of the secret among the secrets of the webhook, from 1.
    pub number: u32,
    /// Time until which messages are signed with the secret, if it was replaced.
    pub until: Option<Timestamp>,
    /// The secret as sealed bytes.
    pub sealed: Sealed,
}

/// Reads of webhooks, deliveries and signing secrets.
pub trait WebhookReads {
    /// Returns a webhook of the project.
    fn webhook(&mut self, scope: &Scope, id: WebhookId) -> StoreResult<Option<Webhook>>;
    /// Lists the webhooks of a project, newest first.
    fn webhooks(&mut self, scope: &Scope, page: Page<WebhookId>) -> StoreResult<Bounded<Webhook>>;
    /// Counts the webhooks of a project.
    fn webhook_count(&mut self, scope: &Scope) -> StoreResult<u64>;
    /// Returns webhooks without a lease that may have work, least recently checked first.
    fn webhooks_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueWebhook>>;
    /// Lists the deliveries of a webhook, newest first; only those in `state` if it is given.
    fn webhook_deliveries(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        state: Option<WebhookDeliveryState>,
        page: Page<WebhookDeliveryId>,
    ) -> StoreResult<Vec<WebhookDelivery>>;
    /// Returns a delivery of a webhook.
    fn webhook_delivery(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        id: WebhookDeliveryId,
    ) -> StoreResult<Option<WebhookDelivery>>;
    /// Returns the deliveries of a webhook that are due at `now`, earliest first.
    fn webhook_deliveries_due(
        &mut self,
        webhook: WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<WebhookDelivery>>;
    /// Returns the number of deliveries of a webhook that are still to be sent, and the time at which the first is due.
    fn webhook_backlog(&mut self, webhook: WebhookId) -> StoreResult<(u64, Option<Timestamp>)>;
    /// Lists waiting answers of an agent that this webhook has no delivery for. Answers of paused sessions are left out.
    fn answers_unsent(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        agent: &str,
        limit: u32,
    ) -> StoreResult<Bounded<Interaction>>;
    /// Returns the secrets of a webhook, newest first.
    fn webhook_secrets(&mut self, scope: &Scope, webhook: WebhookId) -> StoreResult<Vec<WebhookSecret>>;
    /// Returns secrets of webhooks that are sealed under a data key.
    fn webhook_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<WebhookSecret>>;
}

/// Writes of webhooks, deliveries and signing secrets.
pub trait WebhookWrites {
    /// Inserts a webhook. It follows the log of its project from `cursor` and is due at once.
    fn webhook_insert(&mut self, webhook: &Webhook, cursor: Cursor) -> StoreResult<()>;
    /// Returns a webhook and locks it until the transaction ends.
    fn webhook_lock(&mut self, scope: &Scope, id: WebhookId) -> StoreResult<Option<Webhook>>;
    /// Saves a webhook that this transaction has locked.
    fn webhook_save(&mut self, webhook: &Webhook) -> StoreResult<()>;
    /// Deletes a webhook with its secrets; `false` if there is none. The next purge deletes its deliveries.
    fn webhook_delete(&mut self, scope: &Scope, id: WebhookId, now: Timestamp) -> StoreResult<bool>;
    /// Makes a webhook due at `now`.
    fn webhook_wake(&mut self, scope: &Scope, id: WebhookId, now: Timestamp) -> StoreResult<()>;
    /// Leases an enabled webhook; `false` if another node has the lease, or the webhook is gone.
    fn webhook_claim(&mut self, due: &DueWebhook, hold: &WebhookLease, now: Timestamp) -> StoreResult<bool>;
    /// Extends the lease, locks the webhook, and returns it with its cursor; `None` if the lease was lost.
    fn webhook_lease_extend(&mut self, due: &DueWebhook, hold: &WebhookLease)
    -> StoreResult<Option<(Webhook, Cursor)>>;
    /// Saves the cursor of a webhook that this transaction has locked.
    fn webhook_cursor_save(&mut self, due: &DueWebhook, cursor: Cursor) -> StoreResult<()>;
    /// Releases the lease. The webhook is due again at `at`, and, unless it is held back, when its project has new events.
    fn webhook_release(
        &mut self,
        due: &DueWebhook,
        lease: LeaseId,
        at: Option<Timestamp>,
        held_back: bool,
    ) -> StoreResult<()>;
    /// Inserts a delivery of a webhook.
    fn webhook_delivery_insert(&mut self, scope: &Scope, delivery: &WebhookDelivery) -> StoreResult<()>;
    /// Saves a delivery of a webhook that this transaction has locked.
    fn webhook_delivery_save(&mut self, scope: &Scope, delivery: &WebhookDelivery) -> StoreResult<()>;
    /// Deletes up to `limit` deliveries that were settled before a time, and returns how many.
    fn webhook_deliveries_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64>;
    /// Inserts a secret of a webhook that this transaction has locked.
    fn webhook_secret_insert(&mut self, secret: &WebhookSecret) -> StoreResult<()>;
    /// Sets the end of all secrets of a webhook to `until`, except of those that end earlier.
    fn webhook_secrets_expire(&mut self, scope: &Scope, webhook: WebhookId, until: Timestamp) -> StoreResult<()>;
    /// Deletes up to `limit` secrets that have ended, and returns how many.
    fn webhook_secrets_purge(&mut self, now: Timestamp, limit: u32) -> StoreResult<u64>;
    /// Replaces a secret that is sealed under the data key `from`; does nothing if the secret is gone.
    fn webhook_secret_reseal(&mut self, from: DataKeyId, secret: &WebhookSecret) -> StoreResult<()>;
}
