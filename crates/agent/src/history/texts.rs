//! The texts in which a model reads the results of its calls.
//!
//! Each text says first whether the call ran, then names the person or policy that decided, then gives the answer.
//! Only a failed tool counts as an error; a decision of people or policy does not.

use domain::step::Revision;
use domain::{AnsweredBy, Effect, KindName};
use serde_json::Value;

use crate::ask_user;
use crate::machine::{CallEnd, NoAnswerReason, PeopleAnswer, asks_people, given};
use crate::model::{Message, ModelCall};

/// Tool with which a model asks for secrets.
pub(super) const SECRET: &str = "ask_user_secret";

/// Note to a model whose session had ended before this attempt.
pub(super) const WITHHELD: &str = "This work had ended and has been resumed. Your tools no longer get the secret \
                                   values that people gave you before: ask for them again if you need them.";

/// Text of the task: a string as it is, any other value as JSON.
pub(super) fn task(task: &Value) -> String {
    if let Value::String(text) = task { text.clone() } else { format!("{task:#}") }
}

/// Note to an agent whose earlier output people sent back.
pub(crate) fn revision(revision: &Revision) -> String {
    let who = who(&revision.by);
    let feedback = revision.feedback.as_deref().unwrap_or("none was given");
    let mut text = format!("You have already done this, and {who} asks for changes.\nFeedback: {feedback}");
    if !revision.output.is_null() {
        let before = revision.output.get("text").filter(|text| text.is_string()).unwrap_or(&revision.output);
        text.push_str(&format!("\nPrevious result:\n{}", shown(before)));
    }
    text
}

/// Note to an agent with the answer to the question before its step.
pub(crate) fn answer_before(title: &str, answer: &PeopleAnswer) -> String {
    format!("Before this, {} was asked: {title}{}", who(&answer.by), answer_lines(answer))
}

/// Note to a model whose last text could not be used as output.
pub(super) fn not_usable(why: &str) -> String {
    format!("Your final text could not be used: {why}\nGive it again in a form that can be used.")
}

/// Result message of a settled call.
pub(super) fn result(call: &ModelCall, end: &CallEnd) -> Message {
    let question = asks_people(&call.tool);
    let content = match end {
        CallEnd::Done { result, edited } => done(result, given(edited.as_ref())),
        CallEnd::Failed { message, result } => failed(message, result),
        CallEnd::Denied { reason } => format!(
            "This was not run: the policy forbids it. Reason: {reason}\nNobody was asked, and repeating the call will \
             not help."
        ),
        CallEnd::Answered(answer) => match question {
            Some(tool) => answered(ask_user::kind_of(tool), answer),
            None => decided(answer),
        },
        CallEnd::Unanswered { how } => unanswered(how, question.is_some()),
        CallEnd::Unknown => "This was started, and nobody knows whether it ran to its end or what it did. Assume neither that it \
                             worked nor that it did not: find out before you do anything that depends on it, or do it again."
            .to_owned(),
    };
    message(call, content, matches!(end, CallEnd::Failed { .. }))
}

/// Placeholder for the result of a call that was not settled when the step ended.
pub(super) fn placeholder(call: &ModelCall) -> Message {
    let content = "The step ended before the outcome of this call was known.".to_owned();
    message(call, content, false)
}

fn message(call: &ModelCall, content: String, failed: bool) -> Message {
    Message::Result { call: call.id.clone(), tool: call.tool.clone(), content, failed }
}

fn done(result: &Value, edited: Option<&Value>) -> String {
    let result = if result.is_null() { "It ran and returned nothing.".to_owned() } else { shown(result) };
    match edited {
        None => result,
        Some(arguments) => format!(
            "A person changed the arguments before this ran. It ran with these, not with yours: \
             {arguments}\nResult:\n{result}"
        ),
    }
}

fn failed(message: &str, result: &Value) -> String {
    if result.is_null() {
        format!("This failed: {message}")
    } else {
        format!("This failed: {message}\nPartial result:\n{}", shown(result))
    }
}

