//! Requests of agents: the body of each type, and the question that it becomes.

use domain::text::{LINE, undisguised};
use domain::{Call, Choice, Effect, Fallback, Kind, Question, SecretField, SignedDuration};
use engine::Ask;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::views::HitlType;
use server::handler::ApiError;

/// Body that creates a request.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "conversation_id": "conv-uuid", "request_type": "decision", "question": "Which environment?",
    "options": [{ "id": "staging", "label": "Staging", "recommended": true },
                { "id": "production", "label": "Production", "risk_level": "high" }],
    "timeout_seconds": 300
}))]
pub(super) struct HitlRequestBody {
    /// Identifier of the session, or its channel.
    conversation_id: String,
    /// Type of the request, which decides the form of its response.
    request_type: HitlType,
    /// Text of the question. A permission may have `action` instead, a request for variables `message`.
    question: Option<String>,
    /// Text of a request for variables.
    message: Option<String>,
    /// Description that is shown below the question.
    description: Option<String>,
    /// Options to choose from.
    #[serde(default)]
    options: Vec<HitlRequestOption>,
    /// For a decision, how many options may be chosen; 1 if absent.
    max_selections: Option<u32>,
    /// Variables to ask for.
    #[serde(default)]
    fields: Vec<HitlRequestField>,
    /// For a permission, the name of the tool.
    tool_name: Option<String>,
    /// For a permission, what the tool would do.
    action: Option<String>,
    /// For a permission, the arguments of the tool.
    #[serde(default)]
    #[schema(value_type = Object)]
    details: Map<String, Value>,
    /// Response used when nobody responds in time: an option, or for a clarification a text.
    #[serde(alias = "default_option", alias = "default_action")]
    default_value: Option<String>,
    /// Seconds until the request expires; 300 if absent, 60 for a permission.
    timeout_seconds: Option<f64>,
    /// Context, shown with the request.
    #[serde(default)]
    context: Value,
    /// Metadata of the client, returned unchanged.
    #[serde(default)]
    metadata: Value,
}

/// Fields of a question and their place in the body of a request.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("/title", "/question"),
    ("/message", "/question"),
    ("/details", "/description"),
    ("/deadline_seconds", "/timeout_seconds"),
    ("/action/tool", "/tool_name"),
    ("/action/arguments", "/details"),
    ("/secrets", "/fields"),
    ("/fallback", "/default_value"),
    ("/multiple", "/max_selections"),
];

/// Option of a request.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct HitlRequestOption {
    /// Identifier within the request.
    id: String,
    /// Label of the button.
    label: String,
    /// Description of the option.
    description: Option<String>,
    /// Whether the agent recommends this option.
    #[serde(default)]
    recommended: bool,
    /// `low`, `medium`, `high` or `critical`. The last two are marked as dangerous.
    risk_level: Option<String>,
    /// Duration of the option, as the agent estimates it.
    estimated_time: Option<String>,
    /// Cost of the option, as the agent estimates it.
    estimated_cost: Option<String>,
    /// Risks of the option, as the agent sees them.
    #[serde(default)]
    risks: Vec<String>,
}

/// A variable to ask for.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct HitlRequestField {
    /// Name of the variable.
    name: String,
    /// Label of the field.
    label: Option<String>,
    /// Whether a value is required; `true` if absent.
    required: Option<bool>,
    /// Placeholder of the field.
    placeholder: Option<String>,
    /// Regular expression that the value must match.
    pattern: Option<String>,
}

impl HitlRequestBody {
    /// Conversation of the request.
    pub(super) fn conversation(&self) -> &str {
        &self.conversation_id
    }

    /// Translates the request into a question.
    pub(super) fn into_ask(mut self) -> Result<Ask, ApiError> {
        let seconds = self.timeout_seconds.map(SignedDuration::try_from_secs_f64).transpose();
        let seconds = seconds.map_err(|_| {
            ApiError::invalid("/timeout_seconds", "is not a number of seconds that the server can wait")
        })?;
        let default = self.default_value.take();
        let mut question = self.question()?;
        question.fallback = match default {
            Some(default) => Some(fallback(&question, default)),
            None => question.usual_fallback(),
        };
        // The engine counts whole seconds: a fraction is rounded up.
        let deadline_seconds = seconds.map(|seconds| seconds.as_secs() + i64::from(seconds.subsec_nanos() > 0));
        Ok(Ask { question, deadline_seconds, resume_point: None, traceparent: None })
    }

    fn question(self) -> Result<Question, ApiError> {
        let text = [self.question, self.action.clone(), self.message].into_iter().flatten().next();
        let text =
            text.or_else(|| self.description.clone()).ok_or_else(|| ApiError::invalid("/question", "must be asked"))?;
        let kind = match self.request_type {
            HitlType::Clarification => Kind::Question,
            HitlType::Decision => Kind::Choice,
            HitlType::EnvVar => Kind::Secret,
            HitlType::Permission => Kind::Approval,
        };
        let call = match (self.request_type, self.tool_name) {
            (HitlType::Permission, None) => return Err(ApiError::invalid("/tool_name", "a permission is for a tool")),
            (HitlType::Permission, Some(tool)) => Some(Call { tool, arguments: arguments(self.action, self.details) }),
            (_, _) => None,
        };
        Ok(Question {
            message: Some(text.clone()),
            details: self.description,
            context: self.context,
            call,
            options: self.options.into_iter().map(Into::into).collect(),
            multiple: self.max_selections.is_some_and(|most| most > 1),
            secrets: self.fields.into_iter().map(Into::into).collect(),
            metadata: self.metadata,
            ..Question::plain(kind, undisguised(&text).chars().take(LINE).collect())
        })
    }
}

/// Arguments of a permission: its details, with the agent's `action` added where the details have none.
fn arguments(action: Option<String>, mut details: Map<String, Value>) -> Value {
    if let Some(action) = action.filter(|_| !details.contains_key("action")) {
        details.insert("action".to_owned(), json!(action));
    }
    Value::Object(details)
}

/// Translates a default into a fallback: denial, option or value. The engine refuses a fallback that would grant a
/// permission.
fn fallback(question: &Question, default: String) -> Fallback {
    match (&question.kind, default.as_str()) {
        (Kind::Approval, "deny" | "deny_always") => Fallback::Deny,
        (Kind::Approval, "allow" | "allow_always") => Fallback::Option("approve".to_owned()),
        (Kind::Question, _) if question.option(&default).is_none() => Fallback::Value(json!(default)),
        _ => Fallback::Option(default),
    }
}

impl From<HitlRequestOption> for Choice {
    fn from(option: HitlRequestOption) -> Self {
        let risk = Some(option.risks.join("; ")).filter(|risk| !risk.is_empty());
        Self {
            description: option.description,
            recommended: option.recommended,
            dangerous: matches!(option.risk_level.as_deref(), Some("high" | "critical")),
            duration: option.estimated_time,
            cost: option.estimated_cost,
            risk,
            ..Self::new(&option.id, &option.label, Effect::Provide)
        }
    }
}

impl From<HitlRequestField> for SecretField {
    fn from(HitlRequestField { name, label, required, placeholder, pattern }: HitlRequestField) -> Self {
        Self { name, label, input: None, required: required.unwrap_or(true), pattern, placeholder }
    }
}
