//! Webhooks, their deliveries, and their signing secrets.

use domain::webhook::delivery::About;
use domain::{
    DataKeyId, Interaction, LeaseId, Scope, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryId,
    WebhookDeliveryState, WebhookId,
};
use postgres::Row;
use store::sql::webhook::{self as sql, WEBHOOK_DELIVERIES_SETTLED};
use store::{
    Bounded, Cursor, DueWebhook, Page, Sealed, StoreResult, WebhookLease, WebhookReads, WebhookSecret, WebhookWrites,
};

use crate::access::scope;
use crate::connection::{Executor, Values};
use crate::event::cursor;
use crate::interaction;
use crate::secret::data_key;
use crate::values::{column, json, micros, number, optional_time, parse, signed};

/// Webhooks without a lease that may have work.
pub(crate) const DUE: &str = "select projects.tenant, projects.id, webhooks.id from webhooks \
     join projects on projects.id = webhooks.project \
     where enabled and (lease_until is null or lease_until <= $1) and (due_at <= $1 or (not held_back and exists \
     (select 1 from events where events.project = webhooks.project \
     and (events.xid, events.position) > (webhooks.cursor_major, webhooks.cursor_minor)))) \
     order by looked_at, webhooks.id limit $2";
/// Condition on the deliveries of a webhook of the project.
const OF_WEBHOOK: &str = "webhook = $1 and exists (select 1 from webhooks where id = $1 and project = $2)";

impl WebhookReads for Executor<'_> {
    fn webhook(&mut self, scope: &Scope, webhook: WebhookId) -> StoreResult<Option<Webhook>> {
        self.row(sql::WEBHOOK, &[&webhook.uuid(), &scope.project.uuid()])?.as_ref().map(body).transpose()
    }

    fn webhooks(&mut self, scope: &Scope, page: Page<WebhookId>) -> StoreResult<Bounded<Webhook>> {
        let sql = "select body from webhooks where project = $1 and ($2::uuid is null or id < $2) \
                   order by id desc limit $3";
        let after = page.after.map(WebhookId::uuid);
        self.bounded_list(sql, &[&scope.project.uuid(), &after, &i64::from(page.limit)], page.limit, body)
    }

    fn webhook_count(&mut self, scope: &Scope) -> StoreResult<u64> {
        let found = self.row(sql::WEBHOOK_COUNT, &[&scope.project.uuid()])?;
        found.map_or(Ok(0), |row| number(&row, 0))
    }

    fn webhooks_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueWebhook>> {
        let found = self.rows(DUE, &[&now.as_microsecond(), &i64::from(limit)])?;
        let due = |row| Ok(DueWebhook { scope: scope(row, 0, 1)?, webhook: WebhookId::from_uuid(column(row, 2)?) });
        found.iter().map(due).collect()
    }

    fn webhook_deliveries(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        state: Option<WebhookDeliveryState>,
        page: Page<WebhookDeliveryId>,
    ) -> StoreResult<Vec<WebhookDelivery>> {
        let of_state = if state.is_some() { "state = $5" } else { "$5::text is null" };
        let sql = format!(
            "select body from webhook_deliveries where {OF_WEBHOOK} and ($3::uuid is null or id < $3) and {of_state} \
             order by id desc limit $4"
        );
        let (after, limit) = (page.after.map(WebhookDeliveryId::uuid), i64::from(page.limit));
        let state = state.map(WebhookDeliveryState::name);
        let found = self.list_rows(&sql, &[&webhook.uuid(), &scope.project.uuid(), &after, &limit, &state])?;
        found.iter().map(body).collect()
    }

    fn webhook_delivery(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        delivery: WebhookDeliveryId,
    ) -> StoreResult<Option<WebhookDelivery>> {
        let found = self.row(sql::WEBHOOK_DELIVERY, &[&webhook.uuid(), &scope.project.uuid(), &delivery.uuid()])?;
        found.as_ref().map(body).transpose()
    }

    fn webhook_deliveries_due(
        &mut self,
        webhook: WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<WebhookDelivery>> {
        let found =
            self.rows(sql::WEBHOOK_DELIVERIES_DUE, &[&webhook.uuid(), &now.as_microsecond(), &i64::from(limit)])?;
        found.iter().map(body).collect()
    }

    fn webhook_backlog(&mut self, webhook: WebhookId) -> StoreResult<(u64, Option<Timestamp>)> {
        let found = self.row(sql::WEBHOOK_BACKLOG, &[&webhook.uuid()])?;
        found.map_or(Ok((0, None)), |row| Ok((number(&row, 0)?, optional_time(column(&row, 1)?)?)))
    }

    fn answers_unsent(
        &mut self,
        scope: &Scope,
        webhook: WebhookId,
        agent: &str,
        limit: u32,
    ) -> StoreResult<Bounded<Interaction>> {
        let values: Values<'_> = &[&scope.project.uuid(), &agent, &i64::from(limit), &webhook.uuid()];
        self.bounded_rows(&interaction::unsent_answers(), values, limit, |row| interaction::read(scope, row))
    }

    fn webhook_secrets(&mut self, scope: &Scope, webhook: WebhookId) -> StoreResult<Vec<WebhookSecret>> {
        self.rows(sql::WEBHOOK_SECRETS, &[&webhook.uuid(), &scope.project.uuid()])?.iter().map(secret).collect()
    }

    fn webhook_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<WebhookSecret>> {
        self.rows(sql::WEBHOOK_SECRETS_UNDER, &[&key.uuid(), &i64::from(limit)])?.iter().map(secret).collect()
    }
}

