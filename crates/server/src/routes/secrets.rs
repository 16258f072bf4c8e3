//! Secrets that people have kept.

use axum::Json;
use axum::extract::State;
use domain::SecretId;
use http::StatusCode;
use protocol::{NewSecret, SecretView, SecretsPage};
use serde::Deserialize;
use store::Page;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{PathId, Query, cursor, limit};

/// Which secrets.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SecretsQuery {
    /// Where the page before ended.
    cursor: Option<String>,
    /// At most so many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists what is kept for agents' later sessions, never a value.
#[utoipa::path(get, path = "/v1/secrets", tag = "secrets", params(SecretsQuery),
    responses((status = 200, description = "A page", body = SecretsPage), Problems))]
pub(super) async fn secret_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<SecretsQuery>,
) -> Result<Json<SecretsPage>, ApiError> {
    let page = Page { after: cursor(query.cursor.as_deref())?, limit: limit(query.limit)? };
    let found = app.engine.secrets(&caller, page).await?;
    let full = found.len() == page.limit as usize;
    let next = found.last().filter(|_| full).map(|secret| secret.id.to_string());
    Ok(Json(SecretsPage { secrets: found.into_iter().map(Into::into).collect(), next }))
}

/// Keeps a secret for an agent that this server runs, such as the key of its model. What was kept for it under that name is replaced.
#[utoipa::path(post, path = "/v1/secrets", tag = "secrets", request_body = NewSecret,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 201, description = "It is kept", body = SecretView), Problems))]
pub(super) async fn secret_put(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Command { body, idempotency }: Command<NewSecret>,
) -> Result<(StatusCode, Json<SecretView>), ApiError> {
    let NewSecret { agent, name, value } = body;
    let kept = app.engine.secret_put(&caller, (agent, name), value, idempotency).await?;
    Ok((StatusCode::CREATED, Json(kept.into())))
}

/// Forgets a kept secret. People are asked for it the next time.
#[utoipa::path(delete, path = "/v1/secrets/{secret}", tag = "secrets",
    params(("secret" = String, Path, description = "`sec_…`")),
    responses((status = 204, description = "It is forgotten"), Problems))]
pub(super) async fn secret_forget(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SecretId>,
) -> Result<StatusCode, ApiError> {
    app.engine.secret_forget(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
