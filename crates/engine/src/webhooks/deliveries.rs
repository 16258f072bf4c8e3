//! Lists the deliveries of a webhook, sends test messages, and replays settled deliveries.

use domain::access::Right;
use domain::audit::kind::WebhookReplayed;
use domain::webhook::delivery::{About, TEST_MESSAGE};
use domain::{
    AuditDraft, AuditKind, Caller, Refusal, WebhookDelivery, WebhookDeliveryId, WebhookDeliveryState, WebhookId,
};
use store::Page;

use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Lists the deliveries of a webhook, the newest first, optionally in one state only.
    pub async fn webhook_delivery_list(
        &self,
        caller: &Caller,
        webhook: WebhookId,
        state: Option<WebhookDeliveryState>,
        page: Page<WebhookDeliveryId>,
    ) -> Result<Vec<WebhookDelivery>, Error> {
        caller.require(Right::ManageWebhooks)?;
        let scope = caller.scope;
        self.list(caller, move |reads, _| {
            reads.webhook(&scope, webhook)?.ok_or(Refusal::NotFound("webhook"))?;
            Ok(reads.webhook_deliveries(&scope, webhook, state, page)?)
        })
        .await
    }

    /// Queues a test message, to check whether it arrives.
    pub async fn webhook_test(
        &self,
        caller: &Caller,
        webhook: WebhookId,
        idempotency: Option<Idempotency>,
    ) -> Result<WebhookDelivery, Error> {
        caller.require(Right::ManageWebhooks)?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let found = work.tx.webhook_lock(&scope, webhook)?.ok_or(Refusal::NotFound("webhook"))?;
            found.require_enabled()?;
            let id = work.ids.webhook_delivery(work.now);
            let delivery = WebhookDelivery::new(id, webhook, TEST_MESSAGE.into(), About::Test, work.now);
            work.tx.webhook_delivery_insert(&scope, &delivery)?;
            work.tx.webhook_wake(&scope, webhook, work.now)?;
            Ok(delivery)
        })
        .await
    }

    /// Sends a settled delivery again under its id.
    pub async fn webhook_delivery_replay(
        &self,
        caller: &Caller,
        (webhook, id): (WebhookId, WebhookDeliveryId),
        idempotency: Option<Idempotency>,
    ) -> Result<WebhookDelivery, Error> {
        caller.require(Right::ManageWebhooks)?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let found = work.tx.webhook_lock(&scope, webhook)?.ok_or(Refusal::NotFound("webhook"))?;
            let delivery = work.tx.webhook_delivery(&scope, webhook, id)?;
            let delivery = delivery.ok_or(Refusal::NotFound("webhook delivery"))?;
            found.require_enabled()?;
            let delivery = delivery.replay(work.now)?;
            work.tx.webhook_delivery_save(&scope, &delivery)?;
            work.tx.webhook_wake(&scope, webhook, work.now)?;
            let replayed = WebhookReplayed { webhook, delivery: id };
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::WebhookReplayed(replayed)))?;
            Ok(delivery)
        })
        .await
    }
}
