//! Questions as this dialect shows them.

use domain::question::SuggestionSource;
use domain::{Interaction, Kind, Question, Resolution, State, Timestamp};
use engine::QuestionWithStep;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{example, names, payload};

/// Question to people, with its response.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = example::item)]
pub(super) struct FlowInteractionView {
    /// Identifier of the question.
    #[schema(value_type = String)]
    pub(super) request_id: Uuid,
    /// Channel of the question.
    pub(super) chat_session_id: String,
    /// Name of the step that waits for the question; the id of the step if it has no name.
    pub(super) step_id: String,
    /// Identifier of that step.
    #[schema(value_type = String)]
    pub(super) step_execution_id: Uuid,
    /// Name of the agent that asks.
    pub(super) agent_id: Option<String>,
    /// `PENDING`, `ANSWERED`, `EXPIRED` or `AUTO_RESOLVED`.
    pub(super) status: &'static str,
    /// `INPUT_FORM`, `APPROVAL`, `CONFIRMATION`, `REVIEW` or `INFORMATION`; the nearest of them for other kinds.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    /// Title of the question, in one line.
    pub(super) title: String,
    /// Text of the question.
    pub(super) description: Option<String>,
    /// JSON Schema of the payload that answers the question.
    pub(super) payload_schema: Value,
    /// Options and suggested answers.
    pub(super) suggested_actions: SuggestedActionsView,
    /// Time when the question was asked.
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: Timestamp,
    /// Time of the last vote, abstention, handover or answer.
    #[schema(value_type = String, format = DateTime)]
    pub(super) updated_at: Timestamp,
    /// Deadline of the question.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) due_at: Option<Timestamp>,
    /// The response; null while the question is open.
    pub(super) response: Option<FlowResponseView>,
    /// Fields without a place in this API: `kind`, the `action` that waits, the `context`, and where the question was handed over.
    #[schema(value_type = Object)]
    pub(super) metadata: Value,
}

/// Options and suggested answers, by source.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SuggestedActionsView {
    /// Options of the question, and suggestions of the agent's version.
    rule_based: Vec<SuggestedActionView>,
    /// Suggestions of a model.
    llm: Vec<SuggestedActionView>,
    /// Suggestions from earlier answers.
    analytics: Vec<SuggestedActionView>,
    /// Suggestions of a model that were dropped, with the reason.
    filtered: Vec<FilteredActionView>,
}

/// A suggested answer. Choosing it fills in the payload; a person still has to send it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SuggestedActionView {
    /// Identifier within the question.
    id: String,
    /// Label shown to the person.
    label: String,
    /// `ruleBased`, `llm` or `analytics`.
    source: &'static str,
    /// Description of the option.
    description: Option<String>,
    /// Label of the button.
    cta_label: Option<String>,
    /// Payload that it fills in.
    payload: Value,
}

/// A suggestion that was left out.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct FilteredActionView {
    /// Identifier, as the model gave it.
    id: String,
    /// Source of the suggestion.
    source: &'static str,
    /// Reason for dropping it.
    reason: String,
}

/// The response to a question.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlowResponseView {
    /// Identifier of the answer, or of the question if nobody answered.
    #[schema(value_type = String)]
    response_id: Uuid,
    /// `USER`, `AUTO_POLICY` or `SYSTEM`.
    source: &'static str,
    /// Name of the caller who answered.
    responded_by: String,
    /// Time of the response.
    #[schema(value_type = String, format = DateTime)]
    responded_at: Timestamp,
    /// Status of the question after the response.
    status: &'static str,
    /// The answer; the reason, for a cancelled question.
    payload: Value,
}

impl From<QuestionWithStep> for FlowInteractionView {
    fn from(QuestionWithStep { interaction, step }: QuestionWithStep) -> Self {
        Self::new(interaction, step)
    }
}

