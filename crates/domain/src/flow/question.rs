//! The question before a step of a flow: its written form, and the question that is asked.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::StepQuestion;
use crate::audience::Named;
use crate::template::{TemplateError, fill_text};
use crate::{Audience, Choice, Effect, Kind, OptionId, Question, Role};

impl StepQuestion {
    /// Builds the question with its templates filled in. The question is not validated yet and has no deadline; the caller applies
    /// `deadline_seconds`.
    pub fn put(&self, values: &Value) -> Result<Question, TemplateError> {
        let title = fill_text(&self.title, values)?;
        let message = self.description.as_ref().map(|description| fill_text(description, values)).transpose()?;
        Ok(self.worded(title, message))
    }

    /// Builds the question with this title and message.
    pub(super) fn worded(&self, title: String, message: Option<String>) -> Question {
        Question {
            message,
            schema: self.schema.clone(),
            options: self.options.clone(),
            suggestions: self.suggestions.iter().map(Into::into).collect(),
            required: self.required.unwrap_or(true),
            fallback: self.fallback.clone(),
            audience: self.audience.clone().unwrap_or_default(),
            ..Question::plain(Kind::named(&self.kind), title)
        }
    }
}

/// Option as it is written. The effect may be left out; unknown fields are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOption {
    id: OptionId,
    label: String,
    description: Option<String>,
    #[serde(default = "provide")]
    effect: Effect,
    #[serde(default)]
    default: bool,
    #[serde(default)]
    dangerous: bool,
    #[serde(default)]
    recommended: bool,
    #[serde(default)]
    requires_input: bool,
    input_prompt: Option<String>,
    risk: Option<String>,
    cost: Option<String>,
    duration: Option<String>,
    #[serde(default)]
    metadata: Value,
}

const fn provide() -> Effect {
    Effect::Provide
}

impl From<WrittenOption> for Choice {
    fn from(written: WrittenOption) -> Self {
        Self {
            id: written.id,
            label: written.label,
            description: written.description,
            effect: written.effect,
            default: written.default,
            dangerous: written.dangerous,
            recommended: written.recommended,
            requires_input: written.requires_input,
            input_prompt: written.input_prompt,
            risk: written.risk,
            cost: written.cost,
            duration: written.duration,
            metadata: written.metadata,
        }
    }
}

/// Reads options and refuses unknown fields.
pub(super) fn options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Choice>, D::Error> {
    Ok(Vec::<WrittenOption>::deserialize(deserializer)?.into_iter().map(Choice::from).collect())
}

/// Audience in the form that policies and the API use: people by name, group and role next to the quorum.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAudience {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    users: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    roles: Option<Vec<Role>>,
    #[serde(default = "one")]
    quorum: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    distinct_groups: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    four_eyes: bool,
}

const fn one() -> u32 {
    1
}

/// Serialisation of an audience in this form.
pub(super) mod audience {
    use super::{Audience, Deserialize, Deserializer, Named, Serialize, Serializer, WrittenAudience};

    #[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
    pub(in crate::flow) fn serialize<S: Serializer>(
        audience: &Option<Audience>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let written = audience.clone().map(|Audience { named, quorum, distinct_groups, four_eyes }| {
            let (users, groups, roles) = named
                .map_or((None, None, None), |Named { users, groups, roles }| (Some(users), Some(groups), Some(roles)));
            WrittenAudience { users, groups, roles, quorum, distinct_groups, four_eyes }
        });
        written.serialize(serializer)
    }

    pub(in crate::flow) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Audience>, D::Error> {
        let written = Option::<WrittenAudience>::deserialize(deserializer)?;
        Ok(written.map(|WrittenAudience { users, groups, roles, quorum, distinct_groups, four_eyes }| {
            let named = (users.is_some() || groups.is_some() || roles.is_some()).then(|| Named {
                users: users.unwrap_or_default(),
                groups: groups.unwrap_or_default(),
                roles: roles.unwrap_or_default(),
            });
            Audience { named, quorum, distinct_groups, four_eyes }
        }))
    }
}