/// Text of a decision about an action that did not run.
fn decided(answer: &PeopleAnswer) -> String {
    let who = who(&answer.by);
    match answer.effect {
        Effect::Reject => format!("This was not run: {who} rejected it.{}", because(answer, "Reason")),
        Effect::Retry => format!(
            "This was not run: {who} wants you to reconsider and to do it in another way.{}",
            because(answer, "Feedback")
        ),
        Effect::Skip => {
            format!("This was not run: {who} skipped it. Continue without it.{}", because(answer, "Feedback"))
        }
        Effect::Provide => {
            format!("This was not run: {who} gave you this information instead.{}", answer_lines(answer))
        }
        Effect::Custom => format!("This was not run: {who} decided otherwise.{}", answer_lines(answer)),
        Effect::Terminate => format!("This was not run: {who} ended the session.{}", because(answer, "Reason")),
        // The action was approved but did not run for another reason. The text must not suggest that it ran.
        Effect::Approve | Effect::Edit => {
            format!("This was not run, although {who} approved it.{}", because(answer, "Feedback"))
        }
    }
}

/// Text of the answer to a question that the model asked.
fn answered(kind: Option<KindName>, answer: &PeopleAnswer) -> String {
    let who = capital(&who(&answer.by));
    match answer.effect {
        Effect::Approve | Effect::Edit => format!("{who} said yes.{}", answer_lines(answer)),
        Effect::Reject if kind == Some(KindName::Confirmation) => format!("{who} said no.{}", answer_lines(answer)),
        Effect::Reject => format!("{who} would not answer this.{}", answer_lines(answer)),
        Effect::Retry => format!("{who} wants you to reconsider before you ask.{}", answer_lines(answer)),
        Effect::Skip => format!("{who} skipped this question. Continue without an answer.{}", answer_lines(answer)),
        Effect::Provide if kind == Some(KindName::Secret) => {
            format!(
                "{who} gave what you asked for. You are shown only the names of the values.{}",
                answer_lines(answer)
            )
        }
        Effect::Provide | Effect::Custom => format!("{who} answered.{}", answer_lines(answer)),
        Effect::Terminate => format!("{who} ended the session.{}", because(answer, "Reason")),
    }
}

fn unanswered(how: &NoAnswerReason, question: bool) -> String {
    let not_run = if question { "" } else { "This was not run. " };
    match how {
        NoAnswerReason::Expired => format!("{not_run}Nobody answered in time, and the question is closed."),
        NoAnswerReason::Cancelled => format!("{not_run}The question was withdrawn before anybody had answered it."),
        NoAnswerReason::Other(why) => format!("{not_run}The question ended without an answer: {why}."),
    }
}

fn who(by: &AnsweredBy) -> String {
    match by {
        AnsweredBy::Person(name) => format!("a person ({name})"),
        AnsweredBy::System => "the system (no person)".to_owned(),
    }
}

fn because(answer: &PeopleAnswer, lead: &str) -> String {
    match &answer.feedback {
        Some(feedback) => format!("\n{lead}: {feedback}"),
        None if lead == "Reason" => "\nNo reason was given.".to_owned(),
        None => String::new(),
    }
}

/// The parts of an answer, each on its own line.
fn answer_lines(answer: &PeopleAnswer) -> String {
    let mut text = String::new();
    let mut line = |lead: &str, what: &str| {
        text.push('\n');
        text.push_str(lead);
        text.push_str(": ");
        text.push_str(what);
    };
    if !answer.options.is_empty() {
        line("Chosen", &answer.options.join(", "));
    }
    if !answer.metadata.is_null() {
        line("Metadata of that choice", &answer.metadata.to_string());
    }
    if !answer.data.is_null() {
        line("Given", &shown(&answer.data));
    }
    if let Some(feedback) = &answer.feedback {
        line("Feedback", feedback);
    }
    text
}

fn shown(value: &Value) -> String {
    if let Value::String(text) = value { text.clone() } else { value.to_string() }
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}
