//! The doors through which things are done, and the time to answer that belongs to some of them.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::Kind;

/// A door through which things are done.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Wire))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryPoint {
    /// A request to `/v1`, or to the page.
    Http,
    /// A message on the WebSocket of `/v1`.
    Ws,
    /// The wire of flows (seed 000).
    Flows,
    /// The wire of requests of four types (seed 001).
    Hitl,
    /// The WebSocket of tool approval (seeds 002 and 003).
    #[serde(rename = "tools")]
    Approvals,
    /// The wire of conversations that pause (seed 004).
    React,
    /// A command on the machine that holds the data.
    Cli,
    /// Nobody: a deadline, a lease that ran out.
    Timer,
    /// A worker that runs one of our own agents.
    Worker,
    /// Nobody: what the endpoint of a webhook replied.
    Webhook,
}

/// What its sources call the default time to answer.
const FIVE_MINUTES: SignedDuration = SignedDuration::from_mins(5);

impl EntryPoint {
    /// How long people have for what is asked on this wire, where nobody has said: its own source's figure, if that has one.
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
