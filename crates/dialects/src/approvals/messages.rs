//! The messages of the socket, in both directions, and how questions become messages.

use domain::{Choice, Effect, Interaction, InteractionId, Kind, Resolution, State, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A message of a client. Unknown fields are ignored, because existing clients send some.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ClientMessage {
    UserMessage(UserMessage),
    HitlDecision(DecisionMessage),
    HitlDecisions(Decisions),
    ToolResult(ToolResult),
}

/// Sends a message to the agent. Starts a session if none listens.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(example = json!({ "content": "Add a test.", "role": "user" }))]
pub(crate) struct UserMessage {
    /// Text of the message.
    pub(super) content: String,
    /// Must be `user` if present.
    #[expect(dead_code, reason = "parsing the field checks its value, which is not used")]
    pub(super) role: Option<MessageRole>,
}

/// Author of a message.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Role)]
pub(crate) enum MessageRole {
    User,
}

/// Decision of a person about one call.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(as = Decision, example = json!({ "call_id": "call_abc123", "decision": "reject", "feedback": "Operation too risky" }))]
pub(crate) struct DecisionMessage {
    /// Identifier of the call, as the `tool_call` message named it.
    pub(super) call_id: String,
    /// Decision of the person.
    pub(super) decision: Verb,
    /// With `edit`, the new arguments; required arguments of the tool that are left out keep their values. For a question that is not a tool approval, the answer.
    #[schema(value_type = Option<Object>)]
    pub(super) modified_arguments: Option<Value>,
    /// Reason, for the agent.
    pub(super) feedback: Option<String>,
}

/// Decision that a person can make about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verb {
    Approve,
    Edit,
    Reject,
}

/// Several decisions. Each is accepted or refused on its own.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(example = json!({ "decisions": [
    { "call_id": "call_1", "decision": "approve" }, { "call_id": "call_2", "decision": "reject" }
] }))]
pub(crate) struct Decisions {
    /// Between 1 and 100 decisions.
    #[schema(value_type = Vec<DecisionMessage>, max_items = 100)]
    pub(super) decisions: Vec<Value>,
}

/// Outcome of a call that this client was given to run.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "result": { "bytes": 5 } }))]
pub(crate) struct ToolResult {
    /// Identifier of the call, as the `tool_call` message named it.
    pub(super) call_id: String,
    /// Result of the tool.
    pub(super) result: Option<Value>,
    /// Error of the tool. It always means that the tool failed, never that a person rejected the call.
    pub(super) error: Option<Value>,
}

/// A message of the server.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ServerMessage {
    AssistantMessage(AssistantMessage),
    ToolCall(ToolCall),
    HitlResolved(Resolved),
    HitlTimeoutWarning(Warning),
    HitlExpired(Expired),
    Error(ErrorMessage),
}

/// Part of the text of the agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "token": "I will ", "is_final": false }))]
pub(crate) struct AssistantMessage {
    /// The next piece of text.
    pub(super) token: String,
    /// Whether this is the end of the turn.
    pub(super) is_final: bool,
    /// Whether the model starts its turn again. Text sent before in this turn is void.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) restarted: bool,
}

/// A tool call. With `requires_approval`, people have to decide on it; without, this client has to run it now.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "tool_name": "write_file",
    "arguments": { "path": "/src/main.py", "content": "…" }, "requires_approval": true, "reason": "Writing a file needs approval.",
    "created_at": "2026-11-15T10:00:00Z", "kind": "approval", "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" }))]
pub(crate) struct ToolCall {
    /// Identifier of the call: the agent's own on the socket of one session, prefixed with the session on the socket of a channel. It is never reused.
    pub(super) call_id: String,
    /// Name of the tool. For a question that is not a tool approval, its kind.
    pub(super) tool_name: String,
    /// Arguments of the tool. For a question that is not a tool approval, the question.
    #[schema(value_type = Object)]
    pub(super) arguments: Value,
    /// `true` if people have to decide, `false` if this client has to run the call.
    pub(super) requires_approval: bool,
    /// Reason why people are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Time when the question was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) created_at: Option<Timestamp>,
    /// Deadline of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) expires_at: Option<Timestamp>,
    /// Kind of the question in `/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    /// Identifier of the question in `/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interaction: Option<String>,
    /// Name of the agent that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) asked_by: Option<String>,
}

/// Decision on a call.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "decision": "approve", "source": "user", "effect": "approve",
    "by": "alice" }))]
pub(crate) struct Resolved {
    /// Identifier of the call, as the `tool_call` message named it.
    pub(super) call_id: String,
    /// `approve`, `edit` or `reject`; `answer` for a question that is not a tool approval.
    pub(super) decision: &'static str,
    /// `user`, `auto_policy` or `system`.
    pub(super) source: &'static str,
    /// Effect of the answer in `/v1`, which distinguishes more cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effect: Option<Effect>,
    /// Name of the person who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
    /// Reason of the person, for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) feedback: Option<String>,
}

