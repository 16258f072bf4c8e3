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

/// Figures of a project in detail.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "window_seconds": 86400,
    "ages": [{ "younger_than_seconds": 60, "open": 2 }, { "younger_than_seconds": 600, "open": 0 },
             { "younger_than_seconds": 3600, "open": 0 }, { "younger_than_seconds": 86400, "open": 1 }, { "open": 0 }],
    "times": [{ "from": "2026-11-15T10:00:00Z", "closed": { "answered": 12, "expired": 1 } }],
    "kinds": [{ "name": "approval", "closed": { "answered": 12, "expired": 1 }, "effects": { "approve": 11, "reject": 1 },
                "wait_seconds_p50": 41.2, "wait_seconds_p95": 310.0 }],
    "people": [{ "name": "alice", "closed": { "answered": 12 }, "effects": { "approve": 11, "reject": 1 },
                 "wait_seconds_p50": 41.2, "wait_seconds_p95": 310.0 }],
    "rules": [{ "name": "ask-before-changing", "closed": { "answered": 12, "expired": 1 }, "effects": { "approve": 11, "reject": 1 },
                "wait_seconds_p50": 41.2, "wait_seconds_p95": 310.0 }]
}))]
pub struct StatsDetailsView {
    /// How far back the figures go.
    pub window_seconds: i64,
    /// Open questions by age.
    pub ages: Vec<AgeView>,
    /// What was closed in each part of the window, the oldest first.
    pub times: Vec<TimeView>,
    /// What was closed by kind, the most frequent first.
    pub kinds: Vec<TallyView>,
    /// What people answered, the busiest first; of a quorum everybody who voted. At most a hundred.
    pub people: Vec<TallyView>,
    /// What was closed by the rule that had asked, the most frequent first, at most a hundred; the name is empty where no rule matched and the default asked.
    pub rules: Vec<TallyView>,
}

/// Open questions of about one age.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgeView {
    /// Younger than this, and not younger than the entry before; absent in the last one, which has all older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub younger_than_seconds: Option<i64>,
    /// How many.
    pub open: u64,
}

/// One part of the window.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TimeView {
    /// When it begins.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// Closed in it, by status.
    pub closed: BTreeMap<&'static str, u64>,
}

/// How questions ended that have something in common.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TallyView {
    /// What they have in common.
    pub name: String,
    /// How many, by status.
    pub closed: BTreeMap<&'static str, u64>,
    /// Of those that were answered, by effect.
    pub effects: BTreeMap<&'static str, u64>,
    /// How long half of them had waited at most for that answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p50: Option<f64>,
    /// How long 95 of 100 had waited at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p95: Option<f64>,
}
