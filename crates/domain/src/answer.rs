//! Answers of people, and the check whether an answer fits its question.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Actor, ActorKind, AnswerId, Call, Choice, Effect, EntryPoint, Kind, OptionId, Problem, Question, Remember, Role,
    text,
};

/// Message for an approval with changed arguments, which is refused.
pub const AS_PROPOSED: &str = "an approved action runs with its proposed arguments: send an `edit` to change them";

/// An accepted answer, as it is recorded and as the agent reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Identifier of the answer.
    pub id: AnswerId,
    /// Actor that gave the answer.
    pub by: Actor,
    /// Groups of the person at the time of the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Role of the person at the time of the answer. `None` if no person answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Entry point of the answer. `None` if no person answered, and in answers that are older than this field.
    #[serde(rename = "wire", default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<EntryPoint>,
    /// Time of the answer.
    pub at: Timestamp,
    /// Effect on the step of the agent.
    pub effect: Effect,
    /// Identifiers of the chosen options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionId>,
    /// Metadata of the chosen option, as the agent gave it. If several options were chosen, an object with the metadata of each under its
    /// identifier.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// With the effect `edit`: the arguments to run with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Data of the form, or the information that was asked for. For a secret question it contains only the names of the values.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Reason for the answer, or free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

impl Answer {
    /// Whether two answers are equal for a quorum. Their feedback may differ, unless the feedback is the only content of the answer.
    #[must_use]
    pub fn agrees_with(&self, other: &Self) -> bool {
        let only_text = self.options.is_empty() && self.data.is_null();
        self.effect == other.effect
            && self.options == other.options
            && self.arguments == other.arguments
            && self.data == other.data
            && (!only_text || self.feedback == other.feedback)
    }
}

/// Author of an answer, as a step journals it. It is stored as a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum AnsweredBy {
    /// The person with this name.
    Person(String),
    /// No person: a policy or a fallback answered, or the question needed no answer.
    System,
}

impl From<String> for AnsweredBy {
    fn from(name: String) -> Self {
        // Early journals have the name of the system's actor. No person has either name (`user::RESERVED`).
        if name == "system" || name == Actor::system().name { Self::System } else { Self::Person(name) }
    }
}

impl From<AnsweredBy> for String {
    fn from(by: AnsweredBy) -> Self {
        by.to_string()
    }
}

impl From<&Actor> for AnsweredBy {
    fn from(actor: &Actor) -> Self {
        if actor.kind == ActorKind::User { Self::Person(actor.name.clone()) } else { Self::System }
    }
}

impl fmt::Display for AnsweredBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Person(name) => name,
            Self::System => "system",
        })
    }
}

/// An answer that was not yet checked against its question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerDraft {
    /// Identifiers of the chosen options.
    pub options: Vec<OptionId>,
    /// Effect of the answer, for clients that do not know the identifiers of the options.
    pub effect: Option<Effect>,
    /// With the effect `edit`: the arguments to run with.
    pub arguments: Option<Value>,
    /// Data of the form, or the information that was asked for.
    pub data: Value,
    /// Reason for the answer, or free text.
    pub feedback: Option<String>,
    /// Scope of a grant to create with this approval.
    pub remember: Option<Remember>,
    /// Whether the given secrets are kept for later sessions of the agent.
    pub keep: bool,
}

impl AnswerDraft {
    fn says_something(&self) -> bool {
        let data = match &self.data {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => true,
        };
        data || self.feedback.as_ref().is_some_and(|feedback| !feedback.trim().is_empty())
    }
}

/// Proof that the data of a draft fits the form of its question. The caller that ran the validator creates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormProof(());

impl FormProof {
    /// States that a validator has accepted the data.
    #[must_use]
    pub const fn checked() -> Self {
        Self(())
    }
}

/// A draft that fits its question.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// Effect of the answer.
    pub effect: Effect,
    /// Identifiers of the chosen options, in the order of the question.
    pub options: Vec<OptionId>,
    /// Metadata of the chosen option; of several options, an object with the metadata of each under its identifier.
    pub metadata: Value,
    draft: AnswerDraft,
}

impl Settled {
    /// Converts the draft to an answer of the given actor.
    #[must_use]
    pub fn sign(self, id: AnswerId, by: Actor, groups: Vec<String>, at: Timestamp) -> Answer {
        let AnswerDraft { arguments, data, feedback, .. } = self.draft;
        Answer {
            id,
            by,
            groups,
            role: None,
            entry_point: None,
            at,
            effect: self.effect,
            options: self.options,
            metadata: self.metadata,
            arguments,
            data,
            feedback,
        }
    }
}

