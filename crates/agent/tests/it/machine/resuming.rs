//! Stories about resuming a step, about limits and messages, and about the question before a step.

use crate::machine::inputs::{
    act, answer, answered, asked, before, begun, begun_with_question, done, limited, message, replay, reread, says,
    settled, turn, waiting,
};
use domain::Effect as Way;
use domain::agent::Limits;
use holdpoint_agent::history::{History, history};
use holdpoint_agent::machine::{
    Activity, BeforeEnd, CallEnd, Input, MachineState, PeopleAnswer, StepEffect, UnsettledCall,
};
use holdpoint_agent::model::{Message, ModelCall, Turn};
use serde_json::{Value, json};

fn task() -> Input {
    begun(Some(json!("Tidy up.")))
}

/// Texts that a model reads as the results of its calls.
fn results(journal: &[Input]) -> Vec<String> {
    let results = history(journal).into_iter().filter_map(|message| match message {
        Message::Result { content, .. } => Some(content),
        Message::User { .. } | Message::Assistant { .. } => None,
    });
    results.collect()
}

fn fails(journal: &[Input]) -> String {
    match &replay("p-", journal).0.outstanding()[..] {
        [StepEffect::Fail { reason }] => reason.clone(),
        other => format!("no failure: {other:?}"),
    }
}

#[test]
fn only_approve_and_edit_can_run_an_action() {
    for way in [Way::Retry, Way::Reject, Way::Provide, Way::Skip, Way::Custom, Way::Terminate] {
        let journal = [task(), turn(&["write_file"]), waiting("p-t1c0", "int_1"), settled("p-t1c0", answered(way))];
        let (mut state, effects) = replay("p-", &journal);
        let mut wanted = effects;
        for late in
            [settled("p-t1c0", done("ran")), waiting("p-t1c0", "int_2"), settled("p-t1c0", answered(Way::Approve))]
        {
            let (next, effects) = state.advance(late);
            wanted.extend(effects);
            wanted.extend(next.outstanding());
            state = next;
        }
        assert!(!wanted.iter().any(|effect| matches!(effect, StepEffect::Act { .. })), "{way:?}: {wanted:?}");
    }
}

#[test]
fn action_is_outstanding_until_it_is_settled() {
    let (state, effects) = replay("p-", &[task(), turn(&["write_file"])]);
    assert_eq!(effects, [act("p-t1c0", 0, "write_file")]);
    let (state, effects) = state.advance(waiting("p-t1c0", "int_1"));
    assert_eq!((state.outstanding(), effects), (vec![act("p-t1c0", 0, "write_file")], vec![]));
    let (state, effects) = state.advance(settled("p-t1c0", done("ran")));
    assert_eq!((state.outstanding(), effects), (vec![StepEffect::CallModel], vec![StepEffect::CallModel]));
    let (state, effects) = state.advance(settled("p-t1c0", done("ran twice")));
    assert_eq!((state.outstanding(), effects), (vec![StepEffect::CallModel], vec![]));
}

#[test]
fn a_choice_reaches_the_model_with_its_option_and_metadata() {
    let chosen =
        PeopleAnswer { options: vec!["plan-a".into()], metadata: json!({ "plan": "redis" }), ..answer(Way::Provide) };
    let journal =
        [task(), turn(&["ask_user_choose"]), asked("t1c0", "int_1"), settled("t1c0", CallEnd::Answered(chosen))];
    let expected =
        "A person (alice) answered.\nChosen: plan-a\nMetadata of that choice: {\"plan\":\"redis\"}".to_owned();
    assert_eq!(results(&journal), [expected]);
}

#[test]
fn a_custom_answer_resumes_like_any_other() {
    let journal = [task(), turn(&["write_file"]), waiting("t1c0", "int_1"), settled("t1c0", answered(Way::Custom))];
    assert_eq!(replay("", &journal).1, [StepEffect::CallModel]);
}

