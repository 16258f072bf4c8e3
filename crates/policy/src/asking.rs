//! Combines all reasons to ask about a call into one question that satisfies each of them.

use std::sync::Arc;

use domain::{Audience, Call, Choice, Effect, Fallback, Kind, Question, audience};
use serde_json::json;

use crate::{AskSettings, Rule};

/// One reason to ask about a call: a rule, or the default of the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    /// Name of the rule; `None` for the default.
    pub rule: Option<String>,
    /// The cause for asking.
    pub because: AskCause,
    /// Settings of the question, if the rule has any.
    pub settings: Option<Arc<AskSettings>>,
}

/// The cause for asking about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskCause {
    /// The rule matches.
    Matches,
    /// The rule's expression could not be evaluated, for this reason.
    Fails(String),
    /// No rule matches, or a rule that would have allowed or denied the call could not be evaluated, and no rule asks.
    Default,
}

/// The combined settings of the question about a call: as strict as the strictest reason to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct AskTerms {
    /// The audiences, at least one. Each must be satisfied, and none is implied by another.
    pub audiences: Vec<Audience>,
    /// The shortest time to answer that a rule gives, in seconds.
    pub deadline_seconds: Option<i64>,
    /// Whether some asking rule gives no time. The time to answer is then at most the usual one.
    pub undated: bool,
    /// The outcome at the deadline: the fallback on which all rules agree, or `deny`.
    pub fallback: Option<Fallback>,
    /// The options to choose from; empty for the usual options of an approval.
    pub options: Vec<Choice>,
}

impl Asking {
    /// Reason to ask that the default of a policy gives, with the default audience.
    #[must_use]
    pub const fn by_default() -> Self {
        Self { rule: None, because: AskCause::Default, settings: None }
    }

    pub(crate) fn by(rule: &Rule, because: AskCause) -> Self {
        Self { rule: Some(rule.name.clone()), because, settings: rule.ask.clone() }
    }

    /// The audience of this rule, or the default audience.
    #[must_use]
    pub fn audience(&self) -> Audience {
        self.settings.as_ref().and_then(|settings| settings.audience.clone()).unwrap_or_default()
    }
}

impl Default for AskTerms {
    fn default() -> Self {
        Self::of(&[])
    }
}

impl AskTerms {
    /// Combines all reasons to ask about one call. An empty list gives a question to the default audience.
    ///
    /// The default of a policy adds its audience only. Time, fallback and options come from the rules.
    #[must_use]
    pub fn of(asks: &[Asking]) -> Self {
        let plain = AskSettings::default();
        let rules: Vec<&AskSettings> =
            asks.iter().filter(|ask| ask.rule.is_some()).map(|ask| ask.settings.as_deref().unwrap_or(&plain)).collect();
        let mut audiences = audience::combined(asks.iter().map(Asking::audience));
        if audiences.is_empty() {
            audiences.push(Audience::default());
        }
        let options = combined_options(&rules);
        Self {
            audiences,
            deadline_seconds: rules.iter().filter_map(|rule| rule.deadline_seconds).min(),
            undated: rules.iter().any(|rule| rule.deadline_seconds.is_none()),
            fallback: combined_fallback(&rules, &options),
            options,
        }
    }
}

/// The options of the last rule that has any, without those that run the action in a way that another rule does not offer.
fn combined_options(rules: &[&AskSettings]) -> Vec<Choice> {
    let Some(shown) = rules.iter().rev().find(|rule| !rule.options.is_empty()) else { return Vec::new() };
    let mut options = shown.options.clone();
    if rules.len() == 1 {
        return options;
    }
    let usual = usual_options();
    let offers: Vec<&[Choice]> =
        rules.iter().map(|rule| if rule.options.is_empty() { &usual[..] } else { &rule.options[..] }).collect();
    let alike = |offer: &[Choice], effect: Effect| -> Vec<Choice> {
        offer.iter().filter(|option| option.effect == effect).cloned().collect()
    };
    options.retain(|option| {
        !option.effect.runs_action() || offers.iter().all(|offer| !alike(offer, option.effect).is_empty())
    });
    for option in options.iter_mut().filter(|option| option.effect.runs_action()) {
        for offer in &offers {
            let alike = alike(offer, option.effect);
            option.requires_input |= alike.iter().all(|other| other.requires_input);
            option.dangerous |= alike.iter().all(|other| other.dangerous);
        }
    }
    if !options.iter().any(|option| option.effect.holds_back()) {
        let is_used = |id: &String| options.iter().any(|option| option.id == *id);
        let mut ids = std::iter::once("reject".to_owned()).chain((2..).map(|number| format!("reject-{number}")));
        let id = ids.find(|id| !is_used(id)).unwrap_or_default();
        options.push(Choice::new(&id, "Reject", Effect::Reject));
    }
    options
}

/// The fallback on which all rules agree, if it can be chosen; otherwise `deny`.
fn combined_fallback(rules: &[&AskSettings], options: &[Choice]) -> Option<Fallback> {
    let (first, others) = rules.split_first()?;
    if others.is_empty() {
        return first.fallback.clone();
    }
    if others.iter().any(|other| other.fallback != first.fallback) {
        return Some(Fallback::Deny);
    }
    let Some(Fallback::Option(id)) = &first.fallback else { return first.fallback.clone() };
    let usual = usual_options();
    let options = if options.is_empty() { &usual } else { options };
    let offered = options.iter().any(|option| option.id == *id && !option.effect.runs_action());
    if offered { first.fallback.clone() } else { Some(Fallback::Deny) }
}

/// The options of an approval whose rule has none of its own.
pub(crate) fn usual_options() -> Vec<Choice> {
    let call = Some(Call { tool: "tool".into(), arguments: json!({}) });
    let question = Question { call, ..Question::plain(Kind::Approval, "An action waits".into()) };
    question.admit().map(|question| question.options).unwrap_or_default()
}