impl WebhookWrites for Executor<'_> {
    fn webhook_insert(&mut self, webhook: &Webhook, cursor: Cursor) -> StoreResult<()> {
        let sql = "insert into webhooks (id, project, enabled, cursor_major, cursor_minor, due_at, held_back, looked_at, \
                   body) select $1, id, $4, $5::text::xid8, $6, $7, false, $7, $8 from projects \
                   where id = $2 and tenant = $3 on conflict do nothing";
        self.guarded(
            sql,
            &[
                &webhook.id.uuid(),
                &webhook.scope.project.uuid(),
                &webhook.scope.tenant.uuid(),
                &webhook.is_enabled(),
                &cursor.major.to_string(),
                &signed(cursor.minor)?,
                &webhook.created_at.as_microsecond(),
                &json(webhook)?,
            ],
        )
    }

    fn webhook_lock(&mut self, scope: &Scope, webhook: WebhookId) -> StoreResult<Option<Webhook>> {
        let sql = "select body from webhooks where id = $1 and project = $2 for update";
        self.row(sql, &[&webhook.uuid(), &scope.project.uuid()])?.as_ref().map(body).transpose()
    }

    fn webhook_save(&mut self, webhook: &Webhook) -> StoreResult<()> {
        let (id, project) = (webhook.id.uuid(), webhook.scope.project.uuid());
        self.guarded(sql::WEBHOOK_SAVE, &[&id, &project, &webhook.is_enabled(), &json(webhook)?])
    }

    fn webhook_delete(&mut self, scope: &Scope, webhook: WebhookId, now: Timestamp) -> StoreResult<bool> {
        let (id, project) = (webhook.uuid(), scope.project.uuid());
        if self.change(sql::WEBHOOK_DELETE, &[&id, &project])? == 0 {
            return Ok(false);
        }
        self.change(sql::WEBHOOK_SECRETS_DELETE, &[&id])?;
        self.change(sql::WEBHOOK_DELIVERIES_SETTLE, &[&id, &now.as_microsecond()])?;
        Ok(true)
    }

    fn webhook_wake(&mut self, scope: &Scope, webhook: WebhookId, now: Timestamp) -> StoreResult<()> {
        let sql = "update webhooks set due_at = least(due_at, $3) where id = $1 and project = $2";
        self.guarded(sql, &[&webhook.uuid(), &scope.project.uuid(), &now.as_microsecond()])
    }

    fn webhook_claim(&mut self, due: &DueWebhook, hold: &WebhookLease, now: Timestamp) -> StoreResult<bool> {
        let (id, project) = (due.webhook.uuid(), due.scope.project.uuid());
        let (until, now) = (hold.until.as_microsecond(), now.as_microsecond());
        Ok(self.change(sql::WEBHOOK_CLAIM, &[&id, &project, &hold.lease.uuid(), &until, &now])? == 1)
    }

    fn webhook_lease_extend(
        &mut self,
        due: &DueWebhook,
        hold: &WebhookLease,
    ) -> StoreResult<Option<(Webhook, Cursor)>> {
        let sql = "update webhooks set lease_until = $4 where id = $1 and project = $2 and lease = $3 \
                   returning body, cursor_major::text, cursor_minor";
        let (id, project, until) = (due.webhook.uuid(), due.scope.project.uuid(), hold.until.as_microsecond());
        let held = self.row(sql, &[&id, &project, &hold.lease.uuid(), &until])?;
        held.map(|row| Ok((body(&row)?, cursor(&row, 1)?))).transpose()
    }

    fn webhook_cursor_save(&mut self, due: &DueWebhook, cursor: Cursor) -> StoreResult<()> {
        let sql = "update webhooks set cursor_major = $3::text::xid8, cursor_minor = $4 where id = $1 and project = $2";
        let (id, project) = (due.webhook.uuid(), due.scope.project.uuid());
        self.guarded(sql, &[&id, &project, &cursor.major.to_string(), &signed(cursor.minor)?])
    }

    fn webhook_release(
        &mut self,
        due: &DueWebhook,
        lease: LeaseId,
        at: Option<Timestamp>,
        held_back: bool,
    ) -> StoreResult<()> {
        let (id, project) = (due.webhook.uuid(), due.scope.project.uuid());
        self.change(sql::WEBHOOK_RELEASE, &[&id, &project, &lease.uuid(), &micros(at), &held_back]).map(drop)
    }

    fn webhook_delivery_insert(&mut self, scope: &Scope, delivery: &WebhookDelivery) -> StoreResult<()> {
        let (interaction, revision) = match delivery.about {
            About::Answer { interaction, revision, .. } => (Some(interaction.uuid()), Some(signed(revision)?)),
            About::Event { .. } | About::Test => (None, None),
        };
        self.guarded(
            sql::WEBHOOK_DELIVERY_INSERT,
            &[
                &delivery.id.uuid(),
                &delivery.webhook.uuid(),
                &scope.project.uuid(),
                &delivery.progress.state().name(),
                &micros(delivery.progress.due()),
                &micros(delivery.progress.settled_at()),
                &interaction,
                &revision,
                &json(delivery)?,
            ],
        )
    }

    fn webhook_delivery_save(&mut self, scope: &Scope, delivery: &WebhookDelivery) -> StoreResult<()> {
        self.guarded(
            sql::WEBHOOK_DELIVERY_SAVE,
            &[
                &delivery.id.uuid(),
                &delivery.webhook.uuid(),
                &scope.project.uuid(),
                &delivery.progress.state().name(),
                &micros(delivery.progress.due()),
                &micros(delivery.progress.settled_at()),
                &json(delivery)?,
            ],
        )
    }

    fn webhook_deliveries_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql =
            format!("delete from webhook_deliveries where id in ({WEBHOOK_DELIVERIES_SETTLED} for update skip locked)");
        self.change(&sql, &[&before.as_microsecond(), &i64::from(limit)])
    }

    fn webhook_secret_insert(&mut self, secret: &WebhookSecret) -> StoreResult<()> {
        self.guarded(
            sql::WEBHOOK_SECRET_INSERT,
            &[
                &secret.webhook.uuid(),
                &secret.scope.project.uuid(),
                &i64::from(secret.number),
                &micros(secret.until),
                &secret.sealed.key.id.uuid(),
                &secret.sealed.body,
            ],
        )
    }

    fn webhook_secrets_expire(&mut self, scope: &Scope, webhook: WebhookId, until: Timestamp) -> StoreResult<()> {
        self.change(sql::WEBHOOK_SECRETS_EXPIRE, &[&webhook.uuid(), &scope.project.uuid(), &until.as_microsecond()])
            .map(drop)
    }

    fn webhook_secrets_purge(&mut self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from webhook_secrets where (webhook, number) in (select webhook, number from webhook_secrets \
                   where until is not null and until <= $1 limit $2 for update skip locked)";
        self.change(sql, &[&now.as_microsecond(), &i64::from(limit)])
    }

    fn webhook_secret_reseal(&mut self, from: DataKeyId, secret: &WebhookSecret) -> StoreResult<()> {
        let (Sealed { key, body }, number) = (&secret.sealed, i64::from(secret.number));
        self.change(sql::WEBHOOK_SECRET_RESEAL, &[&secret.webhook.uuid(), &number, &from.uuid(), &key.id.uuid(), body])
            .map(drop)
    }
}

fn body<T: serde::de::DeserializeOwned>(row: &Row) -> StoreResult<T> {
    parse(column(row, 0)?)
}

fn secret(row: &Row) -> StoreResult<WebhookSecret> {
    Ok(WebhookSecret {
        scope: scope(row, 5, 6)?,
        webhook: WebhookId::from_uuid(column(row, 7)?),
        number: number(row, 8)?,
        until: optional_time(column(row, 9)?)?,
        sealed: Sealed { key: data_key(row)?, body: column(row, 10)? },
    })
}
