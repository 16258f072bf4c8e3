//! Request body with which an agent asks a question.

use domain::audience::Named;
use domain::question::SuggestionSource;
use domain::{Audience, Call, Choice, Effect, Fallback, Kind, Question, Role, SecretField, Suggestion};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::schema;

/// Request to ask people a question.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "kind": "approval", "title": "Deploy 1.4 to production?",
    "action": { "tool": "deploy", "arguments": { "version": "1.4", "target": "production" } },
    "deadline_seconds": 3600, "fallback": "deny"
}))]
pub struct AskBody {
    /// Kind of the question: `approval`, `confirmation`, `choice`, `question`, `form`, `secret`, `review` or `notice`. Any other value is a
    /// `custom` kind.
    pub kind: String,
    /// Title of the question, one line.
    pub title: String,
    /// Text of the question.
    pub message: Option<String>,
    /// Details that clients show below the text.
    pub details: Option<String>,
    /// Structured background of the question. Clients show it as data, never as markup.
    #[serde(default)]
    pub context: Value,
    /// Call that waits for the answer.
    pub action: Option<CallBody>,
    /// Options to choose from; the default options of the kind if absent.
    #[serde(default)]
    pub options: Vec<OptionBody>,
    /// Whether several options may be chosen at once.
    #[serde(default)]
    pub multiple: bool,
    /// JSON Schema of the form. Fields are shown in the order in which the properties are written.
    #[serde(default, deserialize_with = "schema::in_order")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    /// Named values of a question of kind `secret`.
    #[serde(default)]
    pub secrets: Vec<SecretBody>,
    /// Whether people are asked for the secrets even if values are kept from an earlier session.
    #[serde(default)]
    pub fresh: bool,
    /// Whether the question must be answered and may not be skipped; `true` if absent.
    pub required: Option<bool>,
    /// People who may answer. If absent: every operator of the project, and the person who started the session.
    pub audience: Option<AudienceBody>,
    /// Time in seconds until the deadline. If absent, the configured default applies; without a default there is no deadline.
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub deadline_seconds: Option<i64>,
    /// Result at the deadline: `{"option": id}`, `{"value": …}`, `"deny"` or `"hold"`. If absent, the question expires.
    pub fallback: Option<Fallback>,
    /// Suggested answers that a person may start from.
    #[serde(default)]
    pub suggestions: Vec<SuggestionBody>,
    /// State of the agent, stored encrypted and returned with the answer.
    pub resume_point: Option<Value>,
    /// Metadata of the agent, returned unchanged.
    #[serde(default)]
    pub metadata: Value,
}

/// Call that an agent wants to run: a tool with its arguments.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ActionBody)]
pub struct CallBody {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the tool.
    #[schema(value_type = Object)]
    pub arguments: Value,
}

/// An option of a question.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "id": "plan-a", "label": "Use a cache", "effect": "provide", "metadata": { "plan": "redis" } }))]
pub struct OptionBody {
    /// Identifier of the option, unique within the question.
    pub id: String,
    /// Label of the button.
    pub label: String,
    /// Explanation of the option.
    pub description: Option<String>,
    /// Effect of choosing the option; `provide` if absent. Only `approve` and `edit` run the action.
    pub effect: Option<Effect>,
    /// Whether clients preselect the option.
    #[serde(default)]
    pub default: bool,
    /// Whether clients warn before the option is chosen.
    #[serde(default)]
    pub dangerous: bool,
    /// Whether the agent recommends the option.
    #[serde(default)]
    pub recommended: bool,
    /// Whether the option requires a text or data in addition.
    #[serde(default)]
    pub requires_input: bool,
    /// Prompt for the additional input.
    pub input_prompt: Option<String>,
    /// Risk of the option.
    pub risk: Option<String>,
    /// Cost of the option.
    pub cost: Option<String>,
    /// Duration of the option.
    pub duration: Option<String>,
    /// Metadata of the option, returned with the answer.
    #[serde(default)]
    pub metadata: Value,
}

