//! What is asked: the part of an interaction that never changes after it was put to people.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ruling::AskingRule;
use crate::{Audience, Choice, Digest, Effect, OptionId, Problem, text};

/// How many options, secrets or suggestions a question may have.
pub(crate) const MOST_ITEMS: usize = 100;

/// What sort of question it is. An open set: what we have no name for is `custom` under its own name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// May this action run?
    Approval,
    /// Yes or no.
    Confirmation,
    /// One or many of several.
    Choice,
    /// Free text, options, or both.
    Question,
    /// A form described by a JSON Schema.
    Form,
    /// Named values that nobody else may see.
    Secret,
    /// Approve, revise or reject a piece of work.
    Review,
    /// Needs no answer and holds nothing up.
    Notice,
    /// Anything else, under the agent's own name for it.
    Custom(String),
}

impl Kind {
    /// The word for it on the wire and in the stores.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Confirmation => "confirmation",
            Self::Choice => "choice",
            Self::Question => "question",
            Self::Form => "form",
            Self::Secret => "secret",
            Self::Review => "review",
            Self::Notice => "notice",
            Self::Custom(_) => "custom",
        }
    }

    /// The kind of this name; any other name is custom.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "approval" => Self::Approval,
            "confirmation" => Self::Confirmation,
            "choice" => Self::Choice,
            "question" => Self::Question,
            "form" => Self::Form,
            "secret" => Self::Secret,
            "review" => Self::Review,
            "notice" => Self::Notice,
            other => Self::Custom(other.to_owned()),
        }
    }

    /// Whether the agent's step sleeps until it is answered.
    #[must_use]
    pub const fn blocks(&self) -> bool {
        !matches!(self, Self::Notice)
    }
}

/// What an agent wants to do: a tool and its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
}

impl Call {
    /// What an approval of this action is bound to.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_json(&json!({ "tool": self.tool, "arguments": self.arguments }))
    }
}

/// What happens at the deadline. Without one the question expires.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// This option is taken.
    Option(OptionId),
    /// This value is given.
    Value(Value),
    /// The answer is no.
    Deny,
    /// It stays open, and is reported as overdue.
    Hold,
}

/// One named value of a secret question.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretField {
    /// Its name, for example of an environment variable.
    pub name: String,
    /// What the person reads beside the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How it is typed in: `password` and `text` are one line, `multiline` is not. Anything goes where it is absent.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// A regular expression that the value matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Shown in the empty field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

/// Where a suggestion comes from.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionSource {
    /// The agent's version demands it.
    Rule,
    /// A model offered it.
    Llm,
    /// Others answered so before.
    Analytics,
}

/// Something that fills the form in. A person sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// Its name within the question.
    pub id: String,
    /// What the person reads.
    pub label: String,
    /// Where it comes from.
    pub source: SuggestionSource,
    /// The option that it chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<OptionId>,
    /// What it fills in.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// How often people have answered so before, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// What is asked. Made by [`Question::admit`], so that every stored question can be answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// What sort of question.
    pub kind: Kind,
    /// One line.
    pub title: String,
    /// What the person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Shown as data, never as markup.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub context: Value,
    /// The action that waits for the answer.
    #[serde(rename = "action", default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// What may be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// Whether several may be chosen at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// JSON Schema of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The named values of a secret question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretField>,
    /// Whether people are asked for the secrets although they are kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Whether it may not be skipped.
    pub required: bool,
    /// Who may answer. The strictest one where there are several `requirements`.
    #[serde(default)]
    pub audience: Audience,
    /// The audiences that must each be satisfied, where there are several; empty where `audience` is the only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Audience>,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// When people are warned that the deadline is near.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_at: Option<Timestamp>,
    /// What then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// What a person may start from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
    /// Given back to the agent untouched.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// The rule that asked, frozen with the question; none where an agent asked by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by_rule: Option<AskingRule>,
    /// The proposed call that it decides; none where an agent asked by itself.
    #[serde(rename = "call", default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Whether it is a message of the conversation that wants a reply: then the answer is a message too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reply: bool,
}

impl Question {
    /// A question of which nothing is said yet but its kind and its title.
    #[must_use]
    pub fn plain(kind: Kind, title: String) -> Self {
        Self {
            kind,
            title,
            message: None,
            details: None,
            context: Value::Null,
            call: None,
            options: Vec::new(),
            multiple: false,
            schema: None,
            secrets: Vec::new(),
            fresh: false,
            required: true,
            audience: Audience::default(),
            requirements: Vec::new(),
            deadline: None,
            warn_at: None,
            fallback: None,
            suggestions: Vec::new(),
            metadata: Value::Null,
            asked_by_rule: None,
            call_id: None,
            reply: false,
        }
    }

