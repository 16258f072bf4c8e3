//! Routes of API keys: create, list and revoke.

use axum::Json;
use axum::extract::State;
use domain::{AgentEnvironment, KeyId, SignedDuration};
use engine::NewKey;
use http::StatusCode;
use protocol::{KeyBody, KeyCreatedView, KeysPage};
use serde::Deserialize;
use store::Page;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{LARGEST_PAGE, PathId, Query, cursor, limit};

/// Query of the list of keys.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct KeysQuery {
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 200 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Creates a key in the caller's project. The secret is returned only once.
#[utoipa::path(post, path = "/v1/keys", tag = "keys", request_body = KeyBody,
    params(IdempotencyKey),
    responses((status = 201, description = "Key with its secret", body = KeyCreatedView), Problems))]
pub(super) async fn key_create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<KeyBody>,
) -> Result<(StatusCode, Json<KeyCreatedView>), ApiError> {
    let KeyBody { role, user, groups, expires_in_seconds, join_account, client, root } = body;
    let lifetime = expires_in_seconds.map(SignedDuration::from_secs);
    let environment = AgentEnvironment { client, root };
    let new = NewKey { role, user, groups, lifetime, join_account, environment };
    let (key, secret) = app.engine.key_create(&caller, new, idempotency).await?;
    Ok((StatusCode::CREATED, Json(KeyCreatedView { key: key.into(), secret })))
}

/// Lists the keys of the caller's project.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", params(KeysQuery),
    responses((status = 200, description = "Page of keys", body = KeysPage), Problems))]
pub(super) async fn key_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<KeysQuery>,
) -> Result<Json<KeysPage>, ApiError> {
    let limit = limit(query.limit.or(Some(LARGEST_PAGE)))?;
    let page = Page { after: cursor(query.cursor.as_deref())?, limit };
    let found = app.engine.key_list(&caller, page).await?;
    let next = found.last().filter(|_| found.more).map(|key| key.id.to_string());
    Ok(Json(KeysPage { keys: found.into_iter().map(Into::into).collect(), next }))
}

/// Revokes a key. After the reply no node accepts it.
#[utoipa::path(delete, path = "/v1/keys/{key}", tag = "keys",
    params(("key" = String, Path, description = "Identifier of the key, `key_…`")),
    responses((status = 204, description = "The key was revoked"), Problems))]
pub(super) async fn key_revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<KeyId>,
) -> Result<StatusCode, ApiError> {
    app.engine.key_revoke(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
