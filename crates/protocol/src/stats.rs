//! Figures on the wire.

use std::collections::BTreeMap;

use domain::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Figures of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "open": { "approval": 3 }, "oldest_open_at": "2026-11-15T10:00:00Z", "window_seconds": 86400,
    "closed": { "answered": 12, "expired": 1 }, "wait_seconds_p50": 41.2, "wait_seconds_p95": 310.0, "deliveries_waiting": 0
}))]
pub struct StatsView {
    /// Open questions by kind.
    pub open: BTreeMap<String, u64>,
    /// When the oldest open one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub oldest_open_at: Option<Timestamp>,
    /// How far back the figures below go.
    pub window_seconds: i64,
    /// Closed within the window, by status.
    pub closed: BTreeMap<String, u64>,
    /// How long half of the answered ones had waited at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p50: Option<f64>,
    /// How long 95 of 100 had waited at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p95: Option<f64>,
    /// Answers that their agents have not taken yet.
    pub deliveries_waiting: u64,
}