/// One named value of a secret question.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "REGISTRY_TOKEN", "label": "Token", "type": "password", "pattern": "^rt_[A-Za-z0-9]{20,}$" }))]
pub struct SecretBody {
    /// Name of the value, for example the name of an environment variable.
    pub name: String,
    /// Label that people see.
    pub label: Option<String>,
    /// Input type: `password` and `text` accept one line, `multiline` accepts several. If absent, any text is accepted.
    #[serde(rename = "type")]
    pub input: Option<String>,
    /// Whether the value must be given; `true` if absent.
    pub required: Option<bool>,
    /// Regular expression that the value must match.
    pub pattern: Option<String>,
    /// Placeholder of the empty field.
    pub placeholder: Option<String>,
}

/// People who may answer a question, and how many of them must agree.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "groups": ["security", "operations"], "quorum": 2, "distinct_groups": true }))]
pub struct AudienceBody {
    /// Names of users who may answer.
    pub users: Option<Vec<String>>,
    /// Names of groups whose members may answer.
    pub groups: Option<Vec<String>>,
    /// Roles whose holders may answer.
    pub roles: Option<Vec<Role>>,
    /// Number of different people who must give equal answers; 1 if absent.
    pub quorum: Option<u32>,
    /// Whether these people must belong to different groups out of `groups`.
    #[serde(default)]
    pub distinct_groups: bool,
    /// Whether the person who started the session may not answer.
    #[serde(default)]
    pub four_eyes: bool,
}

/// A suggested answer that fills in the form.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestionBody {
    /// Identifier of the suggestion, unique within the question.
    pub id: String,
    /// Label that people see.
    pub label: String,
    /// Source of the suggestion; `llm` if absent.
    pub source: Option<SuggestionSource>,
    /// Identifier of the option that the suggestion chooses.
    pub option: Option<String>,
    /// Data that the suggestion fills in.
    #[serde(default)]
    pub data: Value,
}

impl AskBody {
    /// Converts the body to a question of the domain, which is not validated yet.
    #[must_use]
    pub fn into_question(self) -> Question {
        Question {
            kind: Kind::named(&self.kind),
            title: self.title,
            message: self.message,
            details: self.details,
            context: self.context,
            call: self.action.map(|CallBody { tool, arguments }| Call { tool, arguments }),
            options: self.options.into_iter().map(OptionBody::into_choice).collect(),
            multiple: self.multiple,
            schema: self.schema,
            secrets: self.secrets.into_iter().map(SecretBody::into_field).collect(),
            fresh: self.fresh,
            required: self.required.unwrap_or(true),
            audience: self.audience.map_or_else(Audience::default, AudienceBody::into_audience),
            deadline: None,
            warn_at: None,
            fallback: self.fallback,
            suggestions: self.suggestions.into_iter().map(SuggestionBody::into_suggestion).collect(),
            metadata: self.metadata,
            requirements: Vec::new(),
            asked_by_rule: None,
            call_id: None,
            reply: false,
        }
    }
}

impl OptionBody {
    fn into_choice(self) -> Choice {
        Choice {
            id: self.id,
            label: self.label,
            description: self.description,
            effect: self.effect.unwrap_or(Effect::Provide),
            default: self.default,
            dangerous: self.dangerous,
            recommended: self.recommended,
            requires_input: self.requires_input,
            input_prompt: self.input_prompt,
            risk: self.risk,
            cost: self.cost,
            duration: self.duration,
            metadata: self.metadata,
        }
    }
}

impl SecretBody {
    fn into_field(self) -> SecretField {
        let Self { name, label, input, required, pattern, placeholder } = self;
        SecretField { name, label, input, required: required.unwrap_or(true), pattern, placeholder }
    }
}

impl AudienceBody {
    fn into_audience(self) -> Audience {
        let Self { users, groups, roles, quorum, distinct_groups, four_eyes } = self;
        let named = (users.is_some() || groups.is_some() || roles.is_some()).then(|| Named {
            users: users.unwrap_or_default(),
            groups: groups.unwrap_or_default(),
            roles: roles.unwrap_or_default(),
        });
        Audience { named, quorum: quorum.unwrap_or(1), distinct_groups, four_eyes }
    }
}

impl SuggestionBody {
    fn into_suggestion(self) -> Suggestion {
        let Self { id, label, source, option, data } = self;
        Suggestion { id, label, source: source.unwrap_or(SuggestionSource::Llm), option, data, count: None }
    }
}
