//! Views of the stats of a project.

use std::collections::BTreeMap;

use domain::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Stats of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "open": { "approval": 3 }, "oldest_open_at": "2026-11-15T10:00:00Z", "window_seconds": 86400,
    "closed": { "answered": 12, "expired": 1 }, "wait_seconds_p50": 41.2, "wait_seconds_p95": 310.0, "deliveries_waiting": 0
}))]
pub struct StatsView {
    /// Number of open questions by kind.
    pub open: BTreeMap<String, u64>,
    /// Time at which the oldest open question was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub oldest_open_at: Option<Timestamp>,
    /// Length in seconds of the window that the values below cover.
    pub window_seconds: i64,
    /// Number of questions that were closed in the window, by status.
    pub closed: BTreeMap<String, u64>,
    /// Median waiting time in seconds of the answered questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p50: Option<f64>,
    /// 95th percentile of the waiting time in seconds of the answered questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p95: Option<f64>,
    /// Number of answers that their agents have not taken yet.
    pub deliveries_waiting: u64,
}

/// Detailed stats of a project.
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
    /// Length of the window in seconds.
    pub window_seconds: i64,
    /// Open questions by age.
    pub ages: Vec<AgeView>,
    /// Closed questions for each part of the window, oldest first.
    pub times: Vec<TimeView>,
    /// Closed questions by kind, most frequent first.
    pub kinds: Vec<TallyView>,
    /// Answers by person, most active first, at most 100. With a quorum every voter is counted.
    pub people: Vec<TallyView>,
    /// Closed questions by the rule that asked, most frequent first, at most 100. The name is empty if no rule matched and the default of
    /// the policy asked.
    pub rules: Vec<TallyView>,
}

/// Open questions of one range of age.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgeView {
    /// Upper bound of the age, exclusive; the lower bound is the upper bound of the preceding entry. Absent in the last entry, which counts
    /// all older questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub younger_than_seconds: Option<i64>,
    /// Number of open questions.
    pub open: u64,
}

/// One part of the window.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TimeView {
    /// Start of this part.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// Number of questions that were closed in this part, by status.
    pub closed: BTreeMap<&'static str, u64>,
}

/// Closed questions of one kind, person or rule.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TallyView {
    /// Name of the kind, person or rule.
    pub name: String,
    /// Number of closed questions by status.
    pub closed: BTreeMap<&'static str, u64>,
    /// Number of answered questions by effect of the answer.
    pub effects: BTreeMap<&'static str, u64>,
    /// Median waiting time in seconds of the answered questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p50: Option<f64>,
    /// 95th percentile of the waiting time in seconds of the answered questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p95: Option<f64>,
}