    /// Fills in what the kind implies and lists everything for which nobody could answer it well.
    ///
    /// Whether the schema itself can be compiled is for the `forms` crate to say.
    pub fn admit(mut self) -> Result<Self, Vec<Problem>> {
        if self.options.is_empty() {
            self.options = self.usual_options();
        }
        let mut problems = Vec::new();
        self.check_texts(&mut problems);
        self.check_options(&mut problems);
        self.check_kind(&mut problems);
        self.check_fallback(&mut problems);
        self.check_requirements(&mut problems);
        if problems.is_empty() { Ok(self) } else { Err(problems) }
    }

    /// Sets until when people have, and when they are warned.
    #[must_use]
    pub fn timed(self, time: Option<SignedDuration>, warning: SignedDuration, now: Timestamp) -> Self {
        let deadline = time.and_then(|time| now.saturating_add(time).ok());
        let warn_at = deadline.and_then(|deadline| deadline.saturating_sub(warning).ok()).filter(|at| *at > now);
        Self { deadline, warn_at, ..self }
    }

    /// The schema that the data of an answer must fit, where there is one.
    #[must_use]
    pub fn form(&self) -> Option<Value> {
        if self.secrets.is_empty() { self.schema.clone() } else { Some(self.secrets_schema()) }
    }

    /// The option of this name.
    #[must_use]
    pub fn option(&self, id: &str) -> Option<&Choice> {
        self.options.iter().find(|option| option.id == id)
    }

    /// Whether it stays open past its deadline.
    #[must_use]
    pub const fn holds(&self) -> bool {
        matches!(self.fallback, Some(Fallback::Hold))
    }

    /// What a deadline should do where nobody has said it: deny what would run, else take the default, else what is recommended.
    ///
    /// None where there is no such thing; it expires then.
    #[must_use]
    pub fn usual_fallback(&self) -> Option<Fallback> {
        if self.kind == Kind::Approval {
            return Some(Fallback::Deny);
        }
        let by_itself =
            |option: &&Choice| !option.requires_input && (self.form().is_none() || !option.effect.carries_form());
        let mut able = self.options.iter().filter(by_itself);
        let chosen = able.clone().find(|option| option.default).or_else(|| able.find(|option| option.recommended));
        chosen.map(|option| Fallback::Option(option.id.clone()))
    }

    /// The effect that its deadline would have. None where the question would expire, or be held open.
    #[must_use]
    pub fn fallback_effect(&self) -> Option<Effect> {
        match self.fallback.as_ref()? {
            Fallback::Option(id) => Some(self.option(id).map_or(Effect::Reject, |option| option.effect)),
            Fallback::Value(_) => Some(Effect::Provide),
            Fallback::Deny => Some(Effect::Reject),
            Fallback::Hold => None,
        }
    }

    fn usual_options(&self) -> Vec<Choice> {
        let mut options = match self.kind {
            Kind::Approval => vec![
                Choice::new("approve", "Approve", Effect::Approve),
                Choice::new("edit", "Edit and approve", Effect::Edit),
                Choice::new("retry", "Think again", Effect::Retry).with_input("What should be different?"),
                Choice::new("reject", "Reject", Effect::Reject),
                Choice::new("terminate", "Reject and end the session", Effect::Terminate),
            ],
            Kind::Confirmation => vec![
                Choice::new("confirm", "Confirm", Effect::Approve),
                Choice::new("cancel", "Cancel", Effect::Reject),
            ],
            Kind::Review => vec![
                Choice::new("approve", "Approve", Effect::Approve),
                Choice::new("revise", "Revise", Effect::Retry).with_input("What should be different?"),
                Choice::new("reject", "Reject", Effect::Reject),
            ],
            Kind::Choice | Kind::Question | Kind::Form | Kind::Secret | Kind::Notice | Kind::Custom(_) => Vec::new(),
        };
        if self.call.is_none() {
            options.retain(|option| option.effect != Effect::Edit);
        }
        options
    }

    fn check_texts(&self, problems: &mut Vec<Problem>) {
        text::line("/title", &self.title, problems);
        if let Kind::Custom(name) = &self.kind {
            text::identifier("/kind", name, problems);
        }
        for (pointer, paragraphs) in [("/message", &self.message), ("/details", &self.details)] {
            if let Some(paragraphs) = paragraphs {
                text::paragraphs(pointer, paragraphs, problems);
            }
        }
        for (pointer, value) in [("/context", &self.context), ("/metadata", &self.metadata)] {
            text::depth(pointer, value, problems);
        }
        if let Some(action) = &self.call {
            action.check("/action", problems);
        }
        if self.suggestions.len() > MOST_ITEMS {
            problems.push(Problem::new("/suggestions", format!("are more than {MOST_ITEMS}")));
        }
        for (index, suggestion) in self.suggestions.iter().enumerate() {
            text::identifier(&format!("/suggestions/{index}/id"), &suggestion.id, problems);
            text::line(&format!("/suggestions/{index}/label"), &suggestion.label, problems);
            text::depth(&format!("/suggestions/{index}/data"), &suggestion.data, problems);
            if suggestion.option.as_ref().is_some_and(|id| self.option(id).is_none()) {
                problems.push(Problem::new(format!("/suggestions/{index}/option"), "is not one of the options"));
            }
        }
    }

