//! Statements about webhooks and their deliveries, with one text for both stores.

use super::secret::data_key;

/// SQL statement of [`crate::WebhookReads::webhook`].
pub const WEBHOOK: &str = "select body from webhooks where id = ?1 and project = ?2";

/// SQL statement of [`crate::WebhookReads::webhook_count`].
pub const WEBHOOK_COUNT: &str = "select count(*) from webhooks where project = ?1";

/// SQL statement of [`crate::WebhookWrites::webhook_save`].
pub const WEBHOOK_SAVE: &str = "update webhooks set enabled = ?3, body = ?4 where id = ?1 and project = ?2";

/// SQL statement of [`crate::WebhookWrites::webhook_delete`].
pub const WEBHOOK_DELETE: &str = "delete from webhooks where id = ?1 and project = ?2";

/// SQL statement of [`crate::WebhookWrites::webhook_delete`].
pub const WEBHOOK_SECRETS_DELETE: &str = "delete from webhook_secrets where webhook = ?1";

/// SQL statement of [`crate::WebhookWrites::webhook_delete`].
pub const WEBHOOK_DELIVERIES_SETTLE: &str =
    "update webhook_deliveries set due_at = null, settled_at = ?2 where webhook = ?1 and due_at is not null";

/// SQL statement of [`crate::WebhookWrites::webhook_claim`].
pub const WEBHOOK_CLAIM: &str = "update webhooks set lease = ?3, lease_until = ?4, looked_at = ?5 \
     where id = ?1 and project = ?2 and enabled and (lease_until is null or lease_until <= ?5)";

/// SQL statement of [`crate::WebhookWrites::webhook_release`].
pub const WEBHOOK_RELEASE: &str = "update webhooks set lease = null, lease_until = null, due_at = ?4, held_back = ?5 \
     where id = ?1 and project = ?2 and lease = ?3";

/// SQL statement of [`crate::WebhookWrites::webhook_delivery_save`].
pub const WEBHOOK_DELIVERY_SAVE: &str = "update webhook_deliveries set state = ?4, due_at = ?5, settled_at = ?6, body = ?7 \
     where id = ?1 and webhook = ?2 and exists (select 1 from webhooks where id = ?2 and project = ?3)";

/// SQL statement of [`crate::WebhookWrites::webhook_secrets_expire`].
pub const WEBHOOK_SECRETS_EXPIRE: &str = "update webhook_secrets set until = ?3 where webhook = ?1 and (until is null or until > ?3) \
     and exists (select 1 from webhooks where id = ?1 and project = ?2)";

/// SQL statement of [`crate::WebhookWrites::webhook_secret_reseal`].
pub const WEBHOOK_SECRET_RESEAL: &str =
    "update webhook_secrets set data_key = ?4, body = ?5 where webhook = ?1 and number = ?2 and data_key = ?3";

/// SQL statement of [`crate::WebhookReads::webhook_delivery`].
pub const WEBHOOK_DELIVERY: &str = "select body from webhook_deliveries \
     where webhook = ?1 and exists (select 1 from webhooks where id = ?1 and project = ?2) and id = ?3";

/// SQL statement of [`crate::WebhookReads::webhook_deliveries_due`].
pub const WEBHOOK_DELIVERIES_DUE: &str = "select body from webhook_deliveries \
     where webhook = ?1 and due_at is not null and due_at <= ?2 order by due_at limit ?3";

/// Statement of [`crate::WebhookReads::webhook_backlog`]: number of deliveries that are still to be sent, and the earliest due time.
pub const WEBHOOK_BACKLOG: &str =
    "select count(*), min(due_at) from webhook_deliveries where webhook = ?1 and due_at is not null";

/// Deliveries that were settled before a time.
pub const WEBHOOK_DELIVERIES_SETTLED: &str =
    "select id from webhook_deliveries where settled_at is not null and settled_at <= ?1 limit ?2";

/// Beginning of a statement that reads signing secrets: the columns of the data key, then the columns of the secret.
macro_rules! select_webhook_secrets {
    () => {
        concat!(
            "select ",
            data_key!(),
            ", projects.tenant, projects.id, webhook, webhook_secrets.number, until, webhook_secrets.body \
             from webhook_secrets join webhooks on webhooks.id = webhook_secrets.webhook \
             join projects on projects.id = webhooks.project \
             join data_keys on data_keys.id = webhook_secrets.data_key "
        )
    };
}

/// SQL statement of [`crate::WebhookReads::webhook_secrets`].
pub const WEBHOOK_SECRETS: &str = concat!(
    select_webhook_secrets!(),
    "where webhook = ?1 and webhooks.project = ?2 order by webhook_secrets.number desc"
);

/// SQL statement of [`crate::WebhookReads::webhook_secrets_under`].
pub const WEBHOOK_SECRETS_UNDER: &str =
    concat!(select_webhook_secrets!(), "where data_key = ?1 order by webhook, webhook_secrets.number limit ?2");

/// SQL statement of [`crate::WebhookWrites::webhook_delivery_insert`].
pub const WEBHOOK_DELIVERY_INSERT: &str = "insert into webhook_deliveries (id, webhook, state, due_at, settled_at, interaction, revision, body) \
     select ?1, id, ?4, ?5, ?6, ?7, ?8, ?9 from webhooks where id = ?2 and project = ?3 on conflict do nothing";

/// SQL statement of [`crate::WebhookWrites::webhook_secret_insert`].
pub const WEBHOOK_SECRET_INSERT: &str = "insert into webhook_secrets (webhook, number, until, data_key, body) \
     select id, ?3, ?4, ?5, ?6 from webhooks where id = ?1 and project = ?2 on conflict do nothing";