impl Question {
    /// Checks a draft against the question. Returns the draft with its effect, or all errors.
    pub fn settle(&self, mut draft: AnswerDraft, proof: Option<FormProof>) -> Result<Settled, Vec<Problem>> {
        let mut problems = Vec::new();
        draft.feedback = draft.feedback.filter(|feedback| !feedback.trim().is_empty());
        let Some((effect, chosen)) = self.find_chosen(&draft, &mut problems) else { return Err(problems) };
        let formless = !effect.carries_form() || self.form().is_none();
        if formless && draft.data.as_object().is_some_and(serde_json::Map::is_empty) {
            draft.data = Value::Null;
        }
        if draft.keep && (self.kind != Kind::Secret || !effect.carries_form()) {
            problems.push(Problem::new("/keep", "only an answer with secret values can be kept"));
        }
        Self::check_arguments(effect, &draft, &mut problems);
        self.check_remember(effect, &draft, &mut problems);
        self.check_data(effect, &chosen, &draft, proof, &mut problems);
        if let Some(feedback) = &draft.feedback {
            text::check_paragraphs("/feedback", feedback, &mut problems);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let metadata = metadata(&chosen);
        let options = chosen.iter().map(|option| option.id.clone()).collect();
        Ok(Settled { effect, options, metadata, draft })
    }

    /// Effect that the draft would have. `None` if it does not identify one.
    #[must_use]
    pub fn effect_of(&self, draft: &AnswerDraft) -> Option<Effect> {
        self.find_chosen(draft, &mut Vec::new()).map(|(effect, _)| effect)
    }

    fn find_chosen(&self, draft: &AnswerDraft, problems: &mut Vec<Problem>) -> Option<(Effect, Vec<&Choice>)> {
        if !draft.options.is_empty() {
            return self.find_chosen_by_id(draft, problems);
        }
        let Some(effect) = draft.effect else {
            if self.takes_value() {
                return Some((Effect::Provide, Vec::new()));
            }
            problems.push(Problem::new("/option", format!("choose one of {}", self.option_names())));
            return None;
        };
        let free = effect == Effect::Provide && self.takes_value();
        // Free text does not choose an option that the draft does not name, and a dangerous option is not chosen by its effect alone.
        if free && draft.says_something() {
            return Some((effect, Vec::new()));
        }
        let mut offered = self.options.iter().filter(|option| option.effect == effect);
        match (offered.next(), offered.next()) {
            (Some(option), None) if free && option.dangerous => return Some((effect, Vec::new())),
            (Some(option), None) => return Some((effect, vec![option])),
            (Some(_), Some(_)) => {
                problems.push(Problem::new("/effect", "several options have this effect: name the option"));
            }
            (None, _) if free => return Some((effect, Vec::new())),
            (None, _) if effect == Effect::Skip && !self.required => return Some((effect, Vec::new())),
            (None, _) if effect == Effect::Reject && self.takes_value() => return Some((effect, Vec::new())),
            (None, _) => problems.push(Problem::new("/effect", "this question does not offer this effect")),
        }
        None
    }

    fn find_chosen_by_id(&self, draft: &AnswerDraft, problems: &mut Vec<Problem>) -> Option<(Effect, Vec<&Choice>)> {
        if draft.options.len() > 1 && !self.multiple {
            problems.push(Problem::new("/options", "only one option can be chosen"));
        }
        for id in &draft.options {
            if self.option(id).is_none() {
                problems.push(Problem::new("/option", format!("choose one of {}", self.option_names())));
            }
        }
        let chosen: Vec<&Choice> = self.options.iter().filter(|option| draft.options.contains(&option.id)).collect();
        let effect = chosen.first().map(|option| option.effect)?;
        if chosen.iter().any(|option| option.effect != effect) {
            problems.push(Problem::new("/options", "have different effects and cannot be chosen together"));
        }
        if draft.effect.is_some_and(|named| named != effect) {
            problems.push(Problem::new("/effect", "is not the effect of the option chosen"));
        }
        problems.is_empty().then_some((effect, chosen))
    }

    fn check_arguments(effect: Effect, draft: &AnswerDraft, problems: &mut Vec<Problem>) {
        match (effect, &draft.arguments) {
            (Effect::Edit, Some(arguments)) if arguments.is_object() => {
                crate::action::check_arguments("/arguments", arguments, problems);
            }
            (Effect::Edit, _) => {
                problems.push(Problem::new("/arguments", "an edit needs complete new arguments, as an object"));
            }
            (_, Some(_)) => problems.push(Problem::new("/arguments", "only an edit takes arguments")),
            (_, None) => {}
        }
    }

    fn check_remember(&self, effect: Effect, draft: &AnswerDraft, problems: &mut Vec<Problem>) {
        let Some(remember) = &draft.remember else { return };
        let approves = self.kind == Kind::Approval && self.call_id.is_some() && effect.runs_action();
        let (Some(call), true) = (&self.call, approves) else {
            problems.push(Problem::new("/remember", "only the approval of a proposed action can be remembered"));
            return;
        };
        if self.needs_several() {
            problems.push(Problem::new("/remember", "a decision of several people cannot be remembered"));
        }
        let arguments = draft.arguments.as_ref().unwrap_or(&call.arguments);
        remember.check(&Call { tool: call.tool.clone(), arguments: arguments.clone() }, problems);
    }

    fn check_data(
        &self,
        effect: Effect,
        chosen: &[&Choice],
        draft: &AnswerDraft,
        proof: Option<FormProof>,
        problems: &mut Vec<Problem>,
    ) {
        text::check_depth("/data", &draft.data, problems);
        let empty = draft.data.is_null() || draft.data.as_str().is_some_and(|text| text.trim().is_empty());
        let silent = empty && draft.feedback.is_none();
        if !effect.carries_form() && !draft.data.is_null() {
            problems.push(Problem::new("/data", "this effect takes no form: give a reason as feedback"));
        } else if effect.carries_form() && self.form().is_some() {
            if proof.is_none() {
                problems.push(Problem::new("/data", "the form must be filled in"));
            }
        } else if effect == Effect::Approve && self.has_otherwise(&draft.data) {
            problems.push(Problem::new("/data", AS_PROPOSED));
        } else if chosen.iter().any(|option| option.requires_input) && silent {
            problems.push(Problem::new("/feedback", "this option needs a text or data as well"));
        } else if effect == Effect::Provide && chosen.is_empty() && silent && self.kind != Kind::Notice {
            problems.push(Problem::new("/data", "an answer needs a text, data or an option"));
        }
    }

    /// Whether data without a form names arguments of the call and gives them other values than the question shows.
    fn has_otherwise(&self, data: &Value) -> bool {
        let shown = self.call.as_ref().and_then(|call| call.arguments.as_object());
        let (Some(shown), Some(given)) = (shown, data.as_object()) else { return false };
        let names_some = given.keys().any(|name| shown.contains_key(name));
        names_some && given.iter().any(|(name, value)| shown.get(name) != Some(value))
    }

    fn option_names(&self) -> String {
        let names: Vec<&str> = self.options.iter().map(|option| option.id.as_str()).collect();
        if names.is_empty() { "none: this question takes text or data".into() } else { names.join(", ") }
    }
}

/// Metadata of the chosen options. With several options, those without metadata are left out.
fn metadata(chosen: &[&Choice]) -> Value {
    if let [option] = chosen {
        return option.metadata.clone();
    }
    let given = chosen.iter().filter(|option| !option.metadata.is_null());
    let given: serde_json::Map<_, _> = given.map(|option| (option.id.clone(), option.metadata.clone())).collect();
    if given.is_empty() { Value::Null } else { Value::Object(given) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answer_contains_the_metadata_of_every_chosen_option() {
        let option = |id: &str, metadata| Choice { metadata, ..Choice::new(id, id, Effect::Provide) };
        let options =
            vec![option("a", json!({ "port": 1 })), option("b", Value::Null), option("c", json!({ "port": 3 }))];
        let question = Question { options, multiple: true, ..Question::plain(Kind::Choice, "Which?".into()) };
        let chosen = |ids: &[&str]| {
            let draft =
                AnswerDraft { options: ids.iter().map(|id| (*id).to_owned()).collect(), ..AnswerDraft::default() };
            question.settle(draft, None).unwrap().metadata
        };
        assert_eq!(chosen(&["a"]), json!({ "port": 1 }));
        assert_eq!(chosen(&["b"]), Value::Null);
        assert_eq!(chosen(&["c", "a"]), json!({ "a": { "port": 1 }, "c": { "port": 3 } }));
        assert_eq!(chosen(&["a", "b"]), json!({ "a": { "port": 1 } }));
    }
}
