//! Secrets that are kept for hosted agents.

use axum::Json;
use axum::extract::State;
use domain::SecretId;
use http::StatusCode;
use protocol::{NewSecret, SecretView, SecretsPage};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{PathId, Query, page};

/// Query of the list of secrets.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SecretsQuery {
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists the secrets that are kept for hosted agents, without their values.
#[utoipa::path(get, path = "/v1/secrets", tag = "secrets", params(SecretsQuery),
    responses((status = 200, description = "Page of secrets", body = SecretsPage), Problems))]
pub(super) async fn secret_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<SecretsQuery>,
) -> Result<Json<SecretsPage>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let found = app.engine.secret_list(&caller, page).await?;
    let full = found.len() == page.limit as usize;
    let next = found.last().filter(|_| full).map(|secret| secret.id.to_string());
    Ok(Json(SecretsPage { secrets: found.into_iter().map(Into::into).collect(), next }))
}

/// Stores a secret for a hosted agent, such as the key of its model. Replaces the secret of the same name.
#[utoipa::path(post, path = "/v1/secrets", tag = "secrets", request_body = NewSecret,
    params(IdempotencyKey),
    responses((status = 201, description = "The secret was stored", body = SecretView), Problems))]
pub(super) async fn secret_put(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<NewSecret>,
) -> Result<(StatusCode, Json<SecretView>), ApiError> {
    let NewSecret { agent, name, value } = body;
    let kept = app.engine.secret_put(&caller, (agent, name), value, idempotency).await?;
    Ok((StatusCode::CREATED, Json(kept.into())))
}

/// Deletes a kept secret. The agent asks for it the next time.
#[utoipa::path(delete, path = "/v1/secrets/{secret}", tag = "secrets",
    params(("secret" = String, Path, description = "Identifier of the secret, `sec_…`")),
    responses((status = 204, description = "The secret was deleted"), Problems))]
pub(super) async fn secret_forget(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SecretId>,
) -> Result<StatusCode, ApiError> {
    app.engine.secret_forget(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
