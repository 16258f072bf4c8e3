//! The audit trail: who did what, how and from where, and to what; written once, chained, and signed now and then.
//!
//! [`Entry`] is one thing that was done. [`chain`] links the entries of a tenant by hashes and signs checkpoints of them;
//! [`export`] is how a chain stands in a file, which a [`seal`] ends; [`verify`] reads such a file and names the first entry
//! that does not fit.

pub mod chain;
pub mod export;
pub mod seal;
pub mod verify;

mod finding;

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    Actor, Answer, Caller, Credential, Digest, EntryId, EntryPoint, EventDraft, InteractionId, KeyId, Kind, Question,
    Scope, SessionId, VisitId,
};

/// An entry larger than this keeps digests in place of its largest parts.
const MOST_BYTES: usize = 64 * 1024;
/// A part that is larger than this is kept as its digest when the entry is too large.
const MOST_PART: usize = 4 * 1024;

/// One thing that was done, as it is kept for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// Whose it is, and where it was done.
    #[serde(flatten)]
    pub scope: Scope,
    /// When: the time of the transaction that did it.
    pub at: Timestamp,
    /// What was done, as a dotted name.
    #[serde(rename = "type")]
    pub name: String,
    /// Who did it.
    pub by: Actor,
    /// How, and from where.
    pub how: How,
    /// The session that it was done in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The number of the session's event that tells of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// The question that it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<InteractionId>,
    /// The particulars: what was asked and said, arguments and forms included. Never a secret value or a resume point.
    pub data: Value,
}

/// How something was done.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct How {
    /// Through which door.
    #[serde(rename = "wire")]
    pub entry_point: EntryPoint,
    /// With which key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub key: Option<KeyId>,
    /// In which browser, where a person was signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub visit: Option<VisitId>,
    /// From which address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub from: Option<IpAddr>,
}

impl How {
    /// As a caller does things.
    #[must_use]
    pub const fn of(caller: &Caller) -> Self {
        let (key, visit) = match caller.credential {
            Credential::Key(key) => (Some(key), None),
            Credential::Visit(visit) => (None, Some(visit)),
            Credential::Worker => (None, None),
        };
        Self { entry_point: caller.entry_point, key, visit, from: caller.from }
    }

    /// Through a door that needs no key.
    #[must_use]
    pub const fn by(entry_point: EntryPoint) -> Self {
        Self { entry_point, key: None, visit: None, from: None }
    }
}

/// An entry as it is kept: the text that its digest is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// What it says.
    pub entry: Entry,
    /// The same as JSON. This very text is kept, exported and digested, so that no spelling of a number can differ.
    pub text: String,
    /// SHA-256 of the text.
    pub digest: Digest,
}

impl Entry {
    /// Writes it down. Where it is too large, its largest parts are replaced by their digests.
    #[must_use]
    pub fn written(mut self) -> Written {
        let mut text = spelled(&self);
        if text.len() > MOST_BYTES {
            shorten(&mut self.data, 0);
            text = spelled(&self);
        }
        let digest = Digest::of_bytes(text.as_bytes());
        Written { entry: self, text, digest }
    }
}

fn spelled(entry: &Entry) -> String {
    // Its keys are strings and its numbers are JSON's own, so that this cannot fail; if it did, the entry would be found empty.
    serde_json::to_string(entry).unwrap_or_default()
}

/// Replaces large parts by their digest and size, down to the third level.
fn shorten(value: &mut Value, depth: u8) {
    let Value::Object(fields) = value else { return };
    for part in fields.values_mut() {
        let text = part.to_string();
        if text.len() <= MOST_PART {
            continue;
        }
        if depth < 2 && part.is_object() {
            shorten(part, depth + 1);
        }
        if part.to_string().len() > MOST_PART {
            *part = json!({ "digest": Digest::of_bytes(text.as_bytes()), "bytes": text.len() });
        }
    }
}

/// What an entry says of something that happened: who did it, and all its particulars.
#[must_use]
pub fn particulars(happening: &EventDraft, otherwise: &Actor) -> (Actor, Value) {
    let mut data = happening.data.as_object().cloned().unwrap_or_default();
    let by = data.remove("by").and_then(|by| serde_json::from_value(by).ok());
    if let Value::Object(more) = &happening.record {
        data.extend(more.clone());
    }
    (by.unwrap_or_else(|| otherwise.clone()), Value::Object(data))
}

/// What the record keeps of a question: what people were asked to decide, and the digest of everything they were shown.
pub(crate) fn of_question(question: &Question) -> Value {
    let options: Vec<Value> =
        question.options.iter().map(|option| json!({ "id": option.id, "effect": option.effect })).collect();
    let mut kept = json!({
        "options": options,
        "audience": question.audience,
        "question_digest": Digest::of_bytes(&serde_json::to_vec(question).unwrap_or_default()),
    });
    let mut with = |name: &str, value: Value| {
        if !value.is_null() {
            kept[name] = value;
        }
    };
    if !question.requirements.is_empty() {
        with("requirements", json!(question.requirements));
    }
    with("message", json!(question.message));
    with("action", json!(question.call));
    with("fallback", json!(question.fallback));
    with("rule", json!(question.asked_by_rule));
    if question.kind == Kind::Secret {
        with("secrets", secret_names(question));
    }
    kept
}

/// What the record keeps of an answer: all of it, beside the action as it was asked about.
pub(crate) fn of_answer(question: &Question, answer: &Answer) -> Value {
    let mut kept = Map::from_iter([("answer".to_owned(), json!(answer))]);
    if let Some(action) = &question.call {
        kept.insert("action".into(), json!(action));
    }
    Value::Object(kept)
}

/// What the record keeps of a delivery: which secrets were handed over, by name.
pub(crate) fn of_delivery(question: &Question) -> Value {
    if question.kind == Kind::Secret { json!({ "secrets": secret_names(question) }) } else { Value::Null }
}

fn secret_names(question: &Question) -> Value {
    question.secrets.iter().map(|secret| Value::from(secret.name.as_str())).collect()
}
