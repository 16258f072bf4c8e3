//! Payloads: how the answer to a question is written in this dialect.
//!
//! A question with a form and no options is answered with the form itself. A question with options is answered with an
//! object that names the chosen `action` and the fields that go with it. A question that takes text is answered with
//! `{answer}`, or with the text alone.

use domain::{Answer, AnswerDraft, Choice, Effect, Fallback, Kind, Problem, Question, Refusal, Suggestion};
use engine::Error;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use server::handler::{ApiError, json_pointer, serde_message};

/// Payload of an answer to a question with options.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChoicePayload {
    #[serde(alias = "decision", alias = "option")]
    action: Option<OneOrMany>,
    #[serde(alias = "reason", alias = "feedback")]
    comment: Option<String>,
    answer: Option<String>,
    arguments: Option<Value>,
    #[serde(default)]
    data: Value,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// Whether the question has options, so that the payload names an action.
fn has_options(question: &Question) -> bool {
    !question.options.is_empty()
}

/// Whether the question takes a text as its answer.
fn takes_text(question: &Question) -> bool {
    question.form().is_none()
        && question.kind != Kind::Notice
        && (!has_options(question) || question.kind == Kind::Question)
}

/// Translates a payload into an answer.
pub(super) fn draft(question: &Question, payload: Value) -> Result<AnswerDraft, ApiError> {
    match payload {
        Value::String(text) if has_options(question) && question.option(&text).is_some() => {
            Ok(AnswerDraft { options: vec![text], ..AnswerDraft::default() })
        }
        Value::Object(fields) if has_options(question) => choice_draft(question, Value::Object(fields)),
        Value::Object(mut fields) if takes_text(question) && fields.len() == 1 && fields.contains_key("answer") => {
            Ok(AnswerDraft { data: fields.remove("answer").unwrap_or_default(), ..AnswerDraft::default() })
        }
        Value::Null if question.kind == Kind::Notice => {
            Ok(AnswerDraft { effect: Some(Effect::Provide), ..AnswerDraft::default() })
        }
        data @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_)) => Ok(AnswerDraft { data, ..AnswerDraft::default() }),
    }
}

fn choice_draft(question: &Question, payload: Value) -> Result<AnswerDraft, ApiError> {
    let ChoicePayload { action, comment, answer, arguments, data } = serde_path_to_error::deserialize(payload)
        .map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
            let at = format!("/payload{}", json_pointer(error.path()));
            ApiError::from(Refusal::AnswerInvalid(vec![Problem::new(at, serde_message(&error.into_inner()))]))
        })?;
    let (options, effect) = match action {
        None => (Vec::new(), None),
        Some(OneOrMany::Many(options)) => (options, None),
        // A client may name an effect instead of an option.
        Some(OneOrMany::One(word)) => match effect_of(&word) {
            Some(effect) if question.option(&word).is_none() => (Vec::new(), Some(effect)),
            _ => (vec![word], None),
        },
    };
    let data = answer.map_or(data, Value::String);
    Ok(AnswerDraft { options, effect, arguments, data, feedback: comment, ..AnswerDraft::default() })
}

fn effect_of(word: &str) -> Option<Effect> {
    Effect::ALL.into_iter().find(|effect| effect.name().eq_ignore_ascii_case(word))
}

/// Answer in place of a person where the request has no payload: the fallback of the question, else its default option
/// if that runs no action, else a rejection.
pub(super) fn default_draft(question: &Question) -> AnswerDraft {
    let preset = |option: &&Choice| option.default && !option.effect.runs_action();
    match &question.fallback {
        Some(Fallback::Option(option)) => AnswerDraft { options: vec![option.clone()], ..AnswerDraft::default() },
        Some(Fallback::Value(value)) => AnswerDraft { data: value.clone(), ..AnswerDraft::default() },
        None | Some(Fallback::Hold) if question.kind == Kind::Notice => {
            AnswerDraft { effect: Some(Effect::Provide), ..AnswerDraft::default() }
        }
        None | Some(Fallback::Deny | Fallback::Hold) => match question.options.iter().find(preset) {
            Some(option) if question.fallback.is_none() => {
                AnswerDraft { options: vec![option.id.clone()], ..AnswerDraft::default() }
            }
            _ => AnswerDraft { effect: Some(Effect::Reject), ..AnswerDraft::default() },
        },
    }
}