    fn check_options(&self, problems: &mut Vec<Problem>) {
        if self.options.len() > MOST_ITEMS {
            problems.push(Problem::new("/options", format!("are more than {MOST_ITEMS}")));
        }
        for (index, option) in self.options.iter().enumerate() {
            let at = |field: &str| format!("/options/{index}/{field}");
            text::identifier(&at("id"), &option.id, problems);
            text::line(&at("label"), &option.label, problems);
            text::depth(&at("metadata"), &option.metadata, problems);
            let texts = [
                ("description", &option.description),
                ("input_prompt", &option.input_prompt),
                ("risk", &option.risk),
                ("cost", &option.cost),
                ("duration", &option.duration),
            ];
            for (field, value) in texts {
                if let Some(value) = value {
                    text::paragraphs(&at(field), value, problems);
                }
            }
            if self.options[..index].iter().any(|earlier| earlier.id == option.id) {
                problems.push(Problem::new(at("id"), "is the id of an earlier option too"));
            }
            if option.effect == Effect::Edit && self.call.is_none() {
                problems.push(Problem::new(at("effect"), "there is no action to edit"));
            }
        }
    }

    fn check_kind(&self, problems: &mut Vec<Problem>) {
        let secret = self.kind == Kind::Secret;
        if self.kind == Kind::Choice && self.options.is_empty() {
            problems.push(Problem::new("/options", "a choice needs at least one option"));
        }
        if self.multiple && self.kind != Kind::Choice {
            problems.push(Problem::new("/multiple", "only a choice can have several options chosen"));
        }
        if self.kind == Kind::Form && self.schema.is_none() {
            problems.push(Problem::new("/schema", "a form needs a schema"));
        }
        if secret == self.secrets.is_empty() {
            problems.push(Problem::new("/secrets", "a question of kind `secret`, and no other, names its secrets"));
        }
        if self.fresh && !secret {
            problems.push(Problem::new("/fresh", "only a question of kind `secret` can be answered from what is kept"));
        }
        if self.reply && self.kind != Kind::Question {
            problems.push(Problem::new("/requires_reply", "only a question in words is replied to"));
        }
        if secret && self.schema.is_some() {
            problems.push(Problem::new("/schema", "a secret has named fields instead of a schema"));
        }
        if secret && self.needs_several() {
            problems.push(Problem::new("/audience/quorum", "a secret is given by one person"));
        }
        if secret && self.audience.distinct_groups {
            problems.push(Problem::new("/audience/distinct_groups", "a secret is given by one person"));
        }
        self.check_secrets(problems);
    }

    fn check_fallback(&self, problems: &mut Vec<Problem>) {
        match &self.fallback {
            None => {}
            Some(_) if self.deadline.is_none() => {
                problems.push(Problem::new("/fallback", "needs a deadline after which it applies"));
            }
            Some(Fallback::Option(id)) => match self.option(id) {
                None => problems.push(Problem::new("/fallback/option", "is not one of the options")),
                Some(option) if option.effect == Effect::Edit => {
                    problems.push(Problem::new("/fallback/option", "an edit needs a person"));
                }
                Some(option) if self.call.is_some() && option.effect.runs_action() => {
                    problems.push(Problem::new("/fallback/option", "would run the action on nobody's word"));
                }
                Some(option) if self.form().is_some() && option.effect.carries_form() => {
                    problems.push(Problem::new("/fallback/option", "would leave the form empty: give a value"));
                }
                Some(_) => {}
            },
            Some(Fallback::Value(_)) if self.kind == Kind::Secret => {
                problems.push(Problem::new("/fallback/value", "a secret cannot stand in the question"));
            }
            Some(Fallback::Value(_)) if !self.takes_value() => {
                problems.push(Problem::new("/fallback/value", "this question is answered with an option"));
            }
            Some(Fallback::Value(Value::Null)) => {
                problems.push(Problem::new("/fallback/value", "must not be null"));
            }
            Some(Fallback::Value(value)) => text::depth("/fallback/value", value, problems),
            Some(Fallback::Deny | Fallback::Hold) => {}
        }
    }

    /// Whether it can be answered with data alone.
    #[must_use]
    pub fn takes_value(&self) -> bool {
        match self.kind {
            Kind::Question | Kind::Form | Kind::Secret | Kind::Notice => true,
            Kind::Approval | Kind::Confirmation | Kind::Choice | Kind::Review | Kind::Custom(_) => {
                self.options.is_empty()
            }
        }
    }
}
