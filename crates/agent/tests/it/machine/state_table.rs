//! Every state of a step against every input, without a wildcard.

use crate::machine::inputs::{
    again, answered, asked, before, begun, begun_with_question, cancelled, done, message, replay, reread, says,
    settled, turn, waiting,
};
use crate::machine::table::cells;
use domain::Effect as Way;
use holdpoint_agent::machine::{Activity, BeforeEnd, Input, MachineState, StepEffect};
use serde_json::json;

/// Inputs that do not come from the calls or the model. A cell shows the activity, whether only people can move the
/// step on, and the effects; `=` means that neither state nor effects change.
const WORLD: &str = "
state             | begun            | begun, question  | message          | failed       | cancelled | again            | heard
new               | thinking > model | asking > before  | new              | =            | ended     | =                | =
asking            | =                | =                | asking           | =            | ended     | new              | =
asked             | =                | =                | asking asleep    | =            | ended     | new              | =
thinking          | =                | =                | thinking         | ended > fail | ended     | =                | =
thinking, message | =                | =                | =                | ended > fail | ended     | =                | thinking
chat, thinking    | =                | =                | thinking         | ended > fail | ended     | =                | =
act wanted        | =                | =                | acting           | =            | ended     | acting           | =
act waiting       | =                | =                | acting asleep    | =            | ended     | acting asleep    | =
ask wanted        | =                | =                | acting           | =            | ended     | acting           | =
ask asked         | =                | =                | acting asleep    | =            | ended     | acting asleep    | =
two, one settled  | =                | =                | acting           | =            | ended     | acting           | =
two, one waiting  | =                | =                | acting           | =            | ended     | acting           | =
listening         | =                | =                | thinking > model | =            | ended     | =                | =
finished          | =                | =                | thinking > model | =            | =         | thinking > model | =
failed            | =                | =                | ended            | =            | =         | thinking > model | =
rejected          | =                | =                | ended            | =            | =         | new              | =
skipped           | =                | =                | ended            | =            | =         | new              | =
cancelled         | =                | =                | ended            | =            | =         | thinking > model | =
left              | =                | =                | ended            | =            | =         | thinking > model | =
left, again       | =                | =                | thinking         | ended > fail | ended     | =                | =
";

/// Turns of the model.
const MODEL: &str = "
state             | acts         | asks          | acts and asks      | speaks
new               | =            | =             | =                  | =
asking            | =            | =             | =                  | =
asked             | =            | =             | =                  | =
thinking          | acting > act | acting > user | acting > act, user | ended > finish
thinking, message | acting > act | acting > user | acting > act, user | thinking > model
chat, thinking    | acting > act | acting > user | acting > act, user | listening asleep
act wanted        | =            | =             | =                  | =
act waiting       | =            | =             | =                  | =
ask wanted        | =            | =             | =                  | =
ask asked         | =            | =             | =                  | =
two, one settled  | =            | =             | =                  | =
two, one waiting  | =            | =             | =                  | =
listening         | =            | =             | =                  | =
finished          | =            | =             | =                  | =
failed            | =            | =             | =                  | =
rejected          | =            | =             | =                  | =
skipped           | =            | =             | =                  | =
cancelled         | =            | =             | =                  | =
left              | =            | =             | =                  | =
left, again       | acting > act | acting > user | acting > act, user | ended > finish
";

/// Results of the first call of the turn, and of calls that are not of this turn.
const CALLS: &str = "
state             | asked         | waiting       | done             | retry            | reject           | terminate | of another turn | found
new               | =             | =             | =                | =                | =                | =         | =               | =
asking            | =             | =             | =                | =                | =                | =         | =               | =
asked             | =             | =             | =                | =                | =                | =         | =               | =
thinking          | =             | =             | =                | =                | =                | =         | =               | =
thinking, message | =             | =             | =                | =                | =                | =         | =               | =
chat, thinking    | =             | =             | =                | =                | =                | =         | =               | =
act wanted        | =             | acting asleep | thinking > model | thinking > model | thinking > model | ended     | =               | =
act waiting       | =             | acting asleep | thinking > model | thinking > model | thinking > model | ended     | =               | =
ask wanted        | acting asleep | =             | thinking > model | thinking > model | thinking > model | ended     | =               | =
ask asked         | =             | =             | thinking > model | thinking > model | thinking > model | ended     | =               | =
two, one settled  | =             | =             | =                | =                | =                | =         | =               | =
two, one waiting  | =             | acting        | acting           | acting           | acting           | ended     | =               | =
listening         | =             | =             | =                | =                | =                | =         | =               | =
finished          | =             | =             | =                | =                | =                | =         | =               | =
failed            | =             | =             | =                | =                | =                | =         | =               | =
rejected          | =             | =             | =                | =                | =                | =         | =               | =
skipped           | =             | =             | =                | =                | =                | =         | =               | =
cancelled         | =             | =             | =                | =                | =                | =         | =               | =
left              | =             | =             | =                | =                | =                | =         | =               | ended
left, again       | =             | =             | =                | =                | =                | =         | =               | thinking
";

