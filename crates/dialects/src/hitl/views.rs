//! Requests as this dialect shows them.

use domain::{
    ActionState, Choice, Delivery, Interaction, InteractionId, Kind, ProjectId, Question, Resolution, SecretField,
    State, StepId, TenantId, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::object;

/// Type of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HitlType {
    /// Answered with a text or one of the options.
    Clarification,
    /// Answered with one or several options.
    Decision,
    /// Answered with named values.
    EnvVar,
    /// Answered with yes or no.
    Permission,
}

impl HitlType {
    /// Type of a question; the nearest one for kinds that this dialect does not have.
    pub(super) const fn of(question: &Question) -> Self {
        match &question.kind {
            Kind::Approval | Kind::Confirmation => Self::Permission,
            Kind::Choice | Kind::Review => Self::Decision,
            Kind::Form | Kind::Secret => Self::EnvVar,
            Kind::Question | Kind::Notice => Self::Clarification,
            Kind::Custom(_) if question.schema.is_some() => Self::EnvVar,
            Kind::Custom(_) if question.options.is_empty() => Self::Clarification,
            Kind::Custom(_) => Self::Decision,
        }
    }

    /// Name of the type in JSON.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Clarification => "clarification",
            Self::Decision => "decision",
            Self::EnvVar => "env_var",
            Self::Permission => "permission",
        }
    }
}

/// Status of a request, from its resolution and its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HitlStatus {
    /// The request waits for a person.
    Pending,
    /// A person has responded; the agent has not taken the response.
    Answered,
    /// The agent is working on the response.
    Processing,
    /// The agent has processed the response.
    Completed,
    /// The deadline passed without a response, and there was no default.
    Timeout,
    /// The request was cancelled.
    Cancelled,
}

impl HitlStatus {
    /// Status of a question. `action` is the state of the action that the question decides, if there is one.
    pub(super) fn of(interaction: &Interaction, action: Option<(&ActionState, Timestamp)>) -> Self {
        let State::Resolved { resolution, delivery, .. } = &interaction.state else { return Self::Pending };
        match (resolution, delivery) {
            (Resolution::Expired, _) => Self::Timeout,
            (Resolution::Cancelled { .. }, _) => Self::Cancelled,
            (_, Delivery::Processing { .. }) => Self::Processing,
            (_, Delivery::Completed { .. }) => Self::Completed,
            // A failed delivery was not processed; the reason is in the metadata.
            (_, Delivery::Waiting { .. } | Delivery::Failed { .. }) => Self::Answered,
            (_, Delivery::NotNeeded) => match action {
                Some((ActionState::Waiting { .. }, _)) => Self::Answered,
                Some((ActionState::Allowed { permit }, now)) if now < permit.expires_at => Self::Answered,
                Some((ActionState::Started { .. }, _)) => Self::Processing,
                Some(_) | None => Self::Completed,
            },
        }
    }
}

/// A request for a person.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = request)]
pub(super) struct HitlRequestView {
    /// Identifier of the request.
    #[schema(value_type = String)]
    id: InteractionId,
    /// Conversation of the request.
    conversation_id: String,
    /// Identifier of the step that asked.
    #[schema(value_type = String)]
    message_id: StepId,
    /// Identifier of the tenant.
    #[schema(value_type = String)]
    tenant_id: TenantId,
    /// Identifier of the project.
    #[schema(value_type = String)]
    project_id: ProjectId,
    /// Name of the caller who started the session.
    user_id: String,
    /// Type of the request, which decides the form of its response.
    request_type: HitlType,
    /// Text of the question.
    question: String,
    /// Options to choose from.
    options: Vec<HitlOption>,
    /// Context, shown with the request.
    #[schema(value_type = Object)]
    context: Value,
    /// Kind of the question in `/v1`, and further fields that are needed to answer it.
    #[schema(value_type = Object)]
    metadata: Value,
    /// Time when the question was asked.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Deadline of the request.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// Status of the request.
    status: HitlStatus,
}

/// Option of a request.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HitlOption {
    /// Identifier within the request.
    id: String,
    /// Label of the button.
    label: String,
    /// Description of the option.
    description: Option<String>,
    /// Whether the agent recommends this option.
    recommended: bool,
    /// Whether this is the default option.
    is_default: bool,
    /// `high` if the agent marked the option as dangerous.
    risk_level: Option<&'static str>,
    /// Duration of the option, as the agent estimates it.
    estimated_time: Option<String>,
    /// Cost of the option, as the agent estimates it.
    estimated_cost: Option<String>,
    /// Risks of the option, as the agent sees them.
    risks: Vec<String>,
}

