//! Content of a question: the part of an interaction that never changes after it was asked.

mod kind;

pub use kind::{Kind, KindName};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ruling::AskingRule;
use crate::{Audience, Choice, Digest, Effect, OptionId, Problem, text};

/// Largest number of options, secrets or suggestions of a question.
pub(crate) const MOST_ITEMS: usize = 100;

/// A tool with its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the tool, an object.
    pub arguments: Value,
}

impl Call {
    /// Digest of the call. An approval is bound to it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_json(&json!({ "tool": self.tool, "arguments": self.arguments }))
    }
}

/// Result of a question at its deadline. Without a fallback the question expires.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// Answers with this option.
    Option(OptionId),
    /// Answers with this value.
    Value(Value),
    /// Answers with a rejection.
    Deny,
    /// Keeps the question open and reports it as overdue.
    Hold,
}

/// One named value of a secret question.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretField {
    /// Name of the value, for example the name of an environment variable.
    pub name: String,
    /// Label of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Input type: `password` and `text` accept one line, `multiline` accepts several. If absent, any text is accepted.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Whether the value must be given.
    pub required: bool,
    /// Regular expression that the value must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Placeholder of the empty field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

/// Source of a suggestion.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionSource {
    /// The definition of the agent.
    Rule,
    /// A model made the suggestion.
    Llm,
    /// Earlier answers of people.
    Analytics,
}

/// A suggested answer that fills in the form. It has no effect until a person sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// Identifier of the suggestion, unique within the question.
    pub id: String,
    /// Label that people see.
    pub label: String,
    /// Source of the suggestion.
    pub source: SuggestionSource,
    /// Identifier of the option that the suggestion chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<OptionId>,
    /// Data that the suggestion fills in.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Number of earlier answers of this form, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// Content of a question. [`Question::admit`] validates it, so that every stored question can be answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Kind of the question.
    pub kind: Kind,
    /// Title of the question, in one line.
    pub title: String,
    /// Text of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Further text that clients show on demand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Structured background. Clients show it as data, never as markup.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub context: Value,
    /// Call that waits for the answer.
    #[serde(rename = "action", default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// Options to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// Whether several options may be chosen at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// JSON Schema of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Named values of a secret question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretField>,
    /// Whether people are asked for the secrets even if values are kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Whether the question must be answered and may not be skipped.
    pub required: bool,
    /// People who may answer. If there are several `requirements`, the strictest of them.
    #[serde(default)]
    pub audience: Audience,
    /// Audiences that must each reach their quorum, if there are several. Empty if `audience` is the only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Audience>,
    /// Deadline of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Time at which people are warned about the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_at: Option<Timestamp>,
    /// Result at the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// Suggested answers that a person may start from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
    /// Metadata of the agent, returned unchanged.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// Rule that asked, as it was when the question was asked. `None` if an agent asked directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by_rule: Option<AskingRule>,
    /// Identifier of the proposed call that the question decides. `None` if an agent asked directly.
    #[serde(rename = "call", default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Whether the question is a message of the conversation that expects a reply. The answer then becomes a message, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reply: bool,
}

impl Question {
    /// Question with only a kind and a title.
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

    /// Adds the defaults of the kind and validates the question. Lists all errors for which people could not answer it properly.
    ///
    /// The `forms` crate checks whether the schema compiles.
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

    /// Sets the deadline and the time of the warning.
    #[must_use]
    pub fn set_time(self, time: Option<SignedDuration>, warning: SignedDuration, now: Timestamp) -> Self {
        let deadline = time.and_then(|time| now.saturating_add(time).ok());
        let warn_at = deadline.and_then(|deadline| deadline.saturating_sub(warning).ok()).filter(|at| *at > now);
        Self { deadline, warn_at, ..self }
    }

    /// JSON Schema that the data of an answer must fit, if there is one.
    #[must_use]
    pub fn form(&self) -> Option<Value> {
        if self.secrets.is_empty() { self.schema.clone() } else { Some(self.secrets_schema()) }
    }

    /// Option with this identifier.
    #[must_use]
    pub fn option(&self, id: &str) -> Option<&Choice> {
        self.options.iter().find(|option| option.id == id)
    }

    /// Whether the question stays open after its deadline.
    #[must_use]
    pub const fn holds(&self) -> bool {
        matches!(self.fallback, Some(Fallback::Hold))
    }

    /// Default fallback: to deny an approval, else to choose the default option, else the recommended option.
    ///
    /// Returns `None` if there is no such option; the question then expires.
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

