//! Request bodies and views for the delivery of answers to agents.

use domain::{InteractionId, LeaseId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{AnswerView, InteractionView, example};

/// Request to take an answer under a lease.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "lease_seconds": 60 }))]
pub struct TakeBody {
    /// Duration of the lease in seconds; 300 if absent.
    #[schema(minimum = 1, maximum = 86_400)]
    pub lease_seconds: Option<i64>,
}

/// Request that refers to a lease.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "lease": "lea_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" }))]
pub struct LeaseBody {
    /// Identifier of the lease that `take` returned.
    #[schema(value_type = String)]
    pub lease: LeaseId,
}

/// Request to extend a lease.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "lease": "lea_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "lease_seconds": 60 }))]
pub struct HeartbeatBody {
    /// Identifier of the lease that `take` returned.
    #[schema(value_type = String)]
    pub lease: LeaseId,
    /// Duration of the lease in seconds from now; 300 if absent.
    #[schema(minimum = 1, maximum = 86_400)]
    pub lease_seconds: Option<i64>,
}

/// Report that the agent could not continue with the answer.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "lease": "lea_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "reason": "the state is gone" }))]
pub struct FailBody {
    /// Identifier of the lease that `take` returned.
    #[schema(value_type = String)]
    pub lease: LeaseId,
    /// Reason for the failure.
    pub reason: String,
    /// Whether the answer is offered again. If `false` or absent, the delivery ends as failed.
    #[serde(default)]
    pub retry: bool,
}

/// Answer that an agent has taken, with the data that it needs to continue.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::taken)]
pub struct TakenView {
    /// Identifier of the lease. Every heartbeat, completion and failure must send it.
    #[schema(value_type = String)]
    pub lease: LeaseId,
    /// Time at which the lease expires.
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// The answer; absent if the question expired or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerView>,
    /// The question with its resolution.
    pub interaction: InteractionView,
    /// State that the agent sent as `resume_point` when it asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_point: Option<Value>,
    /// Values of a secret question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub secrets: Option<Value>,
    /// W3C trace context in which the question was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// A page of answers that wait for the calling agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::deliveries)]
pub struct DeliveriesPage {
    /// Questions with waiting answers, oldest first. Questions of paused sessions are left out.
    pub deliveries: Vec<InteractionView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub next: Option<InteractionId>,
}
