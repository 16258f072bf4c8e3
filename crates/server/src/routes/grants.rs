//! Routes of grants: list and revoke.

use axum::Json;
use axum::extract::State;
use domain::GrantId;
use protocol::{GrantView, GrantsPage};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{PathId, Query, page};

/// Query of the list of grants.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct GrantsQuery {
    /// Includes grants that are no longer in force.
    over: Option<bool>,
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists the grants of the project, newest first.
#[utoipa::path(get, path = "/v1/grants", tag = "grants", params(GrantsQuery),
    responses((status = 200, description = "Page of grants", body = GrantsPage), Problems))]
pub(super) async fn grant_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<GrantsQuery>,
) -> Result<Json<GrantsPage>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let (found, next) = app.engine.grant_list(&caller, query.over.unwrap_or(false), page).await?;
    let now = app.engine.now();
    Ok(Json(GrantsPage { grants: found.into_iter().map(|grant| GrantView::new(grant, now)).collect(), next }))
}

/// Revokes a grant. Calls that it covered are asked about again.
#[utoipa::path(delete, path = "/v1/grants/{grant}", tag = "grants",
    params(("grant" = String, Path, description = "Identifier of the grant, `gra_…`")),
    responses((status = 200, description = "The grant was revoked", body = GrantView), Problems))]
pub(super) async fn grant_revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<GrantId>,
) -> Result<Json<GrantView>, ApiError> {
    let grant = app.engine.grant_revoke(&caller, id, None).await?;
    Ok(Json(GrantView::new(grant, app.engine.now())))
}
