//! The people of a project.

use axum::Json;
use axum::extract::State;
use engine::{AddedUser, NewUser, UserChange};
use http::StatusCode;
use protocol::{EmptyBody, LinkView, UserBody, UserChangeBody, UserView, UsersPage};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::{Authenticated, Base};
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{LARGEST_PAGE, PathId, Query, limit};

/// Which people.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct UsersQuery {
    /// Where the page before ended.
    cursor: Option<String>,
    /// At most so many; 200 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Adds a person to the caller's project. An account that the tenant knows already loses its password, its links and its browsers.
#[utoipa::path(post, path = "/v1/users", tag = "people", request_body = UserBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 201, description = "The person", body = UserView), Problems))]
pub(super) async fn user_create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Command { body: UserBody { name, display, role, groups, join_keys }, idempotency }: Command<UserBody>,
) -> Result<(StatusCode, Json<UserView>), ApiError> {
    let new = NewUser { name, display, role, groups, join_keys };
    let AddedUser { user, existing } = app.engine.user_create(&caller, new, idempotency).await?;
    let view = UserView::of(user).ok_or(ApiError::Panicked)?;
    Ok((StatusCode::CREATED, Json(UserView { existing, ..view })))
}

/// Lists the people of the caller's project.
#[utoipa::path(get, path = "/v1/users", tag = "people", params(UsersQuery),
    responses((status = 200, description = "A page of the people, those included who do not belong to it any more", body = UsersPage), Problems))]
pub(super) async fn user_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<UsersQuery>,
) -> Result<Json<UsersPage>, ApiError> {
    let limit = limit(query.limit.or(Some(LARGEST_PAGE)))?;
    if query.cursor.as_deref().is_some_and(|name| !domain::text::is_identifier(name)) {
        return Err(ApiError::QueryInvalid("cursor: not a name".into()));
    }
    let found = app.engine.users(&caller, query.cursor, limit).await?;
    let next = found.last().filter(|_| found.more).map(|user| user.name.clone());
    Ok(Json(UsersPage { users: found.into_iter().filter_map(UserView::of).collect(), next }))
}

/// Changes what a person is in the caller's project. Whose role falls is signed out everywhere; the last admin stays one.
#[utoipa::path(patch, path = "/v1/users/{user}", tag = "people", request_body = UserChangeBody,
    params(("user" = String, Path, description = "The name")),
    responses((status = 200, description = "The person", body = UserView), Problems))]
pub(super) async fn user_change(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
    Command { body: UserChangeBody { role, groups, disabled }, .. }: Command<UserChangeBody>,
) -> Result<Json<UserView>, ApiError> {
    let user = app.engine.user_change(&caller, &name, UserChange { role, groups, disabled }).await?;
    Ok(Json(UserView::of(user).ok_or(ApiError::Panicked)?))
}

/// Takes a person out of the caller's project; whoever belongs nowhere any more is signed out everywhere.
#[utoipa::path(delete, path = "/v1/users/{user}", tag = "people",
    params(("user" = String, Path, description = "The name")),
    responses((status = 204, description = "The person is out"), Problems))]
pub(super) async fn user_disable(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
) -> Result<StatusCode, ApiError> {
    app.engine.user_disable(&caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a link that signs a person in once, within 15 minutes.
#[utoipa::path(post, path = "/v1/users/{user}/link", tag = "people", request_body = EmptyBody,
    params(("user" = String, Path, description = "The name"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "The link, shown this once", body = LinkView), Problems))]
pub(super) async fn user_link(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
    Base(base): Base,
    Command { body: EmptyBody {}, idempotency }: Command<EmptyBody>,
) -> Result<Json<LinkView>, ApiError> {
    let (token, expires_at) = app.engine.user_link(&caller, &name, idempotency).await?;
    let url = format!("{base}/sign-in#token={token}");
    Ok(Json(LinkView { url, expires_at }))
}