/// Ends of the question before the step.
const BEFORE: &str = "
state             | before asked  | before: yes      | before: no task  | before: no     | before: think  | before: skip | before: over | before: late
new               | =             | =                | =                | =              | =              | =            | =            | =
asking            | asking asleep | thinking > model | listening asleep | ended > reject | ended > back   | ended > skip | ended        | ended > fail
asked             | =             | thinking > model | listening asleep | ended > reject | ended > back   | ended > skip | ended        | ended > fail
thinking          | =             | =                | =                | =              | =              | =            | =            | =
thinking, message | =             | =                | =                | =              | =              | =            | =            | =
chat, thinking    | =             | =                | =                | =              | =              | =            | =            | =
act wanted        | =             | =                | =                | =              | =              | =            | =            | =
act waiting       | =             | =                | =                | =              | =              | =            | =            | =
ask wanted        | =             | =                | =                | =              | =              | =            | =            | =
ask asked         | =             | =                | =                | =              | =              | =            | =            | =
two, one settled  | =             | =                | =                | =              | =              | =            | =            | =
two, one waiting  | =             | =                | =                | =              | =              | =            | =            | =
listening         | =             | =                | =                | =              | =              | =            | =            | =
finished          | =             | =                | =                | =              | =              | =            | =            | =
failed            | =             | =                | =                | =              | =              | =            | =            | =
rejected          | =             | =                | =                | =              | =              | =            | =            | =
skipped           | =             | =                | =                | =              | =              | =            | =            | =
cancelled         | =             | =                | =                | =              | =              | =            | =            | =
left              | =             | =                | =                | =              | =              | =            | =            | =
left, again       | =             | =                | =                | =              | =              | =            | =            | =
";

fn journal(state: &str) -> Vec<Input> {
    let task = || begun(Some(json!("Tidy up.")));
    let question = || begun_with_question(false);
    match state {
        "new" => vec![],
        "asking" => vec![question()],
        "asked" => vec![question(), asked("p-before", "int_1")],
        "thinking" => vec![task()],
        "thinking, message" => vec![task(), message("And be quick.")],
        "chat, thinking" => vec![begun(None), message("Hello.")],
        "act wanted" => vec![task(), turn(&["read_file"])],
        "act waiting" => vec![task(), turn(&["read_file"]), waiting("p-t1c0", "int_1")],
        "ask wanted" => vec![task(), turn(&["ask_user_clarify"])],
        "ask asked" => vec![task(), turn(&["ask_user_clarify"]), asked("p-t1c0", "int_1")],
        "two, one settled" => vec![task(), turn(&["read_file", "list_files"]), settled("p-t1c0", done("a"))],
        "two, one waiting" => vec![task(), turn(&["read_file", "list_files"]), waiting("p-t1c0", "int_1")],
        "listening" => vec![begun(None)],
        "finished" => vec![task(), says("Done.")],
        "failed" => vec![task(), Input::ModelFailed { message: "overloaded".into() }],
        "rejected" => vec![question(), before(Way::Reject, None)],
        "skipped" => vec![question(), before(Way::Skip, None)],
        "cancelled" => vec![task(), cancelled()],
        "left" => vec![task(), turn(&["read_file"]), cancelled()],
        "left, again" => vec![task(), turn(&["read_file"]), cancelled(), again()],
        other => panic!("unknown state {other}"),
    }
}

