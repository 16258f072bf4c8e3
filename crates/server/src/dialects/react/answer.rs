//! What a person chose on this wire, and the answer that it is.

use domain::{AnswerDraft, Effect, Question, SecretField};
use serde_json::{Map, Value};

use super::request::unlisted;

/// Where the parts of an answer stand in a response.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("/option", "/selectedOptionId"),
    ("/options", "/selectedOptionId"),
    ("/effect", "/selectedOptionId"),
    ("/arguments", "/data"),
];

/// The answer to a question. An option that is not offered stays in it, for the engine to refuse.
pub(super) fn draft(chosen: String, feedback: Option<String>, data: Value, question: &Question) -> AnswerDraft {
    let feedback = feedback.filter(|text| !text.trim().is_empty());
    let data = if data.as_object().is_some_and(Map::is_empty) { Value::Null } else { data };
    let besides = unlisted(question).into_iter().find(|choice| choice.id == chosen);
    let effect = question.option(&chosen).or(besides.as_ref()).map(|choice| choice.effect);
    let draft = match (effect, besides) {
        (Some(Effect::Edit), _) => {
            return AnswerDraft { options: vec![chosen], arguments: Some(data), feedback, ..AnswerDraft::default() };
        }
        // What is provided needs no effect to be named, and there may be options that provide as well.
        (_, Some(choice)) if choice.effect == Effect::Provide => AnswerDraft::default(),
        (_, Some(choice)) => AnswerDraft { effect: Some(choice.effect), ..AnswerDraft::default() },
        (_, None) => AnswerDraft { options: vec![chosen], ..AnswerDraft::default() },
    };
    let provided = effect.is_some_and(Effect::carries_form) && data.is_null();
    match (feedback, question.secrets.as_slice()) {
        // The text that was asked for is the secret: it must not stand anywhere in the open.
        (Some(text), [only]) if provided => AnswerDraft { data: secret(only, text), ..draft },
        (Some(text), []) if provided && draft.options.is_empty() && question.schema.is_none() => {
            AnswerDraft { data: Value::String(text), ..draft }
        }
        (feedback, _) => AnswerDraft { data, feedback, ..draft },
    }
}

fn secret(field: &SecretField, text: String) -> Value {
    Value::Object(Map::from_iter([(field.name.clone(), Value::String(text))]))
}
