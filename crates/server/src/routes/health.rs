//! Health checks and metrics for Prometheus. These operations need no credential and reveal no names.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use domain::KindName;
use http::StatusCode;
use store::StepCounts;
use tokio::time::Instant;

use crate::App;
use crate::error::ApiError;

/// Reports that the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "server", security(()),
    responses((status = 200, description = "The process is alive", body = String, example = json!("ok\n"))))]
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Reports whether requests can be served: the store replies and the server is not stopping.
#[utoipa::path(get, path = "/readyz", tag = "server", security(()),
    responses((status = 200, description = "Requests can be served", body = String, example = json!("ready\n")),
              (status = 503, description = "Requests cannot be served", body = String)))]
pub(super) async fn readyz(State(app): State<App>) -> (StatusCode, &'static str) {
    if *app.stopping.borrow() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    match app.engine.ready().await {
        Ok(()) if app.engine.audit_unchained_at_start() > 0 => {
            (StatusCode::OK, "ready; audit entries have no place in their chain: run `holdpoint database adopt`\n")
        }
        Ok(()) => (StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n")
        }
    }
}

/// Returns metrics in the Prometheus text format.
#[utoipa::path(get, path = "/metrics", tag = "server", security(()),
    responses((status = 200, description = "Metrics in the Prometheus text format", body = String,
               example = json!("flow_interaction_open{kind=\"approval\"} 3\n"))))]
pub(super) async fn metrics(State(app): State<App>) -> Result<String, ApiError> {
    let mut counted = app.counted.lock().await;
    if counted.is_none_or(|(at, took)| may_count_again(at.elapsed(), took)) {
        let begun = Instant::now();
        count_open(&app).await?;
        *counted = Some((Instant::now(), begun.elapsed()));
    }
    drop(counted);
    app.metrics.run_upkeep();
    Ok(app.metrics.render())
}

/// Counting many open questions is slow, and this operation needs no credential: at most a tenth of the time is spent
/// on it.
const REST: u32 = 9;
/// A count that takes less time than this is repeated for each request.
const QUICK: Duration = Duration::from_millis(20);

/// Whether to count again, `since` after a count that took `took`.
fn may_count_again(since: Duration, took: Duration) -> bool {
    took < QUICK || since >= took * REST
}

async fn count_open(app: &App) -> Result<(), ApiError> {
    let mut open: BTreeMap<&str, u64> = BTreeMap::new();
    for count in app.engine.open_counts().await? {
        *open.entry(count.kind.as_str()).or_default() += count.count;
    }
    // All kinds, so that the gauge of a kind without open questions returns to zero.
    for kind in KindName::ALL.map(KindName::as_str) {
        let count = open.get(kind).copied().unwrap_or(0);
        // Exact up to 2^53 questions.
        metrics::gauge!("flow_interaction_open", "kind" => kind).set(count as f64);
    }
    let (waiting, age) = app.engine.backlog().await?;
    metrics::gauge!("flow_delivery_waiting").set(waiting as f64);
    metrics::gauge!("flow_delivery_waiting_age_seconds").set(age.as_secs_f64().max(0.0));
    let StepCounts { running, due, resting, waiting } = app.engine.step_counts().await?;
    for (state, count) in [("running", running), ("due", due), ("resting", resting), ("waiting", waiting)] {
        metrics::gauge!("flow_steps_open", "state" => state).set(count as f64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_is_repeated_after_nine_times_its_duration() {
        let check = |since: u64, took: u64, again: bool| {
            let found = may_count_again(Duration::from_millis(since), Duration::from_millis(took));
            assert_eq!(found, again, "{since} ms after a count of {took} ms");
        };
        check(0, 0, true);
        check(0, 19, true);
        check(0, 20, false);
        check(179, 20, false);
        check(180, 20, true);
        check(8_999, 1_000, false);
        check(9_000, 1_000, true);
    }
}
