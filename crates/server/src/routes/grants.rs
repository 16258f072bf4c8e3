//! Grants: listed and taken back.

use axum::Json;
use axum::extract::State;
use domain::GrantId;
use protocol::{GrantView, GrantsPage};
use serde::Deserialize;
use store::Page;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{PathId, Query, cursor, limit};

/// Which grants.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct GrantsQuery {
    /// Also those that are over.
    over: Option<bool>,
    /// Where the page before ended.
    cursor: Option<String>,
    /// At most so many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists the grants of the project, the newest first.
#[utoipa::path(get, path = "/v1/grants", tag = "grants", params(GrantsQuery),
    responses((status = 200, description = "The grants", body = GrantsPage), Problems))]
pub(super) async fn grant_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<GrantsQuery>,
) -> Result<Json<GrantsPage>, ApiError> {
    let page = Page { after: cursor(query.cursor.as_deref())?, limit: limit(query.limit)? };
    let (found, next) = app.engine.grants(&caller, query.over.unwrap_or(false), page).await?;
    let now = app.engine.now();
    Ok(Json(GrantsPage { grants: found.into_iter().map(|grant| GrantView::new(grant, now)).collect(), next }))
}

/// Takes a grant back: what it covered is asked about again.
#[utoipa::path(delete, path = "/v1/grants/{grant}", tag = "grants",
    params(("grant" = String, Path, description = "`gra_…`")),
    responses((status = 200, description = "It is taken back", body = GrantView), Problems))]
pub(super) async fn grant_revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<GrantId>,
) -> Result<Json<GrantView>, ApiError> {
    let grant = app.engine.grant_revoke(&caller, id, None).await?;
    Ok(Json(GrantView::new(grant, app.engine.now())))
}
