//! Views of the abstentions and the handovers of a question.

use domain::interaction::{Abstention, HandedFrom, HandedOver};
use domain::{Actor, InteractionId, SessionId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// Declaration of a person that they will not answer a question.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AbstentionView {
    /// Person who will not answer.
    pub by: Actor,
    /// Time of the abstention.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Reason for the abstention.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Destination of a question that was handed over.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HandedOverView {
    /// Identifier of the session that was opened for the question.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// Identifier of the new question in that session.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// Channel of the new question.
    pub channel: String,
    /// Person who handed the question over.
    pub by: Actor,
    /// Time of the handover.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Reason for the handover.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Origin of a question that was handed over, and of the session that was opened for it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HandedFromView {
    /// Identifier of the session of the original question.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// Identifier of the original question.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// Person who handed the question over.
    pub by: Actor,
    /// Reason for the handover.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<Abstention> for AbstentionView {
    fn from(Abstention { by, at, note }: Abstention) -> Self {
        Self { by, at, note }
    }
}

impl From<HandedOver> for HandedOverView {
    fn from(HandedOver { session, interaction, channel, by, at, note }: HandedOver) -> Self {
        Self { session, interaction, channel, by, at, note }
    }
}

impl From<HandedFrom> for HandedFromView {
    fn from(HandedFrom { session, interaction, by, note }: HandedFrom) -> Self {
        Self { session, interaction, by, note }
    }
}
