//! Routes of webhooks and their deliveries.

use axum::Json;
use axum::extract::State;
use domain::{WebhookDeliveryId, WebhookDeliveryState, WebhookId};
use engine::NewWebhook;
use http::StatusCode;
use protocol::{
    EmptyBody, WebhookBody, WebhookCreatedView, WebhookDeliveriesPage, WebhookDeliveryView, WebhookEnabledBody,
    WebhookRotateBody, WebhookRotatedView, WebhookView, WebhooksPage,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{PathId, PathIds, Query, page};

/// Query of the list of webhooks.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WebhooksQuery {
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Query of the list of messages.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WebhookDeliveriesQuery {
    /// Only messages in this state.
    #[param(inline)]
    state: Option<WebhookDeliveryState>,
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Creates a webhook in the caller's project. The secret is returned only once.
#[utoipa::path(post, path = "/v1/webhooks", tag = "webhooks", request_body = WebhookBody,
    params(IdempotencyKey),
    responses((status = 201, description = "Webhook with its secret", body = WebhookCreatedView), Problems))]
pub(super) async fn webhook_create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<WebhookBody>,
) -> Result<(StatusCode, Json<WebhookCreatedView>), ApiError> {
    let Some(subject) = body.subject() else {
        return Err(ApiError::invalid("/answers_of", "cannot be combined with events, agent or session"));
    };
    let WebhookBody { url, description, enabled, .. } = body;
    let new = NewWebhook { url, subject, description, enabled: enabled.unwrap_or(true) };
    let (webhook, secret) = app.engine.webhook_create(&caller, new, idempotency).await?;
    Ok((StatusCode::CREATED, Json(WebhookCreatedView { webhook: webhook.into(), secret })))
}

/// Lists the webhooks of the caller's project.
#[utoipa::path(get, path = "/v1/webhooks", tag = "webhooks", params(WebhooksQuery),
    responses((status = 200, description = "Page of webhooks", body = WebhooksPage), Problems))]
pub(super) async fn webhook_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<WebhooksQuery>,
) -> Result<Json<WebhooksPage>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let found = app.engine.webhook_list(&caller, page).await?;
    let next = found.last().filter(|_| found.more).map(|webhook| webhook.id.to_string());
    Ok(Json(WebhooksPage { webhooks: found.into_iter().map(Into::into).collect(), next }))
}

/// Returns a webhook of the project.
#[utoipa::path(get, path = "/v1/webhooks/{webhook}", tag = "webhooks",
    params(("webhook" = String, Path, description = "Identifier of the webhook, `whk_…`")),
    responses((status = 200, description = "Webhook with its settings and state", body = WebhookView), Problems))]
pub(super) async fn webhook_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
) -> Result<Json<WebhookView>, ApiError> {
    Ok(Json(app.engine.webhook_get(&caller, id).await?.into()))
}

/// Deletes a webhook. A message that is being sent may still arrive.
#[utoipa::path(delete, path = "/v1/webhooks/{webhook}", tag = "webhooks",
    params(("webhook" = String, Path, description = "Identifier of the webhook, `whk_…`")),
    responses((status = 204, description = "The webhook was deleted"), Problems))]
pub(super) async fn webhook_delete(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
) -> Result<StatusCode, ApiError> {
    app.engine.webhook_delete(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Switches a webhook on or off. Events that happened while it was off are sent when it is on again.
#[utoipa::path(put, path = "/v1/webhooks/{webhook}/enabled", tag = "webhooks", request_body = WebhookEnabledBody,
    params(("webhook" = String, Path, description = "Identifier of the webhook, `whk_…`")),
    responses((status = 200, description = "Webhook after the switch", body = WebhookView), Problems))]
pub(super) async fn webhook_switch(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
    CommandRequest { body: WebhookEnabledBody { enabled, reason }, .. }: CommandRequest<WebhookEnabledBody>,
) -> Result<Json<WebhookView>, ApiError> {
    Ok(Json(app.engine.webhook_switch(&caller, id, enabled, reason).await?.into()))
}

/// Creates a new secret, returned only once. Messages are also signed with the old secret until that expires.
#[utoipa::path(post, path = "/v1/webhooks/{webhook}/rotate", tag = "webhooks", request_body = WebhookRotateBody,
    params(("webhook" = String, Path, description = "Identifier of the webhook, `whk_…`"), IdempotencyKey),
    responses((status = 200, description = "The webhook with its new secret", body = WebhookRotatedView), Problems))]
pub(super) async fn webhook_rotate(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
    CommandRequest { body: WebhookRotateBody { overlap_seconds }, idempotency }: CommandRequest<WebhookRotateBody>,
) -> Result<Json<WebhookRotatedView>, ApiError> {
    let (webhook, secret, old_until) = app.engine.webhook_rotate(&caller, id, overlap_seconds, idempotency).await?;
    Ok(Json(WebhookRotatedView { webhook: webhook.into(), secret, old_until }))
}

/// Sends an empty test message.
#[utoipa::path(post, path = "/v1/webhooks/{webhook}/test", tag = "webhooks", request_body = EmptyBody,
    params(("webhook" = String, Path, description = "Identifier of the webhook, `whk_…`"), IdempotencyKey),
    responses((status = 202, description = "The message, on its way", body = WebhookDeliveryView), Problems))]
pub(super) async fn webhook_test(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
    CommandRequest { idempotency, .. }: CommandRequest<EmptyBody>,
) -> Result<(StatusCode, Json<WebhookDeliveryView>), ApiError> {
    let delivery = app.engine.webhook_test(&caller, id, idempotency).await?;
    Ok((StatusCode::ACCEPTED, Json(delivery.into())))
}

/// Lists the messages of a webhook, with their last attempts.
#[utoipa::path(get, path = "/v1/webhooks/{webhook}/deliveries", tag = "webhooks",
    params(("webhook" = String, Path, description = "Identifier of the webhook, `whk_…`"), WebhookDeliveriesQuery),
    responses((status = 200, description = "Page of messages", body = WebhookDeliveriesPage), Problems))]
pub(super) async fn webhook_delivery_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
    Query(query): Query<WebhookDeliveriesQuery>,
) -> Result<Json<WebhookDeliveriesPage>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let found = app.engine.webhook_delivery_list(&caller, id, query.state, page).await?;
    let full = found.len() == page.limit as usize;
    let next = found.last().filter(|_| full).map(|delivery| delivery.id.to_string());
    Ok(Json(WebhookDeliveriesPage { deliveries: found.into_iter().map(Into::into).collect(), next }))
}

/// Sends a finished message again, with the same id.
#[utoipa::path(post, path = "/v1/webhooks/{webhook}/deliveries/{delivery}/replay", tag = "webhooks",
    request_body = EmptyBody,
    params(("webhook" = String, Path, description = "Identifier of the webhook, `whk_…`"), ("delivery" = String, Path, description = "Identifier of the delivery, `whd_…`"), IdempotencyKey),
    responses((status = 200, description = "The message, to be sent again", body = WebhookDeliveryView), Problems))]
pub(super) async fn webhook_delivery_replay(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathIds(webhook, delivery): PathIds<WebhookId, WebhookDeliveryId>,
    CommandRequest { idempotency, .. }: CommandRequest<EmptyBody>,
) -> Result<Json<WebhookDeliveryView>, ApiError> {
    Ok(Json(app.engine.webhook_delivery_replay(&caller, (webhook, delivery), idempotency).await?.into()))
}
