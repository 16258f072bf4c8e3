//! What is said on the wire: messages in, messages out.

use domain::{Choice, Effect, Interaction, InteractionId, Kind, Resolution, State, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// What a client says. Fields that are not known are passed over: the clients are older than this server.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Said {
    UserMessage(UserMessage),
    HitlDecision(Decision),
    HitlDecisions(Decisions),
    ToolResult(ToolResult),
}

/// Says something to the agent; opens the session where there is none.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(example = json!({ "content": "Add a test.", "role": "user" }))]
pub(crate) struct UserMessage {
    /// What is said.
    pub(super) content: String,
    /// `user`, if it is there at all.
    #[expect(dead_code, reason = "there is one that can be read, and nothing to make of it")]
    pub(super) role: Option<Role>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    User,
}

/// What a person decides about one call.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "decision": "reject", "feedback": "Operation too risky" }))]
pub(crate) struct Decision {
    /// Which call.
    pub(super) call_id: String,
    /// What.
    pub(super) decision: Verb,
    /// With `edit`, new arguments, whole but for what the tool cannot do without and stays; for what is no approval of a tool, the answer itself.
    #[schema(value_type = Option<Object>)]
    pub(super) modified_arguments: Option<Value>,
    /// Why, for the agent to read.
    pub(super) feedback: Option<String>,
}

/// What can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verb {
    Approve,
    Edit,
    Reject,
}

/// Many decisions; each is taken or refused on its own.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(example = json!({ "decisions": [
    { "call_id": "call_1", "decision": "approve" }, { "call_id": "call_2", "decision": "reject" }
] }))]
pub(crate) struct Decisions {
    /// At most 100.
    #[schema(value_type = Vec<Decision>, max_items = 100)]
    pub(super) decisions: Vec<Value>,
}

/// What became of a call that this client was given to run.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "result": { "bytes": 5 } }))]
pub(crate) struct ToolResult {
    /// Which call.
    pub(super) call_id: String,
    /// What came of it.
    pub(super) result: Option<Value>,
    /// Why it failed. Whatever it says, it is a failed tool and not a decision.
    pub(super) error: Option<Value>,
}

/// What the server says.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Message {
    AssistantMessage(AssistantMessage),
    ToolCall(ToolCall),
    HitlResolved(Resolved),
    HitlTimeoutWarning(Warning),
    HitlExpired(Expired),
    Error(Wrong),
}

/// A part of what the agent says.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "token": "I will ", "is_final": false }))]
pub(crate) struct AssistantMessage {
    /// What comes next.
    pub(super) token: String,
    /// Whether the turn ends here.
    pub(super) is_final: bool,
    /// Whether the model begins its turn again: what it had said of this turn is void.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) restarted: bool,
}

/// A call: with `requires_approval` people are asked about it; without, this client is to run it now.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "tool_name": "write_file",
    "arguments": { "path": "/src/main.py", "content": "…" }, "requires_approval": true, "reason": "writing needs a person",
    "created_at": "2026-11-15T10:00:00Z", "kind": "approval", "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" }))]
pub(crate) struct ToolCall {
    /// Its name: on the socket of one session as its agent calls it, on that of a channel with its session before it. It names no other.
    pub(super) call_id: String,
    /// The tool; for what is no approval of one, what is asked.
    pub(super) tool_name: String,
    /// Its arguments; for what is no approval of a tool, the question.
    #[schema(value_type = Object)]
    pub(super) arguments: Value,
    /// Whether people are asked, or this client is to run it.
    pub(super) requires_approval: bool,
    /// Why people are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) created_at: Option<Timestamp>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) expires_at: Option<Timestamp>,
    /// The kind of question in `/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    /// The question in `/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interaction: Option<String>,
    /// Who asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) asked_by: Option<String>,
}

/// How a call was decided.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "decision": "approve", "source": "user", "effect": "approve",
    "by": "alice" }))]
pub(crate) struct Resolved {
    /// Which call.
    pub(super) call_id: String,
    /// `approve`, `edit` or `reject`; `answer` where something else was asked than whether a tool may run.
    pub(super) decision: &'static str,
    /// `user`, `auto_policy` or `system`.
    pub(super) source: &'static str,
    /// The same in the words of `/v1`, which have more of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effect: Option<Effect>,
    /// Who.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) feedback: Option<String>,
}

/// The time to decide runs out.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123", "seconds_left": 60, "expires_at": "2026-11-15T10:05:00Z" }))]
pub(crate) struct Warning {
    /// Which call.
    pub(super) call_id: String,
    /// How long is left.
    pub(super) seconds_left: i64,
    /// Until when.
    #[schema(value_type = String, format = DateTime)]
    pub(super) expires_at: Timestamp,
}

/// Nobody decided in time: the call will not run.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "call_id": "call_abc123" }))]
pub(crate) struct Expired {
    /// Which call.
    pub(super) call_id: String,
}

/// Something is wrong. The connection stays.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "content": "this question is already resolved", "code": "interaction_already_resolved",
    "call_id": "call_abc123" }))]
pub(crate) struct Wrong {
    /// What, in a sentence.
    pub(super) content: String,
    /// Stable, for programs: one of `docs/errors.md`.
    pub(super) code: String,
    /// The call that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<String>,
    /// Where in the message, each with a JSON Pointer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<protocol::FieldProblem>,
}

/// What is open in a session.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "session_id": "chat-7", "count": 0, "pending_approvals": [] }))]
pub(crate) struct PendingApprovals {
    /// As the client called it.
    pub(super) session_id: String,
    /// The oldest first.
    pub(super) pending_approvals: Vec<ToolCall>,
    /// How many.
    pub(super) count: usize,
    /// Give it as `cursor` for those that come after; absent where there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(super) next: Option<InteractionId>,
}

/// A question as a call that needs approval. What is no approval of a tool is shown under its kind, with all that it asks.
pub(super) fn asking(asked: &Interaction, call_id: String) -> ToolCall {
    let question = &asked.question;
    let (tool_name, arguments) = shown(asked);
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

/// The tool and its arguments, or what stands in their place.
pub(super) fn shown(asked: &Interaction) -> (String, Value) {
    let question = &asked.question;
    match (&question.kind, &question.call) {
        (Kind::Approval, Some(action)) => (action.tool.clone(), action.arguments.clone()),
        (kind, _) => (kind.name().to_owned(), put(asked)),
    }
}

fn put(asked: &Interaction) -> Value {
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

/// How a question ended; nothing while it has not.
pub(super) fn ended(asked: &Interaction, call_id: String) -> Option<Message> {
    let State::Resolved { resolution, .. } = &asked.state else { return None };
    let (answer, source) = match resolution {
        Resolution::Expired => return Some(Message::HitlExpired(Expired { call_id })),
        Resolution::Cancelled { by, reason } => {
            return Some(Message::HitlResolved(Resolved {
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
    Some(Message::HitlResolved(Resolved {
        call_id,
        decision,
        source,
        effect: Some(answer.effect),
        by: Some(answer.by.name.clone()),
        feedback: answer.feedback.clone(),
    }))
}
