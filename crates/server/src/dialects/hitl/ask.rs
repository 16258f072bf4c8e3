//! A request as an agent of this wire asks it: what its four types bring, and the question that it becomes.

use domain::text::{LINE, undisguised};
use domain::{Call, Choice, Effect, Fallback, Kind, Question, SecretField, SignedDuration};
use engine::Ask;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::views::HitlType;
use crate::error::ApiError;

/// Asks a person.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "conversation_id": "conv-uuid", "request_type": "decision", "question": "Which environment?",
    "options": [{ "id": "staging", "label": "Staging", "recommended": true },
                { "id": "production", "label": "Production", "risk_level": "high" }],
    "timeout_seconds": 300
}))]
pub(super) struct HitlRequestBody {
    /// The conversation: a session or its channel.
    conversation_id: String,
    /// In which form it is answered.
    request_type: HitlType,
    /// What the person is asked; with a permission or variables, `action` or `message` will do.
    question: Option<String>,
    /// What the person is asked, with variables.
    message: Option<String>,
    /// What else there is to know.
    description: Option<String>,
    /// What may be chosen.
    #[serde(default)]
    options: Vec<HitlRequestOption>,
    /// With a decision, how many may be chosen; one if absent.
    max_selections: Option<u32>,
    /// The variables that are asked for.
    #[serde(default)]
    fields: Vec<HitlRequestField>,
    /// The tool that a permission is asked for.
    tool_name: Option<String>,
    /// What the tool would do.
    action: Option<String>,
    /// The particulars of that.
    #[serde(default)]
    #[schema(value_type = Object)]
    details: Map<String, Value>,
    /// What is taken when nobody responds in time: an option, or with a clarification a text.
    #[serde(alias = "default_option", alias = "default_action")]
    default_value: Option<String>,
    /// How long a person has; 300 seconds if absent, 60 with a permission.
    timeout_seconds: Option<f64>,
    /// Shown with it.
    #[serde(default)]
    context: Value,
    /// Given back untouched.
    #[serde(default)]
    metadata: Value,
}

/// Where the parts of a question stand in a request.
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

/// One thing that may be chosen.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct HitlRequestOption {
    /// Its name within the request.
    id: String,
    /// What the button says.
    label: String,
    /// What it means.
    description: Option<String>,
    /// Whether the agent recommends it.
    #[serde(default)]
    recommended: bool,
    /// `low`, `medium`, `high` or `critical`; the last two deserve a warning.
    risk_level: Option<String>,
    /// How long it takes.
    estimated_time: Option<String>,
    /// What it costs.
    estimated_cost: Option<String>,
    /// What could go wrong.
    #[serde(default)]
    risks: Vec<String>,
}

/// One variable that is asked for.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct HitlRequestField {
    /// Its name.
    name: String,
    /// What the person reads beside it.
    label: Option<String>,
    /// Whether it must be given; yes if absent.
    required: Option<bool>,
    /// Shown in the empty field.
    placeholder: Option<String>,
    /// A regular expression that the value matches.
    pattern: Option<String>,
}

impl HitlRequestBody {
    /// The conversation that it is asked in.
    pub(super) fn conversation(&self) -> &str {
        &self.conversation_id
    }

    /// The question in the engine's words.
    pub(super) fn into_ask(mut self) -> Result<Ask, ApiError> {
        let seconds = self.timeout_seconds.map(SignedDuration::try_from_secs_f64).transpose();
        let seconds =
            seconds.map_err(|_| ApiError::wrong("/timeout_seconds", "is no time that somebody could wait"))?;
        let default = self.default_value.take();
        let mut question = self.question()?;
        question.fallback = match default {
            Some(default) => Some(meant(&question, default)),
            None => question.usual_fallback(),
        };
        // Time is counted in whole seconds here, and nobody gets less than they were promised.
        let deadline_seconds = seconds.map(|seconds| seconds.as_secs() + i64::from(seconds.subsec_nanos() > 0));
        Ok(Ask { question, deadline_seconds, resume_point: None, traceparent: None })
    }

    fn question(self) -> Result<Question, ApiError> {
        let text = [self.question, self.action.clone(), self.message].into_iter().flatten().next();
        let text =
            text.or_else(|| self.description.clone()).ok_or_else(|| ApiError::wrong("/question", "must be asked"))?;
        let kind = match self.request_type {
            HitlType::Clarification => Kind::Question,
            HitlType::Decision => Kind::Choice,
            HitlType::EnvVar => Kind::Secret,
            HitlType::Permission => Kind::Approval,
        };
        let action = match (self.request_type, self.tool_name) {
            (HitlType::Permission, None) => return Err(ApiError::wrong("/tool_name", "a permission is for a tool")),
            (HitlType::Permission, Some(tool)) => Some(Call { tool, arguments: arguments(self.action, self.details) }),
            (_, _) => None,
        };
        Ok(Question {
            message: Some(text.clone()),
            details: self.description,
            context: self.context,
            call: action,
            options: self.options.into_iter().map(Into::into).collect(),
            multiple: self.max_selections.is_some_and(|most| most > 1),
            secrets: self.fields.into_iter().map(Into::into).collect(),
            metadata: self.metadata,
            ..Question::plain(kind, undisguised(&text).chars().take(LINE).collect())
        })
    }
}

/// What a permission is about: the particulars, and what the tool would do in the agent's words where they do not say it.
fn arguments(action: Option<String>, mut details: Map<String, Value>) -> Value {
    if let Some(action) = action.filter(|_| !details.contains_key("action")) {
        details.insert("action".to_owned(), json!(action));
    }
    Value::Object(details)
}

/// What a default means: no, an option, or what would be said. That a permission would be given is for the engine to refuse.
fn meant(question: &Question, default: String) -> Fallback {
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