    /// Effect of the fallback. `None` if the question would expire or stay open.
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
                Choice::new("retry", "Ask for changes", Effect::Retry).with_input("What should change?"),
                Choice::new("reject", "Reject", Effect::Reject),
                Choice::new("terminate", "Reject and end the session", Effect::Terminate),
            ],
            Kind::Confirmation => vec![
                Choice::new("confirm", "Confirm", Effect::Approve),
                Choice::new("cancel", "Cancel", Effect::Reject),
            ],
            Kind::Review => vec![
                Choice::new("approve", "Approve", Effect::Approve),
                Choice::new("revise", "Ask for changes", Effect::Retry).with_input("What should change?"),
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
        text::check_line("/title", &self.title, problems);
        if let Kind::Custom(name) = &self.kind {
            text::check_identifier("/kind", name, problems);
        }
        for (pointer, paragraphs) in [("/message", &self.message), ("/details", &self.details)] {
            if let Some(paragraphs) = paragraphs {
                text::check_paragraphs(pointer, paragraphs, problems);
            }
        }
        for (pointer, value) in [("/context", &self.context), ("/metadata", &self.metadata)] {
            text::check_depth(pointer, value, problems);
        }
        if let Some(call) = &self.call {
            call.check("/action", problems);
        }
        if self.suggestions.len() > MOST_ITEMS {
            problems.push(Problem::new("/suggestions", format!("must have at most {MOST_ITEMS} items")));
        }
        for (index, suggestion) in self.suggestions.iter().enumerate() {
            text::check_identifier(&format!("/suggestions/{index}/id"), &suggestion.id, problems);
            text::check_line(&format!("/suggestions/{index}/label"), &suggestion.label, problems);
            text::check_depth(&format!("/suggestions/{index}/data"), &suggestion.data, problems);
            if suggestion.option.as_ref().is_some_and(|id| self.option(id).is_none()) {
                problems.push(Problem::new(format!("/suggestions/{index}/option"), "is not one of the options"));
            }
        }
    }

    fn check_options(&self, problems: &mut Vec<Problem>) {
        if self.options.len() > MOST_ITEMS {
            problems.push(Problem::new("/options", format!("must have at most {MOST_ITEMS} items")));
        }
        for (index, option) in self.options.iter().enumerate() {
            let at = |field: &str| format!("/options/{index}/{field}");
            text::check_identifier(&at("id"), &option.id, problems);
            text::check_line(&at("label"), &option.label, problems);
            text::check_depth(&at("metadata"), &option.metadata, problems);
            let texts = [
                ("description", &option.description),
                ("input_prompt", &option.input_prompt),
                ("risk", &option.risk),
                ("cost", &option.cost),
                ("duration", &option.duration),
            ];
            for (field, value) in texts {
                if let Some(value) = value {
                    text::check_paragraphs(&at(field), value, problems);
                }
            }
            if self.options[..index].iter().any(|earlier| earlier.id == option.id) {
                problems.push(Problem::new(at("id"), "is already the id of another option"));
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
            problems.push(Problem::new(
                "/secrets",
                "required for a question of kind `secret`, and not allowed for any other kind",
            ));
        }
        if self.fresh && !secret {
            problems.push(Problem::new("/fresh", "only a question of kind `secret` can be answered with kept values"));
        }
        if self.reply && self.kind != Kind::Question {
            problems.push(Problem::new("/requires_reply", "only a question of kind `question` can require a reply"));
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
                    problems.push(Problem::new("/fallback/option", "would run the action without a person's approval"));
                }
                Some(option) if self.form().is_some() && option.effect.carries_form() => {
                    problems.push(Problem::new("/fallback/option", "would leave the form empty: give a value"));
                }
                Some(_) => {}
            },
            Some(Fallback::Value(_)) if self.kind == Kind::Secret => {
                problems.push(Problem::new("/fallback/value", "a question must not contain a secret"));
            }
            Some(Fallback::Value(_)) if !self.takes_value() => {
                problems.push(Problem::new("/fallback/value", "this question is answered with an option"));
            }
            Some(Fallback::Value(Value::Null)) => {
                problems.push(Problem::new("/fallback/value", "must not be null"));
            }
            Some(Fallback::Value(value)) => text::check_depth("/fallback/value", value, problems),
            Some(Fallback::Deny | Fallback::Hold) => {}
        }
    }

    /// Whether the question can be answered with data alone.
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
