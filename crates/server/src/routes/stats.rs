//! Routes of the statistics of a project.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use domain::{Effect, SignedDuration, Status};
use engine::Tally;
use protocol::{AgeView, StatsDetailsView, StatsView, TallyView, TimeView};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Query;

/// Query of the statistics.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StatsQuery {
    /// Length of the window in seconds; a day if absent.
    #[param(minimum = 1, maximum = 2_592_000)]
    window_seconds: Option<i64>,
}

/// Returns the number of open questions, and of questions closed within a window.
#[utoipa::path(get, path = "/v1/stats", tag = "server", params(StatsQuery),
    responses((status = 200, description = "Stats of the project", body = StatsView), Problems))]
pub(super) async fn stats_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<StatsQuery>,
) -> Result<Json<StatsView>, ApiError> {
    let window_seconds = window(query.window_seconds)?;
    let stats = app.engine.stats_get(&caller, SignedDuration::from_secs(window_seconds)).await?;
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

/// Query of the detailed statistics.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StatsDetailsQuery {
    /// Length of the window in seconds; a day if absent.
    #[param(minimum = 1, maximum = 2_592_000)]
    window_seconds: Option<i64>,
    /// Number of parts into which the window is divided; 24 if absent.
    #[param(minimum = 1, maximum = 200)]
    parts: Option<u32>,
}

/// Returns open questions by age, and questions closed within a window by time, kind, person and rule.
#[utoipa::path(get, path = "/v1/stats/details", tag = "server", params(StatsDetailsQuery),
    responses((status = 200, description = "Stats of the project in detail", body = StatsDetailsView), Problems))]
pub(super) async fn stats_details(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<StatsDetailsQuery>,
) -> Result<Json<StatsDetailsView>, ApiError> {
    let window_seconds = window(query.window_seconds)?;
    let parts = query.parts.unwrap_or(24);
    if !(1..=200).contains(&parts) {
        return Err(ApiError::QueryInvalid("parts: 1 to 200".into()));
    }
    let details = app.engine.stats_details(&caller, SignedDuration::from_secs(window_seconds), parts).await?;
    let age = |(younger_than_seconds, open)| AgeView { younger_than_seconds, open };
    Ok(Json(StatsDetailsView {
        window_seconds,
        ages: details.ages.into_iter().map(age).collect(),
        times: details
            .times
            .into_iter()
            .map(|(from, closed)| TimeView { from, closed: by_name(closed, Status::name) })
            .collect(),
        kinds: details.kinds.into_iter().map(tally).collect(),
        people: details.people.into_iter().map(tally).collect(),
        rules: details.rules.into_iter().map(tally).collect(),
    }))
}

fn window(seconds: Option<i64>) -> Result<i64, ApiError> {
    match seconds.unwrap_or(86_400) {
        seconds if (1..=2_592_000).contains(&seconds) => Ok(seconds),
        _ => Err(ApiError::QueryInvalid("window_seconds: 1 to 2592000".into())),
    }
}

fn tally((name, tally): (String, Tally)) -> TallyView {
    TallyView {
        name,
        closed: by_name(tally.closed, Status::name),
        effects: by_name(tally.effects, Effect::name),
        wait_seconds_p50: tally.wait_p50.map(seconds),
        wait_seconds_p95: tally.wait_p95.map(seconds),
    }
}

/// Converts counts by state into counts by the name of the state in JSON.
fn by_name<T>(counts: BTreeMap<T, u64>, name: impl Fn(T) -> &'static str) -> BTreeMap<&'static str, u64> {
    counts.into_iter().map(|(state, count)| (name(state), count)).collect()
}

fn seconds(micros: i64) -> f64 {
    SignedDuration::from_micros(micros).as_secs_f64()
}