/// Warning that the deadline is near.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "seconds_left": 60, "expires_at": "2026-11-15T10:05:00Z" }))]
pub(crate) struct Warning {
    /// Identifier of the call, as the `tool_call` message named it.
    pub(super) call_id: String,
    /// Seconds until the deadline.
    pub(super) seconds_left: i64,
    /// Deadline of the question.
    #[schema(value_type = String, format = DateTime)]
    pub(super) expires_at: Timestamp,
}

/// The deadline passed without a decision. The call will not run.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123" }))]
pub(crate) struct Expired {
    /// Identifier of the call, as the `tool_call` message named it.
    pub(super) call_id: String,
}

/// An error. The connection stays open.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Wrong, example = json!({ "content": "this question is already resolved", "code": "interaction_already_resolved",
    "call_id": "call_abc123" }))]
pub(crate) struct ErrorMessage {
    /// Description of the error.
    pub(super) content: String,
    /// Error code, one of those in `docs/errors.md`.
    pub(super) code: String,
    /// Identifier of the call that the error is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<String>,
    /// Invalid fields of the message, each with a JSON Pointer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<protocol::FieldProblem>,
}

/// Pending approvals of a session or channel.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "session_id": "chat-7", "count": 0, "pending_approvals": [] }))]
pub(crate) struct PendingApprovals {
    /// Name of the session or channel, as in the request.
    pub(super) session_id: String,
    /// Calls that wait for approval, oldest first.
    pub(super) pending_approvals: Vec<ToolCall>,
    /// Number of entries on this page.
    pub(super) count: usize,
    /// Value of `cursor` for the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(super) next: Option<InteractionId>,
}

/// Renders a question as a call that needs approval. A question that is not a tool approval is shown under its kind,
/// with its fields as arguments.
pub(super) fn approval_request(asked: &Interaction, call_id: String) -> ToolCall {
    let question = &asked.question;
    let (tool_name, arguments) = tool_and_arguments(asked);
    ToolCall {
        call_id,
        tool_name,
        arguments,
        requires_approval: true,
        reason: question.message.clone(),
        created_at: Some(asked.origin.at),
        expires_at: question.deadline,
        kind: Some(question.kind.name().to_owned()),
        interaction: Some(asked.id.to_string()),
        asked_by: Some(asked.origin.asked_by.name.clone()),
    }
}

/// The tool and its arguments, or the kind and the fields of another question.
pub(super) fn tool_and_arguments(asked: &Interaction) -> (String, Value) {
    let question = &asked.question;
    match (&question.kind, &question.call) {
        (Kind::Approval, Some(call)) => (call.tool.clone(), call.arguments.clone()),
        (kind, _) => (kind.name().to_owned(), question_arguments(asked)),
    }
}

fn question_arguments(asked: &Interaction) -> Value {
    let question = &asked.question;
    let option = |option: &Choice| json!({ "id": option.id, "label": option.label, "effect": option.effect });
    let options: Vec<Value> = question.options.iter().map(option).collect();
    let secrets: Vec<&str> = question.secrets.iter().map(|secret| secret.name.as_str()).collect();
    json!({
        "title": question.title,
        "message": question.message,
        "action": question.call,
        "options": options,
        "schema": question.schema,
        "secrets": secrets,
    })
}

/// Renders the end of a question; `None` while it is open.
pub(super) fn resolved_message(asked: &Interaction, call_id: String) -> Option<ServerMessage> {
    let State::Resolved { resolution, .. } = &asked.state else { return None };
    let (answer, source) = match resolution {
        Resolution::Expired => return Some(ServerMessage::HitlExpired(Expired { call_id })),
        Resolution::Cancelled { by, reason } => {
            return Some(ServerMessage::HitlResolved(Resolved {
                call_id,
                decision: "reject",
                source: "system",
                effect: None,
                by: Some(by.name.clone()),
                feedback: Some(reason.clone()),
            }));
        }
        Resolution::Answered { answer, .. } => (answer, "user"),
        Resolution::AutoResolved { answer, source, .. } => (
            answer,
            match source {
                domain::AutoSource::AutoPolicy => "auto_policy",
                domain::AutoSource::System => "system",
            },
        ),
    };
    let decision = match answer.effect {
        Effect::Approve => "approve",
        Effect::Edit => "edit",
        Effect::Reject | Effect::Retry | Effect::Terminate | Effect::Skip => "reject",
        Effect::Provide | Effect::Custom => "answer",
    };
    Some(ServerMessage::HitlResolved(Resolved {
        call_id,
        decision,
        source,
        effect: Some(answer.effect),
        by: Some(answer.by.name.clone()),
        feedback: answer.feedback.clone(),
    }))
}
