//! Webhooks, their deliveries, and their signing secrets.

use domain::webhook::delivery::About;
use domain::{
    DataKeyId, Interaction, LeaseId, Scope, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryId,
    WebhookDeliveryState, WebhookId,
};
use rusqlite::{Row, params};
use store::sql::webhook::{self as sql, WEBHOOK_DELIVERIES_SETTLED};
use store::{
    Bounded, Cursor, DueWebhook, Page, Sealed, StoreResult, WebhookLease, WebhookReads, WebhookSecret, WebhookWrites,
};

use crate::connection::Executor;
use crate::interaction;
use crate::secret::{data_key, scope};
use crate::values::{id, json, micros, optional_time, parse};

/// Webhooks without a lease that may have work.
pub(crate) const DUE: &str = "select projects.tenant, projects.id, webhooks.id from webhooks \
     join projects on projects.id = webhooks.project \
     where enabled and (lease_until is null or lease_until <= ?1) and (due_at <= ?1 or (not held_back and exists \
     (select 1 from events where events.project = webhooks.project and events.position > webhooks.cursor_minor))) \
     order by looked_at, webhooks.id limit ?2";
/// Condition on the deliveries of a webhook of the project.
const OF_WEBHOOK: &str = "webhook = ?1 and exists (select 1 from webhooks where id = ?1 and project = ?2)";

impl WebhookReads for Executor<'_> {
    fn webhook(&mut self, scope: &Scope, webhook: WebhookId) -> StoreResult<Option<Webhook>> {
        self.row(sql::WEBHOOK, [webhook.uuid(), scope.project.uuid()], body)
    }

    fn webhooks(&mut self, scope: &Scope, page: Page<WebhookId>) -> StoreResult<Bounded<Webhook>> {
        let sql = "select body from webhooks where project = ?1 and (?2 is null or id < ?2) order by id desc limit ?3";
        let row = params![scope.project.uuid(), page.after.map(WebhookId::uuid), page.limit];
        self.bounded_rows(sql, row, page.limit, body)
    }

    fn webhook_count(&mut self, scope: &Scope) -> StoreResult<u64> {
        self.one_row(sql::WEBHOOK_COUNT, [scope.project.uuid()], |row| row.get(0))
    }

    fn webhooks_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueWebhook>> {
        self.rows(DUE, params![now.as_microsecond(), limit], |row| {
            Ok(DueWebhook { scope: scope(row, 0)?, webhook: WebhookId::from_uuid(id(row.get(2)?)) })
        })
    }

    fn webhook_deliveries(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        state: Option<WebhookDeliveryState>,
        page: Page<WebhookDeliveryId>,
    ) -> StoreResult<Vec<WebhookDelivery>> {
        let of_state = if state.is_some() { "state = ?5" } else { "?5 is null" };
        let sql = format!(
            "select body from webhook_deliveries where {OF_WEBHOOK} and (?3 is null or id < ?3) and {of_state} \
             order by id desc limit ?4"
        );
        let (after, state) = (page.after.map(WebhookDeliveryId::uuid), state.map(WebhookDeliveryState::name));
        self.rows(&sql, params![webhook.uuid(), scope.project.uuid(), after, page.limit, state], body)
    }

    fn webhook_delivery(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        delivery: WebhookDeliveryId,
    ) -> StoreResult<Option<WebhookDelivery>> {
        let row = [webhook.uuid(), scope.project.uuid(), delivery.uuid()];
        self.row(sql::WEBHOOK_DELIVERY, row, body)
    }

    fn webhook_deliveries_due(
        &mut self,
        webhook: WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<WebhookDelivery>> {
        self.rows(sql::WEBHOOK_DELIVERIES_DUE, params![webhook.uuid(), now.as_microsecond(), limit], body)
    }

    fn webhook_backlog(&mut self, webhook: WebhookId) -> StoreResult<(u64, Option<Timestamp>)> {
        self.one_row(sql::WEBHOOK_BACKLOG, [webhook.uuid()], |row| Ok((row.get(0)?, optional_time(row.get(1)?)?)))
    }

    fn answers_unsent(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        agent: &str,
        limit: u32,
    ) -> StoreResult<Bounded<Interaction>> {
        let row = params![scope.project.uuid(), agent, limit, webhook.uuid()];
        self.bounded_rows(&interaction::unsent_answers(), row, limit, |row| interaction::read(scope, row))
    }

    fn webhook_secrets(&mut self, scope: &Scope, webhook: WebhookId) -> StoreResult<Vec<WebhookSecret>> {
        self.rows(sql::WEBHOOK_SECRETS, [webhook.uuid(), scope.project.uuid()], secret)
    }

    fn webhook_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<WebhookSecret>> {
        self.rows(sql::WEBHOOK_SECRETS_UNDER, params![key.uuid(), limit], secret)
    }
}

