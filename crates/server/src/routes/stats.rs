//! Figures.

use axum::Json;
use axum::extract::State;
use domain::SignedDuration;
use protocol::StatsView;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Who;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Query;

/// How far back.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StatsQuery {
    /// How far back the figures go; a day if absent.
    #[param(minimum = 1, maximum = 2_592_000)]
    window_seconds: Option<i64>,
}

/// Shows what is open, and what was closed within a window.
#[utoipa::path(get, path = "/v1/stats", tag = "server", params(StatsQuery),
    responses((status = 200, description = "Figures", body = StatsView), Problems))]
pub(super) async fn stats_get(
    State(app): State<App>,
    Who(caller): Who,
    Query(query): Query<StatsQuery>,
) -> Result<Json<StatsView>, ApiError> {
    let window_seconds = query.window_seconds.unwrap_or(86_400);
    if !(1..=2_592_000).contains(&window_seconds) {
        return Err(ApiError::QueryInvalid("window_seconds: 1 to 2592000".into()));
    }
    let stats = app.engine.stats(&caller, SignedDuration::from_secs(window_seconds)).await?;
    let seconds = |micros: i64| SignedDuration::from_micros(micros).as_secs_f64();
    Ok(Json(StatsView {
        open: stats.open,
        oldest_open_at: stats.oldest_open_at,
        window_seconds,
        closed: stats.closed,
        wait_seconds_p50: stats.wait_p50.map(seconds),
        wait_seconds_p95: stats.wait_p95.map(seconds),
        deliveries_waiting: stats.deliveries_waiting,
    }))
}