#[test]
fn model_is_not_asked_while_a_call_waits_for_its_answer() {
    let (state, _) = replay("p-", &[task(), turn(&["write_file"]), waiting("p-t1c0", "int_1")]);
    assert!(state.is_asleep());
    assert_eq!(state.outstanding(), [act("p-t1c0", 0, "write_file")]);
    let (state, effects) = state.advance(turn(&["delete_file"]));
    assert_eq!((state.turn(), effects), (1, vec![]));
}

#[test]
fn every_call_has_exactly_one_result_in_call_order() {
    let journal = [
        task(),
        turn(&["write_file", "ask_user_clarify", "read_file"]),
        settled("t1c2", done("third")),
        settled("t1c0", answered(Way::Reject)),
        settled("t1c2", done("third again")),
        settled("t1c1", answered(Way::Skip)),
        settled("t1c0", done("first after all")),
    ];
    let calls = vec![
        crate::machine::inputs::call(0, "write_file"),
        crate::machine::inputs::call(1, "ask_user_clarify"),
        crate::machine::inputs::call(2, "read_file"),
    ];
    let result = |at: usize, tool: &str, content: &str| Message::Result {
        call: format!("call_{at}"),
        tool: tool.into(),
        content: content.into(),
        failed: false,
    };
    let expected = [
        Message::User { content: "Tidy up.".into() },
        Message::Assistant { text: "Let me see.".into(), calls, provider: Value::Null },
        result(0, "write_file", "This was not run: a person (alice) rejected it.\nNo reason was given."),
        result(1, "ask_user_clarify", "A person (alice) skipped this question. Continue without an answer."),
        result(2, "read_file", "third"),
    ];
    assert_eq!(history(&journal), expected);
}

#[test]
fn approved_is_never_the_result_of_a_call_that_did_not_run() {
    for way in [Way::Approve, Way::Edit] {
        let journal = [task(), turn(&["write_file"]), settled("t1c0", answered(way))];
        let expected = "This was not run, although a person (alice) approved it.".to_owned();
        assert_eq!(results(&journal), [expected]);
    }
}

#[test]
fn late_result_of_one_call_is_not_used_for_another_call() {
    let journal = [task(), turn(&["write_file"]), settled("p-t1c0", done("one")), turn(&["write_file"])];
    let (state, _) = replay("p-", &journal);
    let (after, effects) = state.clone().advance(settled("p-t1c0", done("late")));
    assert_eq!((&after, effects), (&state, vec![]));
    let (after, effects) = after.advance(settled("q-t2c0", done("another step's")));
    assert_eq!((&after, effects), (&state, vec![]));
    assert_eq!(after.outstanding(), [act("p-t2c0", 0, "write_file")]);
}

#[test]
fn parallel_calls_each_wait_for_their_own_question() {
    let tools = ["write_file"; 64];
    let (mut state, effects) = replay("p-", &[task(), turn(&tools)]);
    assert_eq!(effects.len(), 64);
    for at in 0..64 {
        assert!(!state.is_asleep());
        state = state.advance(waiting(&format!("p-t1c{at}"), &format!("int_{at}"))).0;
    }
    assert!(state.is_asleep());
    let waits: Vec<String> = state.waiting().into_iter().map(|wait| wait.interaction).collect();
    assert_eq!(waits, (0..64).map(|at| format!("int_{at}")).collect::<Vec<_>>());
    for at in (0..64).rev() {
        let (next, effects) = state.advance(settled(&format!("p-t1c{at}"), done(at)));
        assert_eq!(effects, if at == 0 { vec![StepEffect::CallModel] } else { vec![] }, "after call {at}");
        state = next;
    }
}

#[test]
fn second_question_of_a_turn_waits_independently_of_the_first() {
    let journal = [
        task(),
        turn(&["ask_user_clarify", "ask_user_confirm"]),
        asked("p-t1c0", "int_1"),
        asked("p-t1c1", "int_2"),
        settled("p-t1c1", answered(Way::Approve)),
    ];
    let (state, effects) = replay("p-", &journal);
    assert_eq!((state.activity(), effects), (Activity::Acting, vec![]));
    let waits: Vec<String> = state.waiting().into_iter().map(|wait| wait.interaction).collect();
    assert_eq!(waits, ["int_1"]);
}

