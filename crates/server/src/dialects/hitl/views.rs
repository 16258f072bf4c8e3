//! A request as this wire shows it.

use domain::{
    Choice, Delivery, Interaction, InteractionId, Kind, ProjectId, Question, Resolution, SecretField, State, StepId,
    TenantId, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::dialects::object;

/// The types of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HitlType {
    /// Answered with a text, or one of the options.
    Clarification,
    /// Answered with one or many of the options.
    Decision,
    /// Answered with named values.
    EnvVar,
    /// Answered with yes or no.
    Permission,
}

impl HitlType {
    /// The type of a question, or the nearest one.
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

    /// The word for it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Clarification => "clarification",
            Self::Decision => "decision",
            Self::EnvVar => "env_var",
            Self::Permission => "permission",
        }
    }
}

/// How far a request is: its resolution and its delivery in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HitlStatus {
    /// Waits for a person.
    Pending,
    /// Waits for the agent.
    Answered,
    /// The agent is at it.
    Processing,
    /// The agent has gone on.
    Completed,
    /// Nobody responded in time, and there was no default.
    Timeout,
    /// Withdrawn.
    Cancelled,
}

impl HitlStatus {
    /// How far a question is; `action` is where the proposed action is that it decides, where there is one.
    pub(super) fn of(interaction: &Interaction, action: Option<&str>) -> Self {
        let State::Resolved { resolution, delivery, .. } = &interaction.state else { return Self::Pending };
        match (resolution, delivery) {
            (Resolution::Expired, _) => Self::Timeout,
            (Resolution::Cancelled { .. }, _) => Self::Cancelled,
            (_, Delivery::Processing { .. }) => Self::Processing,
            (_, Delivery::Completed { .. }) => Self::Completed,
            // A delivery that has failed has not been processed; the metadata say why.
            (_, Delivery::Waiting { .. } | Delivery::Failed { .. }) => Self::Answered,
            (_, Delivery::NotNeeded) => match action {
                Some("waiting" | "allowed") => Self::Answered,
                Some("started") => Self::Processing,
                _ => Self::Completed,
            },
        }
    }
}

/// A request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = request)]
pub(super) struct HitlRequestView {
    /// Its id.
    #[schema(value_type = String)]
    id: InteractionId,
    /// The conversation that it belongs to.
    conversation_id: String,
    /// The step that asked.
    #[schema(value_type = String)]
    message_id: StepId,
    /// Whose it is.
    #[schema(value_type = String)]
    tenant_id: TenantId,
    /// In which project.
    #[schema(value_type = String)]
    project_id: ProjectId,
    /// Who began the conversation.
    user_id: String,
    /// In which form it is answered.
    request_type: HitlType,
    /// What the person is asked.
    question: String,
    /// What may be chosen.
    options: Vec<HitlOption>,
    /// What the agent shows with it.
    #[schema(value_type = Object)]
    context: Value,
    /// Our kind, and whatever else is needed to answer it.
    #[schema(value_type = Object)]
    metadata: Value,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Until when it can be answered.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// How far it is.
    status: HitlStatus,
}

/// One thing that may be chosen.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HitlOption {
    /// Its name within the request.
    id: String,
    /// What the button says.
    label: String,
    /// What it means.
    description: Option<String>,
    /// Whether the agent recommends it.
    recommended: bool,
    /// Whether it is the default.
    is_default: bool,
    /// `high` where the agent warns of it.
    risk_level: Option<&'static str>,
    /// How long it takes.
    estimated_time: Option<String>,
    /// What it costs.
    estimated_cost: Option<String>,
    /// What could go wrong.
    risks: Vec<String>,
}

/// Requests that wait for a person.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "requests": [request()], "total": 1 }))]
pub(super) struct HitlPendingView {
    /// The oldest first.
    requests: Vec<HitlRequestView>,
    /// How many they are.
    total: usize,
    /// Give it as `cursor` for those that come after; absent where there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    next: Option<InteractionId>,
}

impl HitlPendingView {
    /// Those that can be answered here: what was handed over is answered elsewhere.
    pub(super) fn of(found: Vec<Interaction>, next: Option<InteractionId>, conversation: Option<&str>) -> Self {
        let requests = found.into_iter().filter(|one| one.handed_over().is_none());
        let requests: Vec<_> =
            requests.map(|one| HitlRequestView::new(one, conversation, HitlStatus::Pending)).collect();
        Self { total: requests.len(), requests, next }
    }
}

impl HitlRequestView {
    /// A request as whoever calls the conversation so is shown it.
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

/// What the agent gave, and over it what this wire has no field for.
fn metadata(interaction: &Interaction) -> Value {
    let question = &interaction.question;
    let mut all = object(question.metadata.clone());
    // Whatever the agent says of itself, this is who asked.
    all["asked_by"] = json!(interaction.origin.asked_by.name);
    all["kind"] = json!(question.kind.name());
    if let Kind::Custom(name) = &question.kind {
        all["custom_kind"] = json!(name);
    }
    all["title"] = json!(question.title);
    if let Some(details) = &question.details {
        all["description"] = json!(details);
    }
    if let Some(action) = &question.call {
        all["tool_name"] = json!(action.tool);
        all["details"] = action.arguments.clone();
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

/// A request that is open.
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
