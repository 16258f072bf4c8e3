//! The eight effects of an answer: the activity of the step and the text that its model reads for each.

use crate::machine::inputs::{answer, answered, asked, begun, replay, settled, turn, waiting};
use domain::{Actor, Effect as Way};
use holdpoint_agent::history::history;
use holdpoint_agent::machine::{Activity, CallEnd, Input, PeopleAnswer, StepEffect};
use holdpoint_agent::model::Message;
use serde_json::{Value, json};

fn about(tool: &str, end: CallEnd) -> Vec<Input> {
    let wait = if tool.starts_with("ask_user_") { asked("t1c0", "int_1") } else { waiting("t1c0", "int_1") };
    vec![begun(Some(json!("Tidy up."))), turn(&[tool]), wait, settled("t1c0", end)]
}

/// Checks that, after this end of a call, the model is asked again and reads exactly this text.
fn check(tool: &str, end: CallEnd, expected: &str) {
    let journal = about(tool, end.clone());
    let (state, effects) = replay("", &journal);
    assert_eq!((state.activity(), effects), (Activity::Thinking, vec![StepEffect::CallModel]), "{tool}: {end:?}");
    let Some(Message::Result { call, content, failed, .. }) = history(&journal).pop() else {
        unreachable!("the last message is the result")
    };
    assert_eq!((call.as_str(), content.as_str()), ("call_0", expected));
    assert_eq!(failed, matches!(end, CallEnd::Failed { .. }), "only a failed tool is an error");
}

fn said(effect: Way, feedback: &str) -> CallEnd {
    CallEnd::Answered(PeopleAnswer { feedback: Some(feedback.into()), ..answer(effect) })
}

#[test]
fn approve_gives_the_model_the_result_of_the_tool() {
    check("write_file", CallEnd::Done { result: json!("42 bytes written"), edited: None }, "42 bytes written");
    check("write_file", CallEnd::Done { result: json!({ "bytes": 42 }), edited: None }, r#"{"bytes":42}"#);
    check("write_file", CallEnd::Done { result: Value::Null, edited: None }, "It ran and returned nothing.");
}

#[test]
fn edit_tells_the_model_the_edited_arguments() {
    check(
        "write_file",
        CallEnd::Done { result: json!("42 bytes written"), edited: Some(json!({ "path": "b.txt" })) },
        "A person changed the arguments before this ran. It ran with these, not with yours: \
         {\"path\":\"b.txt\"}\nResult:\n42 bytes written",
    );
}

#[test]
fn retry_tells_the_model_the_feedback() {
    check(
        "write_file",
        said(Way::Retry, "Use the staging directory."),
        "This was not run: a person (alice) wants you to reconsider and to do it in another way.\nFeedback: Use the \
         staging directory.",
    );
}

#[test]
fn reject_tells_the_model_the_reason() {
    check(
        "write_file",
        said(Way::Reject, "Too risky."),
        "This was not run: a person (alice) rejected it.\nReason: Too risky.",
    );
    check("write_file", answered(Way::Reject), "This was not run: a person (alice) rejected it.\nNo reason was given.");
    for nobody in ["system", &Actor::system().name] {
        check(
            "write_file",
            CallEnd::Answered(PeopleAnswer { by: nobody.to_owned().into(), ..answer(Way::Reject) }),
            "This was not run: the system (no person) rejected it.\nNo reason was given.",
        );
    }
}

#[test]
fn terminate_ends_the_step_without_further_effects() {
    for effects in [
        replay("", &about("write_file", answered(Way::Terminate))),
        replay("", &[begun(Some(json!("Tidy up."))), turn(&["write_file"]), crate::machine::inputs::cancelled()]),
    ] {
        assert_eq!((effects.0.activity(), effects.0.outstanding(), effects.1), (Activity::Ended, vec![], vec![]));
    }
}

#[test]
fn provide_tells_the_model_the_information() {
    let data = json!({ "city": "Porto" });
    check(
        "lookup",
        CallEnd::Answered(PeopleAnswer { data: data.clone(), ..answer(Way::Provide) }),
        "This was not run: a person (alice) gave you this information instead.\nGiven: {\"city\":\"Porto\"}",
    );
    check(
        "ask_user_form",
        CallEnd::Answered(PeopleAnswer { data, ..answer(Way::Provide) }),
        "A person (alice) answered.\nGiven: {\"city\":\"Porto\"}",
    );
    check(
        "ask_user_clarify",
        said(Way::Provide, "The blue one."),
        "A person (alice) answered.\nFeedback: The blue one.",
    );
    check(
        "ask_user_secret",
        CallEnd::Answered(PeopleAnswer { data: json!(["API_KEY"]), ..answer(Way::Provide) }),
        "A person (alice) gave what you asked for. You are shown only the names of the values.\nGiven: [\"API_KEY\"]",
    );
}

#[test]
fn skip_tells_the_model_that_the_call_was_skipped() {
    check("write_file", answered(Way::Skip), "This was not run: a person (alice) skipped it. Continue without it.");
    check("ask_user_form", answered(Way::Skip), "A person (alice) skipped this question. Continue without an answer.");
}

#[test]
fn custom_tells_the_model_the_option_and_its_metadata() {
    let custom = PeopleAnswer {
        options: vec!["later".into()],
        metadata: json!({ "at": "noon" }),
        data: json!("x"),
        feedback: Some("Busy.".into()),
        ..answer(Way::Custom)
    };
    check(
        "write_file",
        CallEnd::Answered(custom),
        "This was not run: a person (alice) decided otherwise.\nChosen: later\nMetadata of that choice: \
         {\"at\":\"noon\"}\nGiven: x\nFeedback: Busy.",
    );
}

#[test]
fn model_reads_the_answer_to_its_own_question() {
    check("ask_user_confirm", answered(Way::Approve), "A person (alice) said yes.");
    check("ask_user_confirm", said(Way::Reject, "Not today."), "A person (alice) said no.\nFeedback: Not today.");
    check("ask_user_clarify", answered(Way::Reject), "A person (alice) would not answer this.");
    check(
        "ask_user_choose",
        said(Way::Retry, "None of these."),
        "A person (alice) wants you to reconsider before you ask.\nFeedback: None of these.",
    );
}

#[test]
fn model_reads_why_a_call_ended_without_an_answer() {
    check(
        "write_file",
        CallEnd::Denied { reason: "production is closed".into() },
        "This was not run: the policy forbids it. Reason: production is closed\nNobody was asked, and repeating the \
         call will not help.",
    );
    check(
        "write_file",
        CallEnd::Unanswered { how: "expired".into() },
        "This was not run. Nobody answered in time, and the question is closed.",
    );
    check(
        "ask_user_clarify",
        CallEnd::Unanswered { how: "cancelled".into() },
        "The question was withdrawn before anybody had answered it.",
    );
    check(
        "write_file",
        CallEnd::Unknown,
        "This was started, and nobody knows whether it ran to its end or what it did. Assume neither that it worked nor that it did \
         not: find out before you do anything that depends on it, or do it again.",
    );
    check("write_file", CallEnd::Failed { message: "disk full".into(), result: Value::Null }, "This failed: disk full");
    check(
        "execute_command",
        CallEnd::Failed { message: "exit code 1".into(), result: json!({ "stderr": "no" }) },
        "This failed: exit code 1\nPartial result:\n{\"stderr\":\"no\"}",
    );
}
