//! Suggested answers of a question: the suggestions of the agent's version, and the suggestions of the model that the version allows.

use domain::agent::AllowedSuggestion;
use domain::event::DroppedSuggestion;
use domain::question::SuggestionSource;
use domain::{AgentVersion, Kind, OptionId, Question, Suggestion, text};
use serde::Deserialize;
use serde_json::Value;

/// Largest number of suggestions of a question.
const MOST: usize = 100;

/// Largest number of the model's suggestions that are read, so that the list of dropped ones stays readable.
const LOOKED_AT: usize = 2 * MOST;

/// A suggestion of the model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with an id and a label")]
struct SuggestionArguments {
    id: String,
    label: String,
    option: Option<String>,
    #[serde(default)]
    data: Value,
}

/// Adds the allowed suggestions to the question and returns the others.
pub(super) fn choose(question: &mut Question, offered: Value, agent: &AgentVersion) -> Vec<DroppedSuggestion> {
    let mut dropped = Vec::new();
    let offered = readable(offered, &mut dropped);
    let rules = agent.suggestions.get(question.kind.name()).into_iter().flatten();
    let rules = rules.map(|rule| Suggestion {
        id: rule.id.clone(),
        label: rule.label.clone(),
        source: SuggestionSource::Rule,
        option: rule.option.clone(),
        data: rule.data.clone(),
        count: None,
    });
    for suggestion in rules {
        add(question, suggestion, &mut dropped);
    }
    for SuggestionArguments { id, label, option, data } in offered {
        if let Some(reason) = forbidden((&id, option.as_ref()), &data, &agent.allowed_suggestions) {
            dropped.push(DroppedSuggestion::new(&id, reason));
        } else {
            let source = SuggestionSource::Llm;
            add(question, Suggestion { id, label, source, option, data, count: None }, &mut dropped);
        }
    }
    dropped
}

/// The readable suggestions of a model. One unreadable suggestion does not affect the others.
fn readable(offered: Value, dropped: &mut Vec<DroppedSuggestion>) -> Vec<SuggestionArguments> {
    let offered = match offered {
        Value::Null => Vec::new(),
        Value::Array(mut offered) => {
            if let Some(more) = offered.len().checked_sub(LOOKED_AT).filter(|more| *more > 0) {
                dropped.push(DroppedSuggestion::new("", format!("{more} more suggestions were not checked")));
                offered.truncate(LOOKED_AT);
            }
            offered
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            dropped.push(DroppedSuggestion::new("", "`suggestions` is not a list".to_owned()));
            Vec::new()
        }
    };
    let read = |one: Value| match SuggestionArguments::deserialize(&one) {
        Ok(one) => Some(one),
        Err(error) => {
            let id = one.get("id").and_then(Value::as_str).unwrap_or_default();
            // Field names in the error are the model's own words.
            dropped.push(DroppedSuggestion::new(id, text::sayable(&format!("it is not a suggestion: {error}"))));
            None
        }
    };
    offered.into_iter().filter_map(read).collect()
}

fn add(question: &mut Question, suggestion: Suggestion, dropped: &mut Vec<DroppedSuggestion>) {
    match unfit(question, &suggestion) {
        None => question.suggestions.push(suggestion),
        Some(reason) => dropped.push(DroppedSuggestion::new(&suggestion.id, reason)),
    }
}

/// Reason why the agent's version does not allow its model this suggestion.
fn forbidden((id, option): (&str, Option<&OptionId>), data: &Value, allowed: &[AllowedSuggestion]) -> Option<String> {
    let Some(allowed) = allowed.iter().find(|allowed| allowed.id == id) else {
        return Some("the agent's version does not allow this suggestion".to_owned());
    };
    if let Some(option) = option.filter(|option| !allowed.options.contains(option)) {
        return Some(format!("the option `{option}` is not allowed"));
    }
    let fields = match data {
        Value::Null => return None,
        Value::Object(fields) => fields,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Some("its data is not an object of parameters".to_owned());
        }
    };
    fields.iter().find_map(|(name, value)| match allowed.parameters.get(name) {
        None => Some(format!("the parameter `{name}` is not allowed")),
        Some(values) if !values.is_empty() && !values.contains(value) => {
            Some(format!("the parameter `{name}` may not have this value"))
        }
        Some(_) => None,
    })
}

/// Reason why this question cannot show a suggestion from any source.
fn unfit(question: &Question, suggestion: &Suggestion) -> Option<String> {
    if question.suggestions.iter().any(|earlier| earlier.id == suggestion.id) {
        return Some("there is a suggestion of this id already".to_owned());
    }
    if question.suggestions.len() >= MOST {
        return Some(format!("there are {MOST} suggestions already"));
    }
    if question.kind == Kind::Secret && !suggestion.data.is_null() {
        return Some("a question must not contain a secret".to_owned());
    }
    if suggestion.option.as_ref().is_some_and(|id| question.option(id).is_none()) {
        return Some("it chooses an option that the question does not have".to_owned());
    }
    let mut problems = Vec::new();
    text::check_identifier("id", &suggestion.id, &mut problems);
    text::check_line("label", &suggestion.label, &mut problems);
    text::check_depth("data", &suggestion.data, &mut problems);
    problems.first().map(|problem| format!("its {} {}", problem.pointer, problem.message))
}