impl WebhookWrites for Executor<'_> {
    fn webhook_insert(&mut self, webhook: &Webhook, cursor: Cursor) -> StoreResult<()> {
        let sql = "insert into webhooks (id, project, enabled, cursor_major, cursor_minor, due_at, held_back, looked_at, \
                   body) select ?1, id, ?4, ?5, ?6, ?7, false, ?7, ?8 from projects where id = ?2 and tenant = ?3";
        let row = params![
            webhook.id.uuid(),
            webhook.scope.project.uuid(),
            webhook.scope.tenant.uuid(),
            webhook.is_enabled(),
            cursor.major,
            cursor.minor,
            webhook.created_at.as_microsecond(),
            json(webhook)?,
        ];
        self.guarded(sql, row)
    }

    /// SQLite has one writer, so that there is nothing to lock.
    fn webhook_lock(&mut self, scope: &Scope, webhook: WebhookId) -> StoreResult<Option<Webhook>> {
        self.webhook(scope, webhook)
    }

    fn webhook_save(&mut self, webhook: &Webhook) -> StoreResult<()> {
        let row = params![webhook.id.uuid(), webhook.scope.project.uuid(), webhook.is_enabled(), json(webhook)?];
        self.guarded(sql::WEBHOOK_SAVE, row)
    }

    fn webhook_delete(&mut self, scope: &Scope, webhook: WebhookId, now: Timestamp) -> StoreResult<bool> {
        let key = [webhook.uuid(), scope.project.uuid()];
        if self.change(sql::WEBHOOK_DELETE, key)? == 0 {
            return Ok(false);
        }
        self.change(sql::WEBHOOK_SECRETS_DELETE, [webhook.uuid()])?;
        self.change(sql::WEBHOOK_DELIVERIES_SETTLE, params![webhook.uuid(), now.as_microsecond()])?;
        Ok(true)
    }

    fn webhook_wake(&mut self, scope: &Scope, webhook: WebhookId, now: Timestamp) -> StoreResult<()> {
        let sql = "update webhooks set due_at = min(coalesce(due_at, ?3), ?3) where id = ?1 and project = ?2";
        self.guarded(sql, params![webhook.uuid(), scope.project.uuid(), now.as_microsecond()])
    }

    fn webhook_claim(&mut self, due: &DueWebhook, hold: &WebhookLease, now: Timestamp) -> StoreResult<bool> {
        let row = params![
            due.webhook.uuid(),
            due.scope.project.uuid(),
            hold.lease.uuid(),
            hold.until.as_microsecond(),
            now.as_microsecond(),
        ];
        Ok(self.change(sql::WEBHOOK_CLAIM, row)? == 1)
    }

    fn webhook_lease_extend(
        &mut self,
        due: &DueWebhook,
        hold: &WebhookLease,
    ) -> StoreResult<Option<(Webhook, Cursor)>> {
        let sql = "update webhooks set lease_until = ?4 where id = ?1 and project = ?2 and lease = ?3 \
                   returning body, cursor_major, cursor_minor";
        let row = params![due.webhook.uuid(), due.scope.project.uuid(), hold.lease.uuid(), hold.until.as_microsecond()];
        let held = |row: &Row<'_>| Ok((body(row)?, Cursor { major: row.get(1)?, minor: row.get(2)? }));
        self.row(sql, row, held)
    }

    fn webhook_cursor_save(&mut self, due: &DueWebhook, cursor: Cursor) -> StoreResult<()> {
        let sql = "update webhooks set cursor_major = ?3, cursor_minor = ?4 where id = ?1 and project = ?2";
        let row = params![due.webhook.uuid(), due.scope.project.uuid(), cursor.major, cursor.minor];
        self.guarded(sql, row)
    }

    fn webhook_release(
        &mut self,
        due: &DueWebhook,
        lease: LeaseId,
        at: Option<Timestamp>,
        held_back: bool,
    ) -> StoreResult<()> {
        let row = params![due.webhook.uuid(), due.scope.project.uuid(), lease.uuid(), micros(at), held_back];
        self.change(sql::WEBHOOK_RELEASE, row).map(drop)
    }

    fn webhook_delivery_insert(&mut self, scope: &Scope, delivery: &WebhookDelivery) -> StoreResult<()> {
        let (interaction, revision) = match delivery.about {
            About::Answer { interaction, revision, .. } => (Some(interaction.uuid()), Some(revision)),
            About::Event { .. } | About::Test => (None, None),
        };
        let row = params![
            delivery.id.uuid(),
            delivery.webhook.uuid(),
            scope.project.uuid(),
            delivery.progress.state().name(),
            micros(delivery.progress.due()),
            micros(delivery.progress.settled_at()),
            interaction,
            revision,
            json(delivery)?,
        ];
        self.guarded(sql::WEBHOOK_DELIVERY_INSERT, row)
    }

    fn webhook_delivery_save(&mut self, scope: &Scope, delivery: &WebhookDelivery) -> StoreResult<()> {
        let row = params![
            delivery.id.uuid(),
            delivery.webhook.uuid(),
            scope.project.uuid(),
            delivery.progress.state().name(),
            micros(delivery.progress.due()),
            micros(delivery.progress.settled_at()),
            json(delivery)?,
        ];
        self.guarded(sql::WEBHOOK_DELIVERY_SAVE, row)
    }

    fn webhook_deliveries_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = format!("delete from webhook_deliveries where id in ({WEBHOOK_DELIVERIES_SETTLED})");
        self.change(&sql, params![before.as_microsecond(), limit])
    }

    fn webhook_secret_insert(&mut self, secret: &WebhookSecret) -> StoreResult<()> {
        let row = params![
            secret.webhook.uuid(),
            secret.scope.project.uuid(),
            secret.number,
            micros(secret.until),
            secret.sealed.key.id.uuid(),
            secret.sealed.body,
        ];
        self.guarded(sql::WEBHOOK_SECRET_INSERT, row)
    }

    fn webhook_secrets_expire(&mut self, scope: &Scope, webhook: WebhookId, until: Timestamp) -> StoreResult<()> {
        self.change(sql::WEBHOOK_SECRETS_EXPIRE, params![webhook.uuid(), scope.project.uuid(), until.as_microsecond()])
            .map(drop)
    }

    fn webhook_secrets_purge(&mut self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from webhook_secrets where (webhook, number) in \
                   (select webhook, number from webhook_secrets where until is not null and until <= ?1 limit ?2)";
        self.change(sql, params![now.as_microsecond(), limit])
    }

    fn webhook_secret_reseal(&mut self, from: DataKeyId, secret: &WebhookSecret) -> StoreResult<()> {
        let Sealed { key, body } = &secret.sealed;
        let row = params![secret.webhook.uuid(), secret.number, from.uuid(), key.id.uuid(), body];
        self.change(sql::WEBHOOK_SECRET_RESEAL, row).map(drop)
    }
}

fn body<T: serde::de::DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    parse(row.get_ref(0)?.as_str()?)
}

fn secret(row: &Row<'_>) -> rusqlite::Result<WebhookSecret> {
    Ok(WebhookSecret {
        scope: scope(row, 5)?,
        webhook: WebhookId::from_uuid(id(row.get(7)?)),
        number: row.get(8)?,
        until: optional_time(row.get(9)?)?,
        sealed: Sealed { key: data_key(row)?, body: row.get(10)? },
    })
}