/// Renders an answer as a payload.
pub(super) fn of_answer(question: &Question, answer: &Answer) -> Value {
    let Answer { effect, options, arguments, data, feedback, .. } = answer;
    if !has_options(question) {
        return match (data, feedback) {
            (Value::String(text), _) if takes_text(question) => json!({ "answer": text }),
            (Value::Null, Some(text)) if *effect == Effect::Provide => json!({ "answer": text }),
            (Value::Null, Some(text)) => json!({ "comment": text }),
            (data, _) => data.clone(),
        };
    }
    let mut payload = Map::new();
    match options.as_slice() {
        [] if *effect == Effect::Provide => {}
        [] => drop(payload.insert("action".into(), json!(effect))),
        [one] if !question.multiple => drop(payload.insert("action".into(), json!(one))),
        many => drop(payload.insert("action".into(), json!(many))),
    }
    let mut with = |name: &str, value: Value| {
        if !value.is_null() {
            payload.insert(name.into(), value);
        }
    };
    with("comment", json!(feedback));
    with("arguments", json!(arguments));
    with(if data.is_string() && takes_text(question) { "answer" } else { "data" }, data.clone());
    Value::Object(payload)
}

/// Payload that chooses an option.
pub(super) fn of_option(option: &str) -> Value {
    json!({ "action": option })
}

/// Payload of a suggestion.
pub(super) fn of_suggestion(question: &Question, suggestion: &Suggestion) -> Value {
    let Suggestion { option, data, .. } = suggestion;
    if !has_options(question) {
        return if data.is_string() && takes_text(question) { json!({ "answer": data }) } else { data.clone() };
    }
    let mut payload = option.as_ref().map_or_else(|| json!({}), |option| of_option(option));
    if !data.is_null() {
        payload["data"] = data.clone();
    }
    payload
}

/// JSON Schema of the payloads that a question accepts; null if it accepts none.
pub(super) fn schema(question: &Question) -> Value {
    let form = question.form();
    let text = json!({ "type": "string" });
    if !has_options(question) {
        return match form {
            Some(form) => form,
            None if takes_text(question) => {
                json!({ "type": "object", "properties": { "answer": text }, "required": ["answer"] })
            }
            None => Value::Null,
        };
    }
    let ids: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    let one = json!({ "type": "string", "enum": ids });
    let action = if question.multiple { json!({ "type": "array", "items": one, "minItems": 1 }) } else { one };
    let mut properties = Map::from_iter([("action".to_owned(), action), ("comment".to_owned(), text.clone())]);
    if question.options.iter().any(|option| option.effect == Effect::Edit) {
        properties.insert("arguments".into(), json!({ "type": "object" }));
    }
    if let Some(form) = form {
        properties.insert("data".into(), form);
    }
    let required: &[&str] = if takes_text(question) { &[] } else { &["action"] };
    if takes_text(question) {
        properties.insert("answer".into(), text);
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Rewrites the JSON Pointers of a refusal to fields of the payload.
pub(super) fn map_fields(error: Error, question: &Question) -> ApiError {
    let form = if has_options(question) { "/payload/data" } else { "/payload" };
    ApiError::from(error).map_pointers(|pointer| {
        let under = |ours: &str, theirs: &str| pointer.strip_prefix(ours).map(|rest| format!("{theirs}{rest}"));
        let action = under("/options", "/payload/action").or_else(|| under("/option", "/payload/action"));
        action
            .or_else(|| under("/effect", "/payload/action"))
            .or_else(|| under("/data", form))
            .or_else(|| under("/arguments", "/payload/arguments"))
            .or_else(|| under("/feedback", "/payload/comment"))
            .unwrap_or(pointer)
    })
}
