//! Questions and drafts written as JSON, so that a row of a table is short.

use holdpoint_domain::{AnswerDraft, Question};
use serde_json::{Value, json};

/// A question before it is admitted: required, with a title and the given fields.
pub(crate) fn question(fields: Value) -> Question {
    serde_json::from_value(merged(json!({ "title": "May I?", "required": true }), fields)).unwrap()
}

/// Draft of an answer with the fields of a request body.
pub(crate) fn draft(fields: Value) -> AnswerDraft {
    let take = |name: &str| fields.get(name).cloned();
    AnswerDraft {
        options: serde_json::from_value(take("options").unwrap_or(json!([]))).unwrap(),
        effect: take("effect").map(|effect| serde_json::from_value(effect).unwrap()),
        arguments: take("arguments"),
        data: take("data").unwrap_or_default(),
        feedback: take("feedback").map(|feedback| feedback.as_str().unwrap().to_owned()),
        remember: None,
        keep: take("keep") == Some(json!(true)),
    }
}

fn merged(mut defaults: Value, fields: Value) -> Value {
    let (Some(all), Value::Object(fields)) = (defaults.as_object_mut(), fields) else { return Value::Null };
    all.extend(fields);
    defaults
}
