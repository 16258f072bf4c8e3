//! The messages of `/ws/{session}`, as the AsyncAPI document describes them.

use server::{Channel, MessageType};
use utoipa::OpenApi;

use super::messages;

/// Types of the messages.
#[derive(OpenApi)]
#[openapi(components(schemas(
    messages::AssistantMessage,
    messages::DecisionMessage,
    messages::Decisions,
    messages::Expired,
    messages::Resolved,
    messages::ToolCall,
    messages::ToolResult,
    messages::UserMessage,
    messages::Warning,
    messages::ErrorMessage,
)))]
struct Types;

/// Messages that clients send.
const RECEIVED: [MessageType; 4] = [
    MessageType::new("user_message", "UserMessage", "Send a message to the agent"),
    MessageType::new("hitl_decision", "Decision", "Decide about a call"),
    MessageType::new("hitl_decisions", "Decisions", "Decide about many calls, each on its own"),
    MessageType::new("tool_result", "ToolResult", "Report the outcome of a call that this client was given to run"),
];

/// Messages that the server sends.
const SENT: [MessageType; 6] = [
    MessageType::new("assistant_message", "AssistantMessage", "Part of a message of the agent"),
    MessageType::new("tool_call", "ToolCall", "A call that people are asked about, or that this client is to run now"),
    MessageType::new("hitl_resolved", "Resolved", "How a call was decided"),
    MessageType::new("hitl_timeout_warning", "Warning", "The deadline is near"),
    MessageType::new("hitl_expired", "Expired", "The deadline passed without a decision"),
    MessageType::new("error", "Wrong", "An error; the connection stays open"),
];

/// The channel that `approvals_open` opens.
pub(crate) fn channel() -> Channel {
    Channel {
        name: "approvals",
        address: "/ws/{session}",
        parameters: &[("session", "`ses_…`, its UUID, or the name of a channel")],
        received: &RECEIVED,
        sent: &SENT,
        types: Types::openapi(),
        replies: false,
    }
}
