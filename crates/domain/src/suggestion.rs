//! Suggestions for a question from three sources, and the selection of earlier answers that may become one.
//!
//! The version of the agent defines some (`rule`), its model offers some (`llm`), and earlier answers of people provide some (`analytics`).
//! A suggestion fills in the form; only a person sends it.

use serde_json::{Value, json};

use crate::access::ActorKind;
use crate::agent::RuleSuggestion;
use crate::question::{MOST_ITEMS, SuggestionSource};
use crate::{Answer, Digest, Effect, Interaction, Kind, OptionId, Question, Resolution, State, Suggestion, text};

/// Largest answer in bytes of JSON that is counted. Longer answers are rarely given twice.
pub const MOST_BYTES: usize = 4 << 10;
/// Largest number of characters of the data in a label.
const SHOWN: usize = 80;

impl From<&RuleSuggestion> for Suggestion {
    fn from(rule: &RuleSuggestion) -> Self {
        let RuleSuggestion { id, label, option, data } = rule.clone();
        Self { id, label, source: SuggestionSource::Rule, option, data, count: None }
    }
}

/// Combines the suggestions of all sources: first those of rules, then those of the model, then earlier answers.
///
/// Of two suggestions with one identifier, the earlier source wins. An earlier answer that is already suggested is not added; its count is
/// added to the suggestion with equal content.
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

/// An answer that people gave before, with its frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// Identifier of the chosen option.
    pub option: Option<OptionId>,
    /// Data that was filled in.
    pub data: Value,
    /// Number of times that the answer was given.
    pub count: u64,
}

/// The most frequent earlier answers as suggestions, at most `most`. Answers that this question does not offer are left out.
#[must_use]
pub fn analytics(mut counted: Vec<Counted>, question: &Question, most: usize) -> Vec<Suggestion> {
    if question.kind == Kind::Secret {
        return Vec::new();
    }
    // The digest orders answers with equal counts, so that every node shows an equal list.
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
    let filled = (!data.is_null()).then(|| format_data(&data));
    let words = chosen.into_iter().chain(filled).collect::<Vec<_>>().join(": ");
    let times = if count == 1 { "once before".to_owned() } else { format!("{count} times before") };
    let label = format!("{} ({times})", cut(&words, text::LINE / 2));
    let id = format!("analytics-{}", digest.get(..16).unwrap_or(&digest));
    Suggestion { id, label, source: SuggestionSource::Analytics, option, data, count: Some(count) }
}

/// Data as one line of text, without characters that could disguise it.
fn format_data(data: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let words = if let Value::Object(fields) = data {
        fields.iter().map(|(name, value)| format!("{name} {}", plain(value))).collect::<Vec<_>>().join(", ")
    } else {
        plain(data)
    };
    let line = text::undisguised(&words);
    let line = if line.trim().is_empty() { "(empty)".to_owned() } else { line };
    cut(&line, SHOWN)
}

fn cut(line: &str, most: usize) -> String {
    if line.chars().count() <= most { line.to_owned() } else { line.chars().take(most - 1).chain(['…']).collect() }
}

/// Counted part of an answer. Answers with equal digests are counted together.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerPattern {
    /// Digest of option and data.
    pub digest: Digest,
    /// Identifier of the chosen option.
    pub option: Option<OptionId>,
    /// Data that was filled in, or the text.
    pub data: Value,
}

impl AnswerPattern {
    /// Counted part of the answer to a question. `None` unless people answered and the agent continued.
    ///
    /// Not counted are: secrets, forms with a secret field, fallbacks, rejections, edits (their arguments belong to one action), several
    /// options at once, and answers larger than [`MOST_BYTES`].
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
        let data = answer_data(answer);
        if option.is_none() && data.is_null() {
            return None;
        }
        let bytes =
            serde_json::to_vec(&json!({ "option": option, "data": data })).map_or(usize::MAX, |json| json.len());
        (bytes <= MOST_BYTES).then(|| Self { digest: digest(option.as_ref(), &data), option, data })
    }
}

/// Data of the answer, or its text if it has neither data nor options.
fn answer_data(answer: &Answer) -> Value {
    let only_text = answer.data.is_null() && answer.options.is_empty();
    let text = answer.feedback.as_deref().filter(|_| only_text);
    text.map_or_else(|| answer.data.clone(), Value::from)
}

fn digest(option: Option<&OptionId>, data: &Value) -> Digest {
    Digest::of_json(&json!({ "option": option, "data": data }))
}

/// Whether the form has a field for a secret value.
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