impl FlowInteractionView {
    /// Renders a question; `step` is the name of the step that waits for it.
    pub(super) fn new(interaction: Interaction, step: Option<String>) -> Self {
        let step_execution_id = interaction.origin.step.uuid();
        let (response, updated_at) = (response(&interaction), updated_at(&interaction));
        let (status, metadata) = (names::status(interaction.status()), metadata(&interaction));
        let Interaction { id, origin, question, .. } = interaction;
        let description = [&question.message, &question.details].into_iter().flatten().map(String::as_str);
        let description: Vec<&str> = description.collect();
        Self {
            request_id: id.uuid(),
            chat_session_id: origin.channel,
            step_id: step.unwrap_or_else(|| step_execution_id.to_string()),
            step_execution_id,
            agent_id: Some(origin.asked_by.name),
            status,
            kind: names::kind(&question.kind),
            description: (!description.is_empty()).then(|| description.join("\n\n")),
            payload_schema: payload::schema(&question),
            suggested_actions: suggested_actions(&question),
            created_at: origin.at,
            updated_at,
            due_at: question.deadline,
            response,
            metadata,
            title: question.title,
        }
    }
}

/// Time of the last vote, abstention, handover or answer.
fn updated_at(interaction: &Interaction) -> Timestamp {
    let said = match &interaction.state {
        State::Pending(pending) => {
            let votes = pending.votes.iter().map(|vote| vote.at);
            let handed = pending.handed_over.iter().map(|to| to.at);
            votes.chain(pending.abstained.iter().map(|one| one.at)).chain(handed).max()
        }
        State::Resolved { at, .. } => Some(*at),
    };
    said.unwrap_or(interaction.origin.at)
}

fn response(interaction: &Interaction) -> Option<FlowResponseView> {
    let State::Resolved { resolution, at, .. } = &interaction.state else { return None };
    let (response_id, responded_by, payload) = match resolution {
        Resolution::Answered { answer, .. } | Resolution::AutoResolved { answer, .. } => {
            (answer.id.uuid(), answer.by.name.clone(), payload::of_answer(&interaction.question, answer))
        }
        Resolution::Expired => (interaction.id.uuid(), domain::Actor::system().name, Value::Null),
        Resolution::Cancelled { by, reason } => (interaction.id.uuid(), by.name.clone(), json!({ "reason": reason })),
    };
    Some(FlowResponseView {
        response_id,
        source: names::source(resolution),
        responded_by,
        responded_at: *at,
        status: names::status(resolution.status()),
        payload,
    })
}

fn metadata(interaction: &Interaction) -> Value {
    let question = &interaction.question;
    let mut metadata = Map::from_iter([("kind".to_owned(), json!(question.kind.name()))]);
    let mut with = |name: &str, value: Value| {
        if !value.is_null() {
            metadata.insert(name.to_owned(), value);
        }
    };
    if let Kind::Custom(name) = &question.kind {
        with("customKind", json!(name));
    }
    with("action", json!(question.call));
    with("context", question.context.clone());
    if let Some(to) = interaction.handed_over() {
        let (session, request) = (to.session.uuid(), to.interaction.uuid());
        let went = json!({ "sessionId": session, "requestId": request, "chatSessionId": to.channel,
                           "respondedBy": to.by.name, "note": to.note });
        with("handedOver", went);
    }
    if let Some(from) = &interaction.origin.handed_from {
        let (session, request) = (from.session.uuid(), from.interaction.uuid());
        with("handedFrom", json!({ "sessionId": session, "requestId": request, "note": from.note }));
    }
    Value::Object(metadata)
}

fn suggested_actions(question: &Question) -> SuggestedActionsView {
    let mut all = SuggestedActionsView::default();
    for option in &question.options {
        all.rule_based.push(SuggestedActionView {
            id: option.id.clone(),
            label: option.label.clone(),
            source: "ruleBased",
            description: option.description.clone(),
            cta_label: Some(option.label.clone()),
            payload: payload::of_option(&option.id),
        });
    }
    for suggestion in &question.suggestions {
        let (source, list) = match suggestion.source {
            SuggestionSource::Rule => ("ruleBased", &mut all.rule_based),
            SuggestionSource::Llm => ("llm", &mut all.llm),
            SuggestionSource::Analytics => ("analytics", &mut all.analytics),
        };
        list.push(SuggestedActionView {
            id: suggestion.id.clone(),
            label: suggestion.label.clone(),
            source,
            description: None,
            cta_label: None,
            payload: payload::of_suggestion(question, suggestion),
        });
    }
    let dropped = question.metadata.get("dropped_suggestions").and_then(Value::as_array);
    for dropped in dropped.into_iter().flatten() {
        let text = |name: &str| dropped.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        all.filtered.push(FilteredActionView { id: text("id"), source: "llm", reason: text("reason") });
    }
    all
}