#[test]
fn saved_state_is_a_snapshot() {
    let (state, _) = replay("p-", &[task(), turn(&["write_file", "read_file"]), waiting("p-t1c0", "int_1")]);
    let kept = serde_json::to_string(&state).unwrap();
    let (later, _) = state.clone().advance(settled("p-t1c0", done("changed")));
    assert_ne!(later, state);
    assert_eq!(serde_json::from_str::<MachineState>(&kept).unwrap(), state);
}

#[test]
fn cloned_history_does_not_change_with_the_original() {
    let mut reading = History::new();
    reading.push(&task());
    let kept = reading.clone();
    reading.push(&says("Done."));
    assert_eq!((kept.messages().len(), reading.messages().len()), (1, 2));
    assert_eq!(reading.messages(), history(&[task(), says("Done.")]));
}

#[test]
fn arguments_keep_every_digit() {
    let arguments = json!({ "f": 0.1 + 0.2, "small": 5e-324, "large": u64::MAX, "least": i64::MIN, "none": null });
    let call = ModelCall { id: "x".into(), tool: "write_file".into(), arguments: arguments.clone() };
    let said = Input::Turn(Box::new(Turn { calls: vec![call], ..Turn::default() }));
    let said = serde_json::from_str(&serde_json::to_string(&said).unwrap()).unwrap();
    let (state, _) = replay("p-", &[task(), said, waiting("p-t1c0", "int_1")]);
    let expected = StepEffect::Act { call: "p-t1c0".into(), tool: "write_file".into(), arguments };
    assert_eq!(reread(&state).outstanding(), [expected]);
}

#[test]
fn expired_question_is_not_asked_again() {
    let expired = CallEnd::Unanswered { how: "expired".into() };
    let journal = [task(), turn(&["ask_user_clarify"]), asked("p-t1c0", "int_1"), settled("p-t1c0", expired)];
    let (state, effects) = replay("p-", &journal);
    assert_eq!(effects, [StepEffect::CallModel]);
    let (after, effects) = state.clone().advance(asked("p-t1c0", "int_2"));
    assert_eq!((after, effects), (state, vec![]));
}

#[test]
fn question_is_not_asked_again_after_a_takeover() {
    let (state, _) = replay("p-", &[task(), turn(&["ask_user_clarify"]), asked("p-t1c0", "int_1")]);
    let reread_state = reread(&state);
    assert_eq!(reread_state.outstanding(), []);
    assert_eq!(reread_state.waiting()[0].interaction, "int_1");
    let (state, _) = replay("p-", &[begun_with_question(false), asked("p-before", "int_1")]);
    assert_eq!(reread(&state).outstanding(), []);
}

#[test]
fn action_can_wait_for_a_second_question() {
    let journal = [task(), turn(&["write_file"]), waiting("p-t1c0", "int_1"), waiting("p-t1c0", "int_2")];
    assert_eq!(replay("p-", &journal).0.waiting()[0].interaction, "int_2");
}

#[test]
fn step_fails_at_the_limit_of_iterations() {
    let limits = Limits { iterations: 2, ..Limits::default() };
    let mut journal = vec![limited(limits, Some(json!("Tidy up.")))];
    for at in 1..=2 {
        assert_eq!(replay("p-", &journal).1, [StepEffect::CallModel]);
        journal.extend([turn(&["read_file"]), settled(&format!("p-t{at}c0"), done("x"))]);
    }
    assert_eq!(fails(&journal), "the model was not done after 2 turns (limit `iterations`)");
}

