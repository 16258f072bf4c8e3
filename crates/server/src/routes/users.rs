//! Routes of the people of a project.

use axum::Json;
use axum::extract::State;
use engine::{AddedUser, NewUser, UserChange};
use http::StatusCode;
use protocol::{EmptyBody, LinkView, UserBody, UserChangeBody, UserView, UsersPage};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::{Authenticated, Base};
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{LARGEST_PAGE, PathId, Query, limit};

/// Query of the list of people.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct UsersQuery {
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 200 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Adds a person to the caller's project. An account that the tenant has already loses its password, its links and its signed-in browsers.
#[utoipa::path(post, path = "/v1/users", tag = "people", request_body = UserBody,
    params(IdempotencyKey),
    responses((status = 201, description = "Person who was added", body = UserView), Problems))]
pub(super) async fn user_create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: UserBody { name, display, role, groups, join_keys }, idempotency }: CommandRequest<UserBody>,
) -> Result<(StatusCode, Json<UserView>), ApiError> {
    let new = NewUser { name, display, role, groups, join_keys };
    let AddedUser { user, existing } = app.engine.user_create(&caller, new, idempotency).await?;
    let view = UserView::of(user).ok_or(ApiError::Panicked)?;
    Ok((StatusCode::CREATED, Json(UserView { existing, ..view })))
}

/// Lists the people of the caller's project.
#[utoipa::path(get, path = "/v1/users", tag = "people", params(UsersQuery),
    responses((status = 200, description = "A page of people, including those who were removed from the project", body = UsersPage), Problems))]
pub(super) async fn user_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<UsersQuery>,
) -> Result<Json<UsersPage>, ApiError> {
    let limit = limit(query.limit.or(Some(LARGEST_PAGE)))?;
    if query.cursor.as_deref().is_some_and(|name| !domain::text::is_identifier(name)) {
        return Err(ApiError::QueryInvalid("cursor: not a name".into()));
    }
    let found = app.engine.user_list(&caller, query.cursor, limit).await?;
    let next = found.last().filter(|_| found.more).map(|user| user.name.clone());
    Ok(Json(UsersPage { users: found.into_iter().filter_map(UserView::of).collect(), next }))
}

/// Changes a person of the caller's project. A person who loses rights is signed out everywhere; the last admin cannot lose the role.
#[utoipa::path(patch, path = "/v1/users/{user}", tag = "people", request_body = UserChangeBody,
    params(("user" = String, Path, description = "Name of the person")),
    responses((status = 200, description = "Person after the change", body = UserView), Problems))]
pub(super) async fn user_change(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
    CommandRequest { body: UserChangeBody { role, groups, disabled }, .. }: CommandRequest<UserChangeBody>,
) -> Result<Json<UserView>, ApiError> {
    let user = app.engine.user_change(&caller, &name, UserChange { role, groups, disabled }).await?;
    Ok(Json(UserView::of(user).ok_or(ApiError::Panicked)?))
}

/// Removes a person from the caller's project. A person without a project is signed out everywhere.
#[utoipa::path(delete, path = "/v1/users/{user}", tag = "people",
    params(("user" = String, Path, description = "Name of the person")),
    responses((status = 204, description = "The person was removed"), Problems))]
pub(super) async fn user_disable(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
) -> Result<StatusCode, ApiError> {
    app.engine.user_disable(&caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Creates a link that signs a person in once, within 15 minutes.
#[utoipa::path(post, path = "/v1/users/{user}/link", tag = "people", request_body = EmptyBody,
    params(("user" = String, Path, description = "Name of the person"), IdempotencyKey),
    responses((status = 200, description = "The link, returned only once", body = LinkView), Problems))]
pub(super) async fn user_link(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
    Base(base): Base,
    CommandRequest { body: EmptyBody {}, idempotency }: CommandRequest<EmptyBody>,
) -> Result<Json<LinkView>, ApiError> {
    let (token, expires_at) = app.engine.user_link(&caller, &name, idempotency).await?;
    let url = format!("{base}/sign-in#token={token}");
    Ok(Json(LinkView { url, expires_at }))
}
