//! A question as this wire shows it.

use domain::question::SuggestionSource;
use domain::{Interaction, Kind, Question, Resolution, State, Timestamp};
use engine::Placed;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{example, payload, words};

/// A question.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = example::item)]
pub(super) struct FlowInteractionView {
    /// Its id.
    #[schema(value_type = String)]
    pub(super) request_id: Uuid,
    /// The channel that it is routed through.
    pub(super) chat_session_id: String,
    /// The step that sleeps on it: its name in the flow, or its id where it has none.
    pub(super) step_id: String,
    /// The id of that step.
    #[schema(value_type = String)]
    pub(super) step_execution_id: Uuid,
    /// The agent that asks.
    pub(super) agent_id: Option<String>,
    /// `PENDING`, `ANSWERED`, `EXPIRED` or `AUTO_RESOLVED`.
    pub(super) status: &'static str,
    /// `INPUT_FORM`, `APPROVAL`, `CONFIRMATION`, `REVIEW` or `INFORMATION`; the nearest one where our kind has none.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    /// One line.
    pub(super) title: String,
    /// What the person is asked.
    pub(super) description: Option<String>,
    /// JSON Schema of the payload that answers it.
    pub(super) payload_schema: Value,
    /// What a person may start from.
    pub(super) suggested_actions: SuggestedActionsView,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: Timestamp,
    /// When somebody last said something to it.
    #[schema(value_type = String, format = DateTime)]
    pub(super) updated_at: Timestamp,
    /// Until when people have.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) due_at: Option<Timestamp>,
    /// How it ended.
    pub(super) response: Option<FlowResponseView>,
    /// What this wire has no name for: our `kind`, the `action` that waits, the `context`, where it went or came from.
    #[schema(value_type = Object)]
    pub(super) metadata: Value,
}

/// What a person may start from, by source.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SuggestedActionsView {
    /// What may be chosen, and what the agent's version suggests. Always shown.
    rule_based: Vec<SuggestedActionView>,
    /// What a model suggests, and may.
    llm: Vec<SuggestedActionView>,
    /// What others answered before.
    analytics: Vec<SuggestedActionView>,
    /// What a model suggested and may not, with the reason.
    filtered: Vec<FilteredActionView>,
}

/// Something that fills the form in. A person sends it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SuggestedActionView {
    /// Its name within the question.
    id: String,
    /// What the person reads.
    label: String,
    /// `ruleBased`, `llm` or `analytics`.
    source: &'static str,
    /// What it means.
    description: Option<String>,
    /// What the button says.
    cta_label: Option<String>,
    /// What it fills in.
    payload: Value,
}

/// A suggestion that was dropped.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct FilteredActionView {
    /// Its name, as it was given.
    id: String,
    /// Where it came from.
    source: &'static str,
    /// Why nobody sees it.
    reason: String,
}

/// How a question ended.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlowResponseView {
    /// The answer's id; the question's own where nobody answered.
    #[schema(value_type = String)]
    response_id: Uuid,
    /// `USER`, `AUTO_POLICY` or `SYSTEM`.
    source: &'static str,
    /// On whose word, as their credential says.
    responded_by: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    responded_at: Timestamp,
    /// The status that it gave the question.
    status: &'static str,
    /// What was said; of a question that was cancelled, the reason.
    payload: Value,
}

impl From<Placed> for FlowInteractionView {
    fn from(Placed { interaction, step }: Placed) -> Self {
        Self::new(interaction, step)
    }
}

impl FlowInteractionView {
    /// A question, and the name of the step that sleeps on it.
    pub(super) fn new(interaction: Interaction, step: Option<String>) -> Self {
        let step_execution_id = interaction.origin.step.uuid();
        let (response, updated_at) = (responded(&interaction), touched(&interaction));
        let (status, metadata) = (words::status(interaction.status()), metadata(&interaction));
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
            kind: words::kind(&question.kind),
            description: (!description.is_empty()).then(|| description.join("\n\n")),
            payload_schema: payload::schema(&question),
            suggested_actions: suggested(&question),
            created_at: origin.at,
            updated_at,
            due_at: question.deadline,
            response,
            metadata,
            title: question.title,
        }
    }
}

/// When somebody last said something to a question.
fn touched(interaction: &Interaction) -> Timestamp {
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

fn responded(interaction: &Interaction) -> Option<FlowResponseView> {
    let State::Resolved { resolution, at, .. } = &interaction.state else { return None };
    let (response_id, responded_by, payload) = match resolution {
        Resolution::Answered { answer, .. } | Resolution::AutoResolved { answer, .. } => {
            (answer.id.uuid(), answer.by.name.clone(), payload::shown(&interaction.question, answer))
        }
        Resolution::Expired => (interaction.id.uuid(), domain::Actor::system().name, Value::Null),
        Resolution::Cancelled { by, reason } => (interaction.id.uuid(), by.name.clone(), json!({ "reason": reason })),
    };
    Some(FlowResponseView {
        response_id,
        source: words::source(resolution),
        responded_by,
        responded_at: *at,
        status: words::status(resolution.status()),
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

fn suggested(question: &Question) -> SuggestedActionsView {
    let mut all = SuggestedActionsView::default();
    for option in &question.options {
        all.rule_based.push(SuggestedActionView {
            id: option.id.clone(),
            label: option.label.clone(),
            source: "ruleBased",
            description: option.description.clone(),
            cta_label: Some(option.label.clone()),
            payload: payload::choosing(&option.id),
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
            payload: payload::filled(question, suggestion),
        });
    }
    let dropped = question.metadata.get("dropped_suggestions").and_then(Value::as_array);
    for dropped in dropped.into_iter().flatten() {
        let text = |name: &str| dropped.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        all.filtered.push(FilteredActionView { id: text("id"), source: "llm", reason: text("reason") });
    }
    all
}