#[test]
fn step_fails_at_the_limit_of_rounds() {
    let limits = Limits { rounds: 2, ..Limits::default() };
    let reason = "people would be asked in more than 2 rounds, the limit `rounds`";
    let mut journal = vec![limited(limits, Some(json!("Tidy up.")))];
    for at in 1..=2 {
        let call = format!("p-t{at}c0");
        journal.extend([turn(&["write_file"]), waiting(&call, "int"), settled(&call, answered(Way::Reject))]);
        assert_eq!(replay("p-", &journal).1, [StepEffect::CallModel]);
    }
    // Actions that nobody is asked about do not count as a round.
    journal.extend([turn(&["read_file"]), settled("p-t3c0", done("x"))]);
    assert_eq!(replay("p-", &journal).1, [StepEffect::CallModel]);

    let mut asking = journal.clone();
    asking.push(turn(&["read_file", "ask_user_clarify"]));
    assert_eq!(fails(&asking), reason, "a question of the model is not asked either");

    journal.extend([turn(&["write_file", "read_file"]), waiting("p-t4c0", "int")]);
    assert_eq!(replay("p-", &journal).0.activity(), Activity::Acting, "a running action is not interrupted");
    journal.push(settled("p-t4c1", done("x")));
    assert_eq!(fails(&journal), reason);
}

#[test]
fn round_of_questions_counts_without_a_waiting_input() {
    let limits = Limits { rounds: 1, ..Limits::default() };
    let edited = CallEnd::Done { result: json!("x"), edited: Some(json!({})) };
    let mut journal = vec![limited(limits, Some(json!("Tidy up."))), turn(&["write_file"]), settled("p-t1c0", edited)];
    assert_eq!(replay("p-", &journal).1, [StepEffect::CallModel]);
    journal.extend([turn(&["write_file"]), settled("p-t2c0", answered(Way::Skip))]);
    assert_eq!(fails(&journal), "people would be asked in more than 1 rounds, the limit `rounds`");
}

#[test]
fn step_fails_at_the_limit_of_retries_in_a_row() {
    let mut journal = vec![task()];
    let mut at = 0;
    let mut round = |journal: &mut Vec<Input>, end: CallEnd| {
        at += 1;
        journal.extend([turn(&["write_file"]), settled(&format!("p-t{at}c0"), end)]);
    };
    for _ in 0..3 {
        round(&mut journal, answered(Way::Retry));
        round(&mut journal, done("nobody was asked"));
    }
    let mut broken = journal.clone();
    round(&mut journal, answered(Way::Retry));
    assert_eq!(fails(&journal), "people sent the model back more than 3 times in a row (limit `retries`)");

    broken.extend([turn(&["write_file"]), settled("p-t7c0", answered(Way::Reject))]);
    broken.extend([turn(&["write_file"]), settled("p-t8c0", answered(Way::Retry))]);
    assert_eq!(replay("p-", &broken).1, [StepEffect::CallModel], "another answer than `retry` ends the row");
}

#[test]
fn message_resets_the_limits_of_a_step() {
    let limits = Limits { iterations: 1, rounds: 1, retries: 0 };
    let mut journal = vec![limited(limits, None)];
    for at in 1..=5 {
        journal.extend([message("Go on."), says("Yes?")]);
        assert_eq!(replay("p-", &journal).0.activity(), Activity::Listening, "message {at}");
    }
    let journal = [
        limited(limits, Some(json!("Tidy up."))),
        turn(&["write_file"]),
        waiting("p-t1c0", "int_1"),
        message("Do it this way."),
        settled("p-t1c0", done("x")),
    ];
    assert_eq!(replay("p-", &journal).1, [StepEffect::CallModel]);
}

