//! What people do about a question instead of answering it: hand it over, or abstain.

use domain::interaction::{Abstention, HandedFrom, HandedOver};
use domain::{Actor, InteractionId, SessionId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// Who will not answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AbstentionView {
    /// Who.
    pub by: Actor,
    /// When they said so.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where a question went.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HandedOverView {
    /// The session that was opened for it.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The question that it became there.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// The channel that the new one is routed through.
    pub channel: String,
    /// Who handed it over.
    pub by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where a question, and the session that was opened for it, came from.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HandedFromView {
    /// The session of the first.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The first.
    #[schema(value_type = String)]
    pub interaction: InteractionId,
    /// Who handed it over.
    pub by: Actor,
    /// Why.
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
