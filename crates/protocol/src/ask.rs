//! A question as an agent asks it.

use domain::audience::Named;
use domain::question::SuggestionSource;
use domain::{Audience, Call, Choice, Effect, Fallback, Kind, Question, Role, SecretField, Suggestion};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::schema;

/// Puts a question to people.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "kind": "approval", "title": "Deploy 1.4 to production?",
    "action": { "tool": "deploy", "arguments": { "version": "1.4", "target": "production" } },
    "deadline_seconds": 3600, "fallback": "deny"
}))]
pub struct AskBody {
    /// `approval`, `confirmation`, `choice`, `question`, `form`, `secret`, `review`, `notice`; anything else is `custom`.
    pub kind: String,
    /// One line.
    pub title: String,
    /// What the person is asked.
    pub message: Option<String>,
    /// What else there is to know.
    pub details: Option<String>,
    /// Shown as data, never as markup.
    #[serde(default)]
    pub context: Value,
    /// The action that waits for the answer.
    pub action: Option<CallBody>,
    /// What may be chosen; the kind's usual options if absent.
    #[serde(default)]
    pub options: Vec<OptionBody>,
    /// Whether several options may be chosen at once.
    #[serde(default)]
    pub multiple: bool,
    /// JSON Schema of the form. Fields are shown in the order in which its properties are written.
    #[serde(default, deserialize_with = "schema::in_order")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    /// The named values of a question of kind `secret`.
    #[serde(default)]
    pub secrets: Vec<SecretBody>,
    /// Whether people are asked for the secrets although they are kept.
    #[serde(default)]
    pub fresh: bool,
    /// Whether it may not be skipped; yes if absent.
    pub required: Option<bool>,
    /// Who may answer; every operator of the project, and whoever started the session, if absent.
    pub audience: Option<AudienceBody>,
    /// How long people have; without end if absent, unless the configuration says otherwise.
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub deadline_seconds: Option<i64>,
    /// What happens at the deadline: `{"option": id}`, `{"value": …}`, `"deny"` or `"hold"`. It expires if absent.
    pub fallback: Option<Fallback>,
    /// What a person may start from.
    #[serde(default)]
    pub suggestions: Vec<SuggestionBody>,
    /// The agent's own state, sealed, and given back with the answer.
    pub resume_point: Option<Value>,
    /// Given back untouched.
    #[serde(default)]
    pub metadata: Value,
}

/// What an agent wants to do.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ActionBody)]
pub struct CallBody {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    #[schema(value_type = Object)]
    pub arguments: Value,
}

/// One thing that may be chosen.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "id": "plan-a", "label": "Use a cache", "effect": "provide", "metadata": { "plan": "redis" } }))]
pub struct OptionBody {
    /// Its name within the question.
    pub id: String,
    /// What the button says.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
    /// What choosing it does; `provide` if absent. Only `approve` and `edit` run the action.
    pub effect: Option<Effect>,
    /// Whether a client that shows one preselects it.
    #[serde(default)]
    pub default: bool,
    /// Whether it deserves a warning.
    #[serde(default)]
    pub dangerous: bool,
    /// Whether the agent recommends it.
    #[serde(default)]
    pub recommended: bool,
    /// Whether choosing it needs a text or data as well.
    #[serde(default)]
    pub requires_input: bool,
    /// What to ask for then.
    pub input_prompt: Option<String>,
    /// What could go wrong.
    pub risk: Option<String>,
    /// What it costs.
    pub cost: Option<String>,
    /// How long it takes.
    pub duration: Option<String>,
    /// What the agent wants back with the choice.
    #[serde(default)]
    pub metadata: Value,
}

/// One named value of a secret question.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "REGISTRY_TOKEN", "label": "Token", "type": "password", "pattern": "^rt_[A-Za-z0-9]{20,}$" }))]
pub struct SecretBody {
    /// Its name, for example of an environment variable.
    pub name: String,
    /// What the person reads.
    pub label: Option<String>,
    /// How it is typed in: `password` and `text` are one line, `multiline` is not. Anything goes where it is absent.
    #[serde(rename = "type")]
    pub input: Option<String>,
    /// Whether it must be given; yes if absent.
    pub required: Option<bool>,
    /// A regular expression that the value matches.
    pub pattern: Option<String>,
    /// Shown in the empty field.
    pub placeholder: Option<String>,
}

/// Who may answer, and how many must.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "groups": ["security", "operations"], "quorum": 2, "distinct_groups": true }))]
pub struct AudienceBody {
    /// User names.
    pub users: Option<Vec<String>>,
    /// Group names.
    pub groups: Option<Vec<String>>,
    /// Roles.
    pub roles: Option<Vec<Role>>,
    /// How many distinct people must say the same; one if absent.
    pub quorum: Option<u32>,
    /// Whether they must come from distinct groups of those named.
    #[serde(default)]
    pub distinct_groups: bool,
    /// Whether whoever started the session is barred as well.
    #[serde(default)]
    pub four_eyes: bool,
}

/// Something that fills the form in.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestionBody {
    /// Its name within the question.
    pub id: String,
    /// What the person reads.
    pub label: String,
    /// Where it comes from; `llm` if absent.
    pub source: Option<SuggestionSource>,
    /// The option that it chooses.
    pub option: Option<String>,
    /// What it fills in.
    #[serde(default)]
    pub data: Value,
}

impl AskBody {
    /// The question in the domain's words, before it is checked.
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