#[test]
fn messages_during_a_turn_follow_its_results_in_order() {
    let journal = [
        task(),
        message("one, while it thinks"),
        turn(&["read_file"]),
        message("two, while it acts"),
        settled("t1c0", done("x")),
        message("three, while it thinks"),
        says("Done."),
    ];
    let text = |message: &Message| match message {
        Message::User { content } => format!("user: {content}"),
        Message::Assistant { text, .. } => format!("model: {text}"),
        Message::Result { content, .. } => format!("result: {content}"),
    };
    let told: Vec<String> = history(&journal).iter().map(text).collect();
    let expected = [
        "user: Tidy up.",
        "model: Let me see.",
        "result: x",
        "user: one, while it thinks",
        "user: two, while it acts",
        "model: Done.",
        "user: three, while it thinks",
    ];
    assert_eq!(told, expected);
    assert_eq!(replay("", &journal).1, [StepEffect::CallModel], "the step does not end before the message is read");
    let shown: Vec<String> = history(&journal[..6]).iter().map(text).collect();
    assert_eq!(shown, expected[..5], "the current turn has not read the third message");
}

#[test]
fn early_message_starts_a_step_without_a_task() {
    let journal = [begun_with_question(false), message("Hello."), before(Way::Approve, None)];
    assert_eq!(replay("p-", &journal).1, [StepEffect::CallModel]);
    assert_eq!(history(&journal), [Message::User { content: "Hello.".into() }]);
}

#[test]
fn last_turn_is_the_output_and_a_json_object_is_also_data() {
    let check = |text: &str, output: Value| {
        assert_eq!(replay("", &[task(), says(text)]).1, [StepEffect::Finish { output }]);
    };
    check("Done.", json!({ "text": "Done." }));
    check(" {\"ok\": true}\n", json!({ "text": " {\"ok\": true}\n", "data": { "ok": true } }));
    check("[1]", json!({ "text": "[1]" }));
    check("", json!({ "text": "" }));
}

#[test]
fn task_is_shown_as_text_or_pretty_json_unless_it_is_null() {
    let check = |task: Value, expected: &[&str]| {
        let expected: Vec<Message> = expected.iter().map(|text| Message::User { content: (*text).into() }).collect();
        assert_eq!(history(&[begun(Some(task))]), expected);
    };
    check(json!("Tidy up.\n"), &["Tidy up.\n"]);
    check(json!({ "path": "a" }), &["{\n  \"path\": \"a\"\n}"]);
    check(Value::Null, &[]);
    assert_eq!(replay("", &[begun(Some(Value::Null))]).0.activity(), Activity::Listening);
}

#[test]
fn question_before_a_step_decides_its_task_or_its_end() {
    let (state, effects) = replay("p-", &[begun_with_question(false)]);
    let question = Box::new(crate::machine::inputs::step_question());
    assert_eq!(effects, [StepEffect::AskBefore { call: "p-before".into(), question }]);
    for way in [Way::Approve, Way::Edit, Way::Provide, Way::Custom] {
        let journal = [begun_with_question(false), message("Hurry."), before(way, Some(json!({ "city": "Porto" })))];
        assert_eq!(replay("p-", &journal).1, [StepEffect::CallModel], "{way:?}");
        let shown = ["{\n  \"city\": \"Porto\"\n}", "Hurry."].map(|text| Message::User { content: text.into() });
        assert_eq!(history(&journal), shown);
    }
    let (_, effects) = state.clone().advance(Input::BeforeEnded(BeforeEnd::Unanswered { how: "expired".into() }));
    assert_eq!(effects, [StepEffect::Fail { reason: "the question before the step expired".into() }]);
    let (_, effects) = state.clone().advance(Input::BeforeEnded(BeforeEnd::Unanswered { how: "cancelled".into() }));
    assert_eq!(effects, [StepEffect::Fail { reason: "the question before the step was cancelled".into() }]);
    let (_, effects) = state.clone().advance(Input::BeforeEnded(BeforeEnd::Unanswered { how: "no such city".into() }));
    assert_eq!(
        effects,
        [StepEffect::Fail { reason: "the question before the step ended without an answer: no such city".into() }]
    );
    let ended = |way| {
        let answer = PeopleAnswer { feedback: Some("Not today.".into()), ..answer(way) };
        state.clone().advance(Input::BeforeEnded(BeforeEnd::Answered { answer, task: None })).1
    };
    let (reason, answer) = ("Not today.".to_owned(), |effect: &str| {
        json!({ "effect": effect, "option": null, "options": [], "metadata": null, "data": null,
                "feedback": "Not today.", "by": "alice" })
    });
    assert_eq!(ended(Way::Reject), [StepEffect::Reject { reason: reason.clone(), answer: answer("reject") }]);
    assert_eq!(ended(Way::Retry), [StepEffect::SendBack { reason: reason.clone(), answer: answer("retry") }]);
    assert_eq!(ended(Way::Skip), [StepEffect::Skip { reason: Some(reason) }]);
}

