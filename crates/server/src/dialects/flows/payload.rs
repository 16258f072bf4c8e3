//! What is sent to answer a question, and what it says in our words.
//!
//! A question with a form and no options is answered with the form itself. One with options is answered with an object that names the
//! `action` chosen, and what belongs to it. One in words is answered with `{answer}`, or with the text alone.

use domain::{Answer, AnswerDraft, Choice, Effect, Fallback, Kind, Problem, Question, Refusal, Suggestion};
use engine::Error;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::command::{plain, pointer};
use crate::error::ApiError;

/// The answer to a question that has options.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
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

/// Whether the payload names an action instead of being the form.
fn chooses(question: &Question) -> bool {
    !question.options.is_empty()
}

/// Whether it is answered in words.
fn in_words(question: &Question) -> bool {
    question.form().is_none()
        && question.kind != Kind::Notice
        && (!chooses(question) || question.kind == Kind::Question)
}

/// What a payload says.
pub(super) fn draft(question: &Question, payload: Value) -> Result<AnswerDraft, ApiError> {
    match payload {
        Value::String(text) if chooses(question) && question.option(&text).is_some() => {
            Ok(AnswerDraft { options: vec![text], ..AnswerDraft::default() })
        }
        Value::Object(fields) if chooses(question) => chosen(question, Value::Object(fields)),
        Value::Object(mut fields) if in_words(question) && fields.len() == 1 && fields.contains_key("answer") => {
            Ok(AnswerDraft { data: fields.remove("answer").unwrap_or_default(), ..AnswerDraft::default() })
        }
        Value::Null if question.kind == Kind::Notice => {
            Ok(AnswerDraft { effect: Some(Effect::Provide), ..AnswerDraft::default() })
        }
        data => Ok(AnswerDraft { data, ..AnswerDraft::default() }),
    }
}

fn chosen(question: &Question, payload: Value) -> Result<AnswerDraft, ApiError> {
    let Chosen { action, comment, answer, arguments, data } =
        serde_path_to_error::deserialize(payload).map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
            let at = format!("/payload{}", pointer(error.path()));
            ApiError::from(Refusal::AnswerInvalid(vec![Problem::new(at, plain(&error.into_inner()))]))
        })?;
    let (options, effect) = match action {
        None => (Vec::new(), None),
        Some(OneOrMany::Many(options)) => (options, None),
        // For whoever does not know the options' names.
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

/// What is answered in place of a person where nothing was said: what the question falls back to, else what it presets and runs nothing,
/// else no.
pub(super) fn unsaid(question: &Question) -> AnswerDraft {
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

/// What an answer looks like as a payload.
pub(super) fn shown(question: &Question, answer: &Answer) -> Value {
    let Answer { effect, options, arguments, data, feedback, .. } = answer;
    if !chooses(question) {
        return match (data, feedback) {
            (Value::String(text), _) if in_words(question) => json!({ "answer": text }),
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
    with(if data.is_string() && in_words(question) { "answer" } else { "data" }, data.clone());
    Value::Object(payload)
}

/// The payload that chooses an option.
pub(super) fn choosing(option: &str) -> Value {
    json!({ "action": option })
}

/// The payload that a suggestion fills in.
pub(super) fn filled(question: &Question, suggestion: &Suggestion) -> Value {
    let Suggestion { option, data, .. } = suggestion;
    if !chooses(question) {
        return if data.is_string() && in_words(question) { json!({ "answer": data }) } else { data.clone() };
    }
    let mut payload = option.as_ref().map_or_else(|| json!({}), |option| choosing(option));
    if !data.is_null() {
        payload["data"] = data.clone();
    }
    payload
}

/// JSON Schema of the payloads that a question takes; null where it takes none.
pub(super) fn schema(question: &Question) -> Value {
    let form = question.form();
    let text = json!({ "type": "string" });
    if !chooses(question) {
        return match form {
            Some(form) => form,
            None if in_words(question) => {
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
    let required: &[&str] = if in_words(question) { &[] } else { &["action"] };
    if in_words(question) {
        properties.insert("answer".into(), text);
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The same refusal with the places of this wire's payload.
pub(super) fn placed(error: Error, question: &Question) -> ApiError {
    let form = if chooses(question) { "/payload/data" } else { "/payload" };
    ApiError::from(error).at(|pointer| {
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
