//! Questions as this dialect shows them: one request type, with options for every kind of question.

use domain::{Choice, Effect, Fallback, Interaction, Kind, Question};
use serde::Serialize;
use serde_json::{Value, json};

use crate::object;

/// Name of an effect.
const fn action(effect: Effect) -> &'static str {
    match effect {
        Effect::Approve => "APPROVE_AND_EXECUTE",
        Effect::Retry => "RETRY_WITH_FEEDBACK",
        Effect::Reject => "REJECT_WITH_REASON",
        Effect::Terminate => "TERMINATE",
        Effect::Provide => "PROVIDE_INFO",
        Effect::Skip => "SKIP",
        Effect::Edit | Effect::Custom => "CUSTOM",
    }
}

/// Type of a question; the nearest one for kinds that this dialect does not have.
const fn kind(question: &Question) -> &'static str {
    match question.kind {
        Kind::Approval => "TOOL_APPROVAL",
        Kind::Question | Kind::Secret => "MISSING_INFO",
        Kind::Confirmation | Kind::Review | Kind::Notice => "USER_CONFIRMATION",
        Kind::Choice => "USER_CHOICE",
        Kind::Form => "USER_INPUT",
        Kind::Custom(_) => "CUSTOM",
    }
}

/// A request for a person.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestView {
    request_id: String,
    session_id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    title: String,
    message: String,
    details: Option<String>,
    context: Value,
    options: Vec<OptionView>,
    required: bool,
    timeout_seconds: Option<i64>,
    default_option_id: Option<String>,
    /// Kind of the question in `/v1`, and further fields that are needed to answer it.
    metadata: Value,
}

/// Option of an interaction.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OptionView {
    option_id: String,
    label: String,
    description: Option<String>,
    action: &'static str,
    is_default: bool,
    is_dangerous: bool,
    requires_input: bool,
    input_prompt: Option<String>,
    metadata: Value,
}

impl RequestView {
    /// Renders a question for a client that named the session `session`.
    pub(super) fn new(interaction: Interaction, session: &str) -> Self {
        let Interaction { id, origin, question, .. } = interaction;
        let timeout = question.deadline.map(|deadline| deadline.duration_since(origin.at).as_secs());
        let default = match &question.fallback {
            Some(Fallback::Option(id)) => Some(id.clone()),
            Some(Fallback::Value(_) | Fallback::Deny | Fallback::Hold) | None => {
                question.options.iter().find(|option| option.default).map(|option| option.id.clone())
            }
        };
        let options = offered_options(&question).into_iter().map(OptionView::from);
        Self {
            request_id: id.to_string(),
            session_id: session.to_owned(),
            kind: kind(&question),
            options: options.collect(),
            context: context(&question),
            metadata: metadata(&question, &origin.asked_by.name),
            message: question.message.unwrap_or_else(|| question.title.clone()),
            title: question.title,
            details: question.details,
            required: question.required,
            timeout_seconds: timeout,
            default_option_id: default,
        }
    }
}

impl From<Choice> for OptionView {
    fn from(choice: Choice) -> Self {
        Self {
            action: action(choice.effect),
            option_id: choice.id,
            label: choice.label,
            description: choice.description,
            is_default: choice.default,
            is_dangerous: choice.dangerous,
            requires_input: choice.requires_input,
            input_prompt: choice.input_prompt,
            metadata: object(choice.metadata),
        }
    }
}

/// Returns the options of a question that this dialect offers: all except edits, for which it has no button, and options that other dialects imply.
fn offered_options(question: &Question) -> Vec<Choice> {
    let own = question.options.iter().filter(|option| option.effect != Effect::Edit).cloned();
    own.chain(implied_options(question)).collect()
}

/// Options for answers that other dialects accept without an option.
pub(super) fn implied_options(question: &Question) -> Vec<Choice> {
    let mut found = Vec::new();
    let offered = |effect| question.options.iter().any(|option| option.effect == effect);
    let takes_text = |option: &Choice| option.effect == Effect::Provide && option.requires_input;
    if question.takes_value() && !question.options.iter().any(takes_text) {
        let plain = Choice::new("provide", "Provide", Effect::Provide);
        let prompt = question.message.as_ref().unwrap_or(&question.title);
        found.push(if question.kind == Kind::Notice { plain } else { plain.with_input(prompt) });
    }
    if !question.required && !offered(Effect::Skip) {
        found.push(Choice::new("skip", "Skip", Effect::Skip));
    } else if question.takes_value() && question.kind != Kind::Notice && question.options.is_empty() {
        found.push(Choice::new("reject", "Decline", Effect::Reject));
    }
    found.retain(|choice| question.option(&choice.id).is_none());
    found
}

/// Context of the question, with the tool call if there is one.
fn context(question: &Question) -> Value {
    let mut all = object(question.context.clone());
    if let Some(call) = &question.call {
        all["toolName"] = json!(call.tool);
        all["toolArgs"] = call.arguments.clone();
        all["toolCallId"] = json!(question.call_id);
    }
    all
}

fn metadata(question: &Question, asked_by: &str) -> Value {
    let mut all = object(question.metadata.clone());
    // The credential's name wins over metadata of the agent.
    all["askedBy"] = json!(asked_by);
    all["kind"] = json!(question.kind.name());
    if let Kind::Custom(name) = &question.kind {
        all["customKind"] = json!(name);
    }
    if let Some(schema) = &question.schema {
        all["schema"] = schema.clone();
    }
    if !question.secrets.is_empty() {
        all["secrets"] = json!(question.secrets);
    }
    all
}