#[test]
fn answer_is_the_output_of_a_step_without_an_agent() {
    let answer = PeopleAnswer {
        options: vec!["confirm".into()],
        metadata: json!({ "n": 1 }),
        data: json!({ "city": "Porto" }),
        feedback: Some("Fine.".into()),
        ..answer(Way::Approve)
    };
    let end = Input::BeforeEnded(BeforeEnd::Answered { answer, task: Some(json!("ignored")) });
    let output = json!({
        "effect": "approve",
        "option": "confirm",
        "options": ["confirm"],
        "metadata": { "n": 1 },
        "data": { "city": "Porto" },
        "feedback": "Fine.",
        "by": "alice",
    });
    assert_eq!(replay("", &[begun_with_question(true), end]).1, [StepEffect::Finish { output }]);
    let nobody = Input::Begun { limits: Limits::default(), task: None, before: None, people_only: true };
    assert_eq!(fails(&[nobody]), "the step has neither an agent nor a question");
}

#[test]
fn ended_step_has_a_result_for_every_call() {
    let journal =
        [task(), turn(&["read_file", "write_file"]), settled("t1c0", done("x")), crate::machine::inputs::cancelled()];
    assert_eq!(results(&journal), ["x", "The step ended before the outcome of this call was known."]);
}

#[test]
fn retried_model_reads_the_recovered_ends_of_open_calls() {
    let found = |call: &str, end: CallEnd| Input::CallRecovered { call: call.into(), end };
    let reason = PeopleAnswer { feedback: Some("Not that one.".into()), ..answer(Way::Reject) };
    let mut journal = vec![
        task(),
        turn(&["write_file", "read_file", "ask_user_clarify", "write_file"]),
        settled("p-t1c1", done("x")),
        asked("p-t1c2", "int_1"),
        waiting("p-t1c0", "int_2"),
        crate::machine::inputs::cancelled(),
        message("Hurry."),
        crate::machine::inputs::again(),
    ];
    let (state, effects) = replay("p-", &journal);
    let left =
        |call: &str, question: Option<&str>| UnsettledCall { call: call.into(), question: question.map(str::to_owned) };
    assert_eq!(state.unsettled(), [left("p-t1c0", None), left("p-t1c2", Some("int_1")), left("p-t1c3", None)]);
    assert_eq!(effects, [StepEffect::CallModel]);
    let unknown = "The step ended before the outcome of this call was known.";
    assert_eq!(results(&journal), [unknown, "x", unknown, unknown]);
    journal.extend([
        found("p-t1c0", CallEnd::Answered(reason)),
        found("p-t1c1", CallEnd::Failed { message: "never".into(), result: Value::Null }),
        found("p-t1c2", CallEnd::Unanswered { how: "cancelled".into() }),
    ]);
    let told = results(&journal);
    assert_eq!(told[0], "This was not run: a person (alice) rejected it.\nReason: Not that one.");
    assert_eq!(told[1], "x", "a settled call stays settled");
    assert_eq!(told[2], "The question was withdrawn before anybody had answered it.");
    assert_eq!(told[3], unknown);
    assert_eq!(history(&journal).last(), Some(&Message::User { content: "Hurry.".into() }));
    assert_eq!(replay("p-", &journal).0.unsettled(), [left("p-t1c3", None)]);
    journal.extend([says("Well."), found("p-t1c3", done("late"))]);
    assert_eq!(results(&journal)[3], unknown, "a result that the model has read does not change");
}