/// Page of pending requests.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "requests": [request()], "total": 1 }))]
pub(super) struct HitlPendingView {
    /// Requests of the page, oldest first.
    requests: Vec<HitlRequestView>,
    /// Number of requests on this page.
    total: usize,
    /// Value of `cursor` for the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    next: Option<InteractionId>,
}

impl HitlPendingView {
    /// Renders the pending requests. A question that was handed over is left out: it is answered in its new session.
    pub(super) fn of(found: Vec<Interaction>, next: Option<InteractionId>, conversation: Option<&str>) -> Self {
        let requests = found.into_iter().filter(|one| one.handed_over().is_none());
        let requests: Vec<_> =
            requests.map(|one| HitlRequestView::new(one, conversation, HitlStatus::Pending)).collect();
        Self { total: requests.len(), requests, next }
    }
}

impl HitlRequestView {
    /// Renders a request for a client that named the conversation `conversation`.
    pub(super) fn new(interaction: Interaction, conversation: Option<&str>, status: HitlStatus) -> Self {
        let metadata = metadata(&interaction);
        let Interaction { id, scope, origin, question, .. } = interaction;
        let request_type = HitlType::of(&question);
        Self {
            id,
            conversation_id: conversation.map_or(origin.channel, str::to_owned),
            message_id: origin.step,
            tenant_id: scope.tenant,
            project_id: scope.project,
            user_id: origin.started_by.name,
            request_type,
            question: question.message.unwrap_or(question.title),
            options: question.options.into_iter().map(Into::into).collect(),
            context: object(question.context),
            metadata,
            created_at: origin.at,
            expires_at: question.deadline,
            status,
        }
    }
}

impl From<Choice> for HitlOption {
    fn from(choice: Choice) -> Self {
        Self {
            id: choice.id,
            label: choice.label,
            description: choice.description,
            recommended: choice.recommended,
            is_default: choice.default,
            risk_level: choice.dangerous.then_some("high"),
            estimated_time: choice.duration,
            estimated_cost: choice.cost,
            risks: choice.risk.into_iter().collect(),
        }
    }
}

/// Metadata of the agent, with the fields that this dialect has no place for.
fn metadata(interaction: &Interaction) -> Value {
    let question = &interaction.question;
    let mut all = object(question.metadata.clone());
    // The credential's name wins over metadata of the agent.
    all["asked_by"] = json!(interaction.origin.asked_by.name);
    all["kind"] = json!(question.kind.name());
    if let Kind::Custom(name) = &question.kind {
        all["custom_kind"] = json!(name);
    }
    all["title"] = json!(question.title);
    if let Some(details) = &question.details {
        all["description"] = json!(details);
    }
    if let Some(call) = &question.call {
        all["tool_name"] = json!(call.tool);
        all["details"] = call.arguments.clone();
        all["allow_remember"] = json!(question.call_id.is_some());
    }
    if !question.secrets.is_empty() {
        all["fields"] = question.secrets.iter().map(field).collect();
        all["allow_save"] = json!(true);
    }
    if let Some(schema) = &question.schema {
        all["schema"] = schema.clone();
    }
    match HitlType::of(question) {
        HitlType::Clarification => all["allow_custom"] = json!(question.takes_value()),
        HitlType::Decision => all["multiple"] = json!(question.multiple),
        HitlType::EnvVar | HitlType::Permission => {}
    }
    if let Some(to) = interaction.handed_over() {
        all["handed_over"] = json!({ "request_id": to.interaction, "conversation_id": to.channel, "note": to.note });
    }
    if let State::Resolved { resolution, delivery, .. } = &interaction.state {
        all["source"] = json!(resolution.source());
        all["delivery"] = json!(delivery.name());
        if let Delivery::Failed { reason, .. } = delivery {
            all["failure"] = json!(reason);
        }
    }
    all
}

fn field(field: &SecretField) -> Value {
    json!({ "name": field.name, "label": field.label.as_ref().unwrap_or(&field.name), "required": field.required, "secret": true,
            "input_type": field.input.as_deref().unwrap_or("password"), "placeholder": field.placeholder,
            "pattern": field.pattern })
}

/// Example of an open request.
fn request() -> Value {
    json!({
        "id": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "conversation_id": "conv-uuid",
        "message_id": "stp_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "tenant_id": "ten_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00",
        "project_id": "prj_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "user_id": "alice", "request_type": "clarification",
        "question": "Which directory?", "options": [], "context": {},
        "metadata": { "kind": "question", "title": "Which directory?", "allow_custom": true },
        "created_at": "2026-02-04T08:00:00Z", "expires_at": "2026-02-04T08:05:00Z", "status": "pending"
    })
}
