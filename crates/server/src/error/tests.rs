//! Tests of refusals: their status codes, and what they do not reveal.

use super::*;

/// Errors of a store go to the log only: they name tables, files, addresses and statements.
#[tokio::test]
async fn error_responses_reveal_no_internal_details() {
    let inside = || "relation holdpoint.interactions at 10.0.0.7:5432, /var/lib/holdpoint".to_owned();
    let errors = [
        StoreError::Unavailable(inside()),
        StoreError::Newer(inside()),
        StoreError::Diverged(inside()),
        StoreError::InUse(inside()),
        StoreError::Exists(inside()),
        StoreError::Corrupt(inside()),
        StoreError::Panicked,
        StoreError::InDoubt,
    ];
    for error in errors {
        let said = format!("{error:?}");
        let response = ApiError::from(Error::from(error)).into_response();
        assert!(response.status().is_server_error(), "{said}");
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        for part in ["relation", "10.0.0.7", "/var/lib", "Corrupt", "panick"] {
            assert!(!body.contains(part), "{said}: {body}");
        }
    }
}

/// Every refusal by a limit, whatever its code, names the limit and its value, says how to change it, and is counted.
#[test]
fn a_refusal_by_limit_names_its_limit_and_is_counted() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let refusals = [
        ("too_many_open", "session_open_questions", Some(7), ApiError::from(Refusal::TooManyOpen { most: 7 })),
        ("rate_limited", "key_requests", Some(7), ApiError::RateLimited(7)),
        ("rate_limited", "sign_ins", Some(7), ApiError::TooManySignIns(7)),
        ("too_many_streams", "node_streams", Some(7), ApiError::TooManyStreams(7)),
        ("too_many_subscriptions", "socket_subscriptions", Some(7), ApiError::TooManySubscriptions(7)),
        // Several queues have a length of their own.
        ("busy", "node_queue", None, ApiError::from(Error::from(StoreError::Busy))),
        (
            "limit_reached",
            "tenant_open_bytes",
            Some(7),
            ApiError::from(Refusal::LimitReached { limit: Limit::TenantOpenBytes, max: 7 }),
        ),
    ];
    metrics::with_local_recorder(&recorder, || {
        for (code, limit, max, refusal) in refusals {
            let body = refusal.log();
            assert_eq!((body.code.as_str(), body.limit.as_deref(), body.max), (code, Some(limit), max));
            assert!(body.detail.is_some_and(|detail| detail.contains(limit)), "{code}");
            let sample = format!("flow_limit_refusals_total{{limit=\"{limit}\"}} 1");
            assert!(recorder.handle().render().contains(&sample), "{code}");
        }
    });
}
