//! Reads the arguments of the `ask_user` tools into questions.

use domain::{Choice, Effect, Kind, Question, SecretField, text};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The question of a call and the suggestions of the model, which may be any JSON: unreadable suggestions are dropped
/// later.
pub(super) fn read(tool: &str, arguments: &Value) -> Result<(Question, Value), String> {
    if arguments["question"].as_str().is_some_and(|question| question.trim().is_empty()) {
        return Err("The question was not asked: `question` is empty.".to_owned());
    }
    match tool {
        "clarify" => parsed::<Clarify>(tool, arguments).map(Clarify::question),
        "choose" => parsed::<Choose>(tool, arguments).map(Choose::question),
        "form" => parsed::<Form>(tool, arguments).map(Form::question),
        "secret" => parsed::<Secret>(tool, arguments).map(Secret::question),
        "confirm" => parsed::<Confirm>(tool, arguments).map(Confirm::question),
        other => Err(format!("There is no tool `ask_user_{other}`.")),
    }
}

fn parsed<T: DeserializeOwned>(tool: &str, arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| {
        let error = text::misread(&error.to_string());
        format!("The question was not asked: the arguments do not fit `ask_user_{tool}`: {error}.")
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clarify {
    question: String,
    title: Option<String>,
    details: Option<String>,
    #[serde(default)]
    options: Vec<OptionArguments>,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    requires_reply: bool,
    #[serde(default)]
    suggestions: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choose {
    question: String,
    title: Option<String>,
    details: Option<String>,
    options: Vec<OptionArguments>,
    #[serde(default)]
    multiple: bool,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    suggestions: Value,
}

/// One option that a model offers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionArguments {
    id: String,
    label: String,
    description: Option<String>,
    effect: Option<Effect>,
    #[serde(default)]
    requires_input: bool,
    input_prompt: Option<String>,
    risk: Option<String>,
    cost: Option<String>,
    duration: Option<String>,
    #[serde(default)]
    recommended: bool,
    #[serde(default)]
    dangerous: bool,
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    question: String,
    title: Option<String>,
    details: Option<String>,
    schema: Value,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    suggestions: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Secret {
    question: String,
    title: Option<String>,
    details: Option<String>,
    secrets: Vec<SecretArguments>,
    #[serde(default)]
    fresh: bool,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    suggestions: Value,
}

/// One secret value that a model asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretArguments {
    name: String,
    label: Option<String>,
    #[serde(rename = "type")]
    input: Option<String>,
    #[serde(default = "yes")]
    required: bool,
    pattern: Option<String>,
    placeholder: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Confirm {
    question: String,
    title: Option<String>,
    details: Option<String>,
    #[serde(default)]
    dangerous: bool,
    #[serde(default)]
    suggestions: Value,
}

impl Clarify {
    fn question(self) -> (Question, Value) {
        let question = Question {
            options: self.options.into_iter().map(Choice::from).collect(),
            required: !self.optional,
            reply: self.requires_reply,
            ..question_of(Kind::Question, self.question, self.title, self.details)
        };
        (question, self.suggestions)
    }
}

impl Choose {
    fn question(self) -> (Question, Value) {
        let question = Question {
            options: self.options.into_iter().map(Choice::from).collect(),
            multiple: self.multiple,
            required: !self.optional,
            ..question_of(Kind::Choice, self.question, self.title, self.details)
        };
        (question, self.suggestions)
    }
}

impl From<OptionArguments> for Choice {
    fn from(offer: OptionArguments) -> Self {
        Self {
            description: offer.description,
            requires_input: offer.requires_input,
            input_prompt: offer.input_prompt,
            risk: offer.risk,
            cost: offer.cost,
            duration: offer.duration,
            recommended: offer.recommended,
            dangerous: offer.dangerous,
            metadata: offer.metadata,
            ..Self::new(&offer.id, &offer.label, offer.effect.unwrap_or(Effect::Provide))
        }
    }
}

impl Form {
    fn question(self) -> (Question, Value) {
        let question = Question {
            schema: Some(self.schema),
            required: !self.optional,
            ..question_of(Kind::Form, self.question, self.title, self.details)
        };
        (question, self.suggestions)
    }
}

impl Secret {
    fn question(self) -> (Question, Value) {
        let question = Question {
            secrets: self.secrets.into_iter().map(SecretField::from).collect(),
            fresh: self.fresh,
            required: !self.optional,
            ..question_of(Kind::Secret, self.question, self.title, self.details)
        };
        (question, self.suggestions)
    }
}

impl From<SecretArguments> for SecretField {
    fn from(wanted: SecretArguments) -> Self {
        let SecretArguments { name, label, input, required, pattern, placeholder } = wanted;
        Self { name, label, input, required, pattern, placeholder }
    }
}

impl Confirm {
    fn question(self) -> (Question, Value) {
        let confirm = Choice { dangerous: self.dangerous, ..Choice::new("confirm", "Confirm", Effect::Approve) };
        let question = Question {
            options: vec![confirm, Choice::new("cancel", "Cancel", Effect::Reject)],
            ..question_of(Kind::Confirmation, self.question, self.title, self.details)
        };
        (question, self.suggestions)
    }
}

/// The common parts of a question.
fn question_of(kind: Kind, question: String, title: Option<String>, details: Option<String>) -> Question {
    Question { details, ..Question::in_words(kind, question, title) }
}

const fn yes() -> bool {
    true
}
