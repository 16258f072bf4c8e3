//! The entry points through which commands come in, and the default time to answer of the dialects.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::Kind;

/// The interface, or the internal source, through which a command came in. Recorded with answers and in the audit trail.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Wire))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryPoint {
    /// A request to `/v1`, or to the page.
    Http,
    /// A message on the WebSocket of `/v1`.
    Ws,
    /// The API of the dialect `flows`.
    Flows,
    /// The dialect `hitl`: requests of four types.
    Hitl,
    /// The dialect `approvals`: tool approvals over a WebSocket. Its stored name is `tools`.
    #[serde(rename = "tools")]
    Approvals,
    /// The dialect `react`: conversations that pause for an answer.
    React,
    /// A command of the CLI on the machine that holds the data.
    Cli,
    /// A timer: a deadline that passed or a lease that ran out.
    Timer,
    /// A worker that runs a hosted agent.
    Worker,
    /// The reply of a webhook endpoint.
    Webhook,
}

/// Default time to answer of the dialects `hitl` and `approvals`.
const FIVE_MINUTES: SignedDuration = SignedDuration::from_mins(5);

impl EntryPoint {
    /// Default time to answer a question of this kind that was asked here. `None` if the entry point has no default of its own.
    #[must_use]
    pub const fn time_to_answer(self, kind: &Kind) -> Option<SignedDuration> {
        match (self, kind) {
            (Self::Hitl, Kind::Approval) => Some(SignedDuration::from_mins(1)),
            (Self::Hitl | Self::Approvals, _) => Some(FIVE_MINUTES),
            (Self::Flows, Kind::Form) => Some(SignedDuration::from_mins(30)),
            _ => None,
        }
    }
}
