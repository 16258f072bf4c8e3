//! Suggestions of one question, from three sources; and what of earlier answers may become one.
//!
//! The agent's version demands some (`rule`), its model offers some (`llm`), and what people have answered before gives some
//! (`analytics`). A suggestion fills the form in; a person sends it.

use serde_json::{Value, json};

use crate::access::ActorKind;
use crate::agent::RuleSuggestion;
use crate::question::{MOST_ITEMS, SuggestionSource};
use crate::{Answer, Digest, Effect, Interaction, Kind, OptionId, Question, Resolution, State, Suggestion, text};

/// The largest answer that is counted, as JSON: longer ones are hardly ever given twice.
pub const MOST_BYTES: usize = 4 << 10;
/// How much of the data stands in a label, in characters.
const SHOWN: usize = 80;

impl From<&RuleSuggestion> for Suggestion {
    fn from(rule: &RuleSuggestion) -> Self {
        let RuleSuggestion { id, label, option, data } = rule.clone();
        Self { id, label, source: SuggestionSource::Rule, option, data, count: None }
    }
}

/// Puts the suggestions of all sources together: those of rules first and always, then those of the model, then what others answered.
///
/// Of two with one id the earlier source wins. What others answered and somebody suggests already is not shown again: its count goes to
/// the suggestion that says the same.
#[must_use]
pub fn combine(rule: Vec<Suggestion>, llm: Vec<Suggestion>, analytics: Vec<Suggestion>) -> Vec<Suggestion> {
    let mut combined: Vec<Suggestion> = Vec::new();
    for suggestion in rule.into_iter().chain(llm).chain(analytics) {
        let counted = suggestion.source == SuggestionSource::Analytics;
        let same =
            |other: &&mut Suggestion| counted && other.option == suggestion.option && other.data == suggestion.data;
        if let Some(other) = combined.iter_mut().find(same) {
            other.count = other.count.or(suggestion.count);
        } else if combined.len() < MOST_ITEMS && !combined.iter().any(|other| other.id == suggestion.id) {
            combined.push(suggestion);
        }
    }
    combined
}

/// An answer that people have given before, and how often.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// The option that they chose.
    pub option: Option<OptionId>,
    /// What they filled in.
    pub data: Value,
    /// How often.
    pub count: u64,
}

/// The most frequent answers to the same question, as suggestions: at most so many, and none that this question does not offer.
#[must_use]
pub fn analytics(mut counted: Vec<Counted>, question: &Question, most: usize) -> Vec<Suggestion> {
    if question.kind == Kind::Secret {
        return Vec::new();
    }
    // The digest decides between equals, so that every node shows the same.
    counted.sort_by_cached_key(|answer| {
        (std::cmp::Reverse(answer.count), digest(answer.option.as_ref(), &answer.data).to_string())
    });
    let offered = |answer: &Counted| match &answer.option {
        Some(id) => question.option(id).is_some(),
        None => question.takes_value() && !answer.data.is_null(),
    };
    counted.into_iter().filter(offered).take(most).map(|answer| suggested(answer, question)).collect()
}

fn suggested(Counted { option, data, count }: Counted, question: &Question) -> Suggestion {
    let digest = digest(option.as_ref(), &data).to_string();
    let chosen = option.as_ref().and_then(|id| question.option(id)).map(|option| option.label.clone());
    let filled = (!data.is_null()).then(|| shown(&data));
    let words = chosen.into_iter().chain(filled).collect::<Vec<_>>().join(": ");
    let times = if count == 1 { "once before".to_owned() } else { format!("{count} times before") };
    let label = format!("{} ({times})", cut(&words, text::LINE / 2));
    let id = format!("analytics-{}", digest.get(..16).unwrap_or(&digest));
    Suggestion { id, label, source: SuggestionSource::Analytics, option, data, count: Some(count) }
}

/// What a person reads of the data: one line, with nothing in it that could disguise it.
fn shown(data: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let words = match data {
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name} {}", plain(value))).collect::<Vec<_>>().join(", ")
        }
        other => plain(other),
    };
    let line = text::undisguised(&words);
    let line = if line.trim().is_empty() { "(empty)".to_owned() } else { line };
    cut(&line, SHOWN)
}

fn cut(line: &str, most: usize) -> String {
    if line.chars().count() <= most { line.to_owned() } else { line.chars().take(most - 1).chain(['…']).collect() }
}

/// What of an answer is counted: two answers of one digest are the same answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerPattern {
    /// What tells it from others.
    pub digest: Digest,
    /// The option that was chosen.
    pub option: Option<OptionId>,
    /// What was filled in, or said.
    pub data: Value,
}

impl AnswerPattern {
    /// What of this question's end is counted; none where it is not an answer of people that went on.
    ///
    /// Never a secret, a form with a field for one, a fallback, a rejection; nor an edit, whose arguments were for one action; nor several options at
    /// once; nor what is larger than [`MOST_BYTES`].
    #[must_use]
    pub fn of(interaction: &Interaction) -> Option<Self> {
        let State::Resolved { resolution: Resolution::Answered { answer, .. }, .. } = &interaction.state else {
            return None;
        };
        let question = &interaction.question;
        let secret = question.kind == Kind::Secret || question.schema.as_ref().is_some_and(hides);
        let goes_on = matches!(answer.effect, Effect::Approve | Effect::Provide | Effect::Custom);
        if secret
            || !question.kind.blocks()
            || !goes_on
            || answer.by.kind != ActorKind::User
            || answer.options.len() > 1
        {
            return None;
        }
        let option = answer.options.first().cloned();
        let data = said(answer);
        if option.is_none() && data.is_null() {
            return None;
        }
        let bytes =
            serde_json::to_vec(&json!({ "option": option, "data": data })).map_or(usize::MAX, |json| json.len());
        (bytes <= MOST_BYTES).then(|| Self { digest: digest(option.as_ref(), &data), option, data })
    }
}

/// The data; or the text, where that is all that was said.
fn said(answer: &Answer) -> Value {
    let only_text = answer.data.is_null() && answer.options.is_empty();
    let text = answer.feedback.as_deref().filter(|_| only_text);
    text.map_or_else(|| answer.data.clone(), Value::from)
}

fn digest(option: Option<&OptionId>, data: &Value) -> Digest {
    Digest::of_json(&json!({ "option": option, "data": data }))
}

/// Whether a form has a field whose value nobody else should see.
fn hides(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.get("writeOnly") == Some(&Value::Bool(true))
                || fields.get("format").and_then(Value::as_str) == Some("password")
                || fields.values().any(hides)
        }
        Value::Array(items) => items.iter().any(hides),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests;