fn input(name: &str) -> Input {
    match name {
        "begun" => begun(Some(json!("Tidy up."))),
        "begun, question" => begun_with_question(false),
        "message" => message("One more thing."),
        "failed" => Input::ModelFailed { message: "overloaded".into() },
        "cancelled" => cancelled(),
        "again" => again(),
        "heard" => Input::MessagesShown,
        "acts" => turn(&["write_file"]),
        "asks" => turn(&["ask_user_confirm"]),
        "acts and asks" => turn(&["write_file", "ask_user_confirm"]),
        "speaks" => says("That is all."),
        "asked" => asked("p-t1c0", "int_2"),
        "waiting" => waiting("p-t1c0", "int_2"),
        "done" => settled("p-t1c0", done("b")),
        "retry" => settled("p-t1c0", answered(Way::Retry)),
        "reject" => settled("p-t1c0", answered(Way::Reject)),
        "terminate" => settled("p-t1c0", answered(Way::Terminate)),
        "of another turn" => settled("p-t2c0", done("b")),
        "found" => Input::CallRecovered { call: "p-t1c0".into(), end: done("b") },
        "before asked" => asked("p-before", "int_2"),
        "before: yes" => before(Way::Approve, Some(json!("Tidy up."))),
        "before: no task" => before(Way::Provide, None),
        "before: no" => before(Way::Reject, None),
        "before: think" => before(Way::Retry, None),
        "before: skip" => before(Way::Skip, None),
        "before: over" => before(Way::Terminate, None),
        "before: late" => Input::BeforeEnded(BeforeEnd::Unanswered { how: "expired".into() }),
        other => panic!("unknown input {other}"),
    }
}

fn told(old: &MachineState, new: &MachineState, effects: &[StepEffect]) -> String {
    if old == new && effects.is_empty() {
        return "=".into();
    }
    let doing = match new.activity() {
        Activity::New => "new",
        Activity::Asking => "asking",
        Activity::Thinking => "thinking",
        Activity::Acting => "acting",
        Activity::Listening => "listening",
        Activity::Ended => "ended",
    };
    let asleep = if new.is_asleep() { " asleep" } else { "" };
    let effects: Vec<&str> = effects.iter().map(word).collect();
    if effects.is_empty() { format!("{doing}{asleep}") } else { format!("{doing}{asleep} > {}", effects.join(", ")) }
}

fn word(effect: &StepEffect) -> &'static str {
    match effect {
        StepEffect::CallModel => "model",
        StepEffect::Act { .. } => "act",
        StepEffect::AskBefore { .. } => "before",
        StepEffect::AskUser { .. } => "user",
        StepEffect::Finish { .. } => "finish",
        StepEffect::Fail { .. } => "fail",
        StepEffect::Reject { .. } => "reject",
        StepEffect::SendBack { .. } => "back",
        StepEffect::Skip { .. } => "skip",
    }
}

fn check(table: &'static str) {
    for (state, name, expected) in cells(table) {
        let (old, _) = replay("p-", &journal(state));
        let (new, effects) = old.clone().advance(input(name));
        assert_eq!(told(&old, &new, &effects), expected, "{state} × {name}");
        assert_eq!(reread(&new), new, "{state} × {name}, written and read back");
    }
}

#[test]
fn every_state_against_every_session_input() {
    check(WORLD);
}

#[test]
fn every_state_against_every_model_input() {
    check(MODEL);
}

#[test]
fn every_state_against_every_call_input() {
    check(CALLS);
}

#[test]
fn every_state_against_every_end_of_the_question_before_a_step() {
    check(BEFORE);
}

/// Effects and waiting calls that a worker finds when it takes the step over.
#[test]
fn outstanding_lists_the_open_effects_and_waiting_calls() {
    let check = |state: &str, expected: &str| {
        let (state, _) = replay("p-", &journal(state));
        let effects: Vec<&str> = state.outstanding().iter().map(word).collect();
        let waits = state.waiting();
        let waits: Vec<String> = waits
            .iter()
            .map(|wait| format!("{} {}{}", wait.call, wait.interaction, if wait.is_question { " own" } else { "" }))
            .collect();
        assert_eq!(format!("{} | {}", effects.join(", "), waits.join(", ")), expected);
    };
    check("new", " | ");
    check("asking", "before | ");
    check("asked", " | p-before int_1 own");
    check("thinking", "model | ");
    check("act wanted", "act | ");
    check("act waiting", "act | p-t1c0 int_1");
    check("ask wanted", "user | ");
    check("ask asked", " | p-t1c0 int_1 own");
    check("two, one settled", "act | ");
    check("two, one waiting", "act, act | p-t1c0 int_1");
    check("listening", " | ");
    check("finished", "finish | ");
    check("failed", "fail | ");
    check("rejected", "reject | ");
    check("skipped", "skip | ");
    check("cancelled", " | ");
}

#[test]
fn state_of_another_version_is_refused() {
    let mut kept = serde_json::to_value(MachineState::new("p-")).unwrap();
    assert_eq!(kept["version"], 1);
    kept["version"] = json!(2);
    let error = serde_json::from_value::<MachineState>(kept).unwrap_err().to_string();
    assert_eq!(error, "the stored state has version 2, but this server reads version 1");
}
