//! Handing answers to agents.

use domain::{InteractionId, LeaseId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{AnswerView, InteractionView, example};

/// Takes an answer under a lease.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "lease_seconds": 60 }))]
pub struct TakeBody {
    /// How long the lease is held; 300 if absent.
    #[schema(minimum = 1, maximum = 86_400)]
    pub lease_seconds: Option<i64>,
}

/// Names a lease.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "lease": "lea_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" }))]
pub struct LeaseBody {
    /// As `take` gave it.
    #[schema(value_type = String)]
    pub lease: LeaseId,
}

/// Holds a lease for longer.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "lease": "lea_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "lease_seconds": 60 }))]
pub struct HeartbeatBody {
    /// As `take` gave it.
    #[schema(value_type = String)]
    pub lease: LeaseId,
    /// How long from now; 300 if absent.
    #[schema(minimum = 1, maximum = 86_400)]
    pub lease_seconds: Option<i64>,
}

/// Says that the agent could not go on.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "lease": "lea_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "reason": "the state is gone" }))]
pub struct FailBody {
    /// As `take` gave it.
    #[schema(value_type = String)]
    pub lease: LeaseId,
    /// Why.
    pub reason: String,
    /// Whether it is offered again; given up if absent.
    #[serde(default)]
    pub retry: bool,
}

/// What the agent goes on with.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::taken)]
pub struct TakenView {
    /// Fences every heartbeat and completion.
    #[schema(value_type = String)]
    pub lease: LeaseId,
    /// When it runs out.
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// What was said; absent if the question expired or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerView>,
    /// The whole question with its resolution.
    pub interaction: InteractionView,
    /// What the agent left when it asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_point: Option<Value>,
    /// The values of a secret question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub secrets: Option<Value>,
    /// The trace that the question was asked in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// Answers that wait for the calling agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::deliveries)]
pub struct DeliveriesPage {
    /// The oldest first. None of a session that is paused.
    pub deliveries: Vec<InteractionView>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub next: Option<InteractionId>,
}
