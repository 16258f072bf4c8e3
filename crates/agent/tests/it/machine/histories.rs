//! Properties of the machine and the history under arbitrary inputs in any order.

use std::collections::BTreeSet;

use domain::Effect as Way;
use domain::agent::Limits;
use holdpoint_agent::history::{History, history};
use holdpoint_agent::machine::{Activity, CallEnd, Input, MachineState, StepEffect};
use holdpoint_agent::model::Message;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::machine::inputs::{
    again, answered, asked, before, begun_with_question, cancelled, done, limited, message, replay, reread, says,
    settled, turn, waiting,
};

const LIMITS: Limits = Limits { iterations: 4, rounds: 2, retries: 1 };

fn ends() -> impl Strategy<Value = CallEnd> {
    use Way::{Approve, Custom, Edit, Provide, Reject, Retry, Skip};
    let way = prop::sample::select(vec![Approve, Edit, Retry, Retry, Reject, Provide, Skip, Custom]);
    prop_oneof![
        20 => Just(done("it ran")),
        5 => Just(CallEnd::Done { result: json!(0.1), edited: Some(json!({ "at": 7 })) }),
        5 => Just(CallEnd::Done { result: Value::Null, edited: Some(Value::Null) }),
        5 => Just(CallEnd::Failed { message: "no".into(), result: Value::Null }),
        5 => Just(CallEnd::Denied { reason: "no".into() }),
        20 => way.prop_map(answered),
        1 => Just(answered(Way::Terminate)),
        5 => Just(CallEnd::Unanswered { how: "expired".into() }),
        5 => Just(CallEnd::Unknown),
    ]
}

/// A call, mostly of this step and of the current turn; [`journals`] fills in the turn.
fn calls() -> impl Strategy<Value = String> {
    let prefix = prop::sample::select(vec!["p-", "p-", "p-", "p-", "p-", "p-", "q-", ""]);
    let ago = prop::sample::select(vec![0, 0, 0, 0, 0, 1, 2]);
    (prefix, ago, 0..2usize).prop_map(|(prefix, ago, at)| format!("{prefix}@{ago}c{at}"))
}

/// Replaces the placeholder in the name of a call, which says how many turns ago the call was made, by a turn number.
fn named(call: &mut String, turn: u64) {
    for ago in 0..3 {
        *call = call.replace(&format!("@{ago}"), &format!("t{}", turn.saturating_sub(ago)));
    }
}

fn inputs() -> impl Strategy<Value = Input> {
    let tool = prop::sample::select(vec!["read_file", "write_file", "ask_user_clarify", "ask_user_confirm"]);
    let way = prop::sample::select(Way::ALL.to_vec());
    prop_oneof![
        2 => Just(limited(LIMITS, Some(json!("Tidy up.")))),
        2 => Just(begun_with_question(false)),
        8 => Just(message("Hello.")),
        60 => prop::collection::vec(tool, 1..3).prop_map(|tools| turn(&tools)),
        3 => Just(says("Well.")),
        1 => Just(Input::ModelFailed { message: "overloaded".into() }),
        20 => (calls(), 0..9u8).prop_map(|(call, n)| asked(&call, &format!("int_{n}"))),
        20 => (calls(), 0..9u8).prop_map(|(call, n)| waiting(&call, &format!("int_{n}"))),
        120 => (calls(), ends()).prop_map(|(call, end)| settled(&call, end)),
        8 => Just(asked("p-before", "int_before")),
        8 => (way, any::<bool>()).prop_map(|(way, task)| before(way, task.then(|| json!("Now.")))),
        1 => Just(cancelled()),
        3 => Just(again()),
        5 => Just(Input::MessagesShown),
        6 => (calls(), ends()).prop_map(|(call, end)| Input::CallRecovered { call, end }),
    ]
}

/// A journal with a proper beginning and arbitrary inputs after it.
fn journals() -> impl Strategy<Value = Vec<Input>> {
    let first = prop::sample::select(vec![
        limited(LIMITS, Some(json!("Tidy up."))),
        limited(LIMITS, None),
        limited(Limits { rounds: 1, retries: 0, ..LIMITS }, Some(json!("Tidy up."))),
        begun_with_question(false),
        begun_with_question(true),
    ]);
    (first, prop::collection::vec(inputs(), 0..80)).prop_map(|(first, rest)| {
        let mut state = MachineState::new("p-").advance(&first).0;
        let mut journal = vec![first];
        for mut input in rest {
            if let Input::Asked { call, .. }
            | Input::Waiting { call, .. }
            | Input::Settled { call, .. }
            | Input::CallRecovered { call, .. } = &mut input
            {
                named(call, state.turn());
            }
            state = state.advance(&input).0;
            journal.push(input);
        }
        journal
    })
}

/// Calls that the effects propose.
fn acts(effects: &[StepEffect]) -> Vec<String> {
    let acts = effects.iter().filter_map(|effect| match effect {
        StepEffect::Act { call, .. } => Some(call.clone()),
        _ => None,
    });
    acts.collect()
}

/// Whether each turn is followed by one result for each of its calls, in order, and there are no other results.
fn well_formed(messages: &[Message]) -> bool {
    let mut due: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::Result { call, .. } if due.first() == Some(&call.as_str()) => drop(due.remove(0)),
            Message::Result { .. } => return false,
            _ if !due.is_empty() => return false,
            Message::Assistant { calls, .. } => due = calls.iter().map(|call| call.id.as_str()).collect(),
            Message::User { .. } => {}
        }
    }
    due.is_empty()
}

/// Whether an input shows that people were asked about a call.
fn asks(input: &Input) -> bool {
    match input {
        Input::Asked { .. } | Input::Waiting { .. } => true,
        Input::Settled { end: CallEnd::Answered(_) | CallEnd::Unanswered { .. }, .. } => true,
        Input::Settled { end: CallEnd::Done { edited, .. }, .. } => edited.as_ref().is_some_and(|edit| !edit.is_null()),
        _ => false,
    }
}

/// Calls that a step has proposed and settled so far.
#[derive(Default)]
struct CallHistory {
    acted: BTreeSet<String>,
    settled: BTreeSet<String>,
}

impl CallHistory {
    fn check(
        &mut self,
        old: &MachineState,
        input: &Input,
        new: &MachineState,
        effects: &[StepEffect],
    ) -> Result<(), TestCaseError> {
        let outstanding = new.outstanding();
        let open = acts(&outstanding);
        prop_assert!(effects.iter().all(|effect| outstanding.contains(effect)), "every new effect is outstanding");

        let fresh = acts(effects);
        prop_assert!(fresh.is_empty() || matches!(input, Input::Turn(_)), "only a turn proposes actions");
        for call in fresh {
            prop_assert!(self.acted.insert(call), "no action is proposed twice");
        }
        if let Input::Settled { call, .. } = input
            && (acts(&old.outstanding()).contains(call) && !open.contains(call))
        {
            self.settled.insert(call.clone());
        }
        prop_assert!(open.iter().all(|call| self.acted.contains(call)), "every open action belongs to a turn");
        prop_assert!(!open.iter().any(|call| self.settled.contains(call)), "a settled call stays settled");

        let asks_model = outstanding.contains(&StepEffect::CallModel);
        prop_assert!(!asks_model || outstanding.len() == 1, "asking the model is the only effect");
        prop_assert!(!asks_model || new.waiting().is_empty(), "the model is not asked while people are");
        if let Input::CallRecovered { .. } = input {
            prop_assert_eq!(
                (old.outstanding(), old.waiting()),
                (outstanding, new.waiting()),
                "a recovered outcome changes no effect"
            );
        } else if old.activity() == Activity::Ended && !matches!(input, Input::Retried { .. } | Input::Message { .. }) {
            prop_assert_eq!((old, effects.len()), (new, 0), "an ended step stays ended");
        }
        if let (Activity::Ended, Input::Message { .. }) = (old.activity(), input) {
            let had_finished = matches!(old.outstanding().as_slice(), [StepEffect::Finish { .. }]);
            prop_assert!(
                had_finished || new.activity() == Activity::Ended,
                "only a finished step continues with a message"
            );
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_effect_is_repeated_and_no_end_is_reopened(journal in journals()) {
        let mut seen = CallHistory::default();
        let mut state = MachineState::new("p-");
        for input in &journal {
            let (new, effects) = state.clone().advance(input);
            seen.check(&state, input, &new, &effects)?;
            state = new;
        }
    }

    #[test]
    fn journal_and_saved_state_resume_the_same_step(journal in journals(), at in 0..80usize) {
        let at = at.min(journal.len());
        let written = serde_json::to_string(&journal).unwrap();
        let journal: Vec<Input> = {
            let read: Vec<Input> = serde_json::from_str(&written).unwrap();
            let (live, kept) = (replay("p-", &journal), replay("p-", &read));
            prop_assert_eq!(live, kept, "JSON preserves the journal");
            read
        };
        let whole = replay("p-", &journal).0;
        let kept = reread(&replay("p-", &journal[..at]).0);
        let resumed = journal[at..].iter().fold(kept, |state, input| state.advance(input).0);
        prop_assert_eq!(resumed, whole);
    }

    #[test]
    fn every_call_that_the_model_is_shown_has_one_result(journal in journals(), at in 0..80usize) {
        let mut tail = History::new();
        for (read, input) in journal.iter().enumerate() {
            tail.push(input);
            prop_assert!(well_formed(tail.messages()), "{:?}", tail.messages());
            if read == at {
                prop_assert_eq!(tail.messages(), history(&journal[..=read]));
                tail = tail.clone();
            }
        }
        prop_assert_eq!(tail.messages(), history(&journal));
    }

    #[test]
    fn model_is_shown_every_message_when_it_is_asked(journal in journals()) {
        // Without a prefix, a history knows calls by turn and index alone.
        let (mut state, mut read, mut said) = (MachineState::new(""), History::new(), 0);
        for (at, input) in journal.iter().enumerate() {
            // Every message has a different text.
            let input = match input {
                Input::Message { .. } => message(&format!("{at}: hello.")),
                other => other.clone(),
            };
            said += usize::from(matches!(input, Input::Message { .. }));
            read.push(&input);
            state = state.advance(&input).0;
            if state.activity() == Activity::Thinking {
                // A worker does this before it asks the model.
                let mut shown = read.clone();
                shown.push(&Input::MessagesShown);
                let heard: Vec<&String> = shown.messages().iter().filter_map(|message| match message {
                    Message::User { content } if content.ends_with(": hello.") => Some(content),
                    _ => None,
                }).collect();
                prop_assert_eq!(heard.len(), said);
            }
        }
    }

    #[test]
    fn limits_hold_for_any_journal(journal in journals()) {
        let Input::Begun { limits, .. } = &journal[0] else { unreachable!("a journal begins with `Begun`") };
        let (mut state, mut turns, mut rounds) = (MachineState::new("p-"), 0, 0);
        let mut asked_in = 0;
        for input in &journal {
            let (new, _) = state.clone().advance(input);
            turns += new.turn() - state.turn();
            if new != state && asks(input) && state.turn() > asked_in {
                rounds += 1;
                asked_in = state.turn();
            }
            if matches!(input, Input::Message { .. } | Input::Retried { .. }) {
                (turns, rounds) = (0, 0);
            }
            // An action that asks begins the round beyond the limit; the step ends when no other call runs.
            let idle = new.is_asleep() || new.activity() == Activity::Thinking;
            let over = rounds > limits.rounds + u32::from(!idle);
            prop_assert!(new.activity() == Activity::Ended || !over, "{} rounds of {}", rounds, limits.rounds);
            prop_assert!(turns <= u64::from(limits.iterations), "{} turns of {}", turns, limits.iterations);
            state = new;
        }
    }
}

/// After a thousand turns with results of ten thousand characters, the stored state is as small as after ten turns.
#[test]
fn a_state_does_not_grow_with_its_history() {
    let limits = Limits { iterations: 5_000, ..LIMITS };
    let (mut state, mut read) = (MachineState::new("p-"), History::new());
    let mut take = |state: MachineState, input: Input| {
        read.push(&input);
        state.advance(input).0
    };
    state = take(state, limited(limits, Some(json!("Tidy up."))));
    let mut bytes = Vec::new();
    for at in 1..=1_000 {
        let call = format!("p-t{at}c0");
        state = take(state, turn(&["read_file"]));
        state = take(state, waiting(&call, "int_1"));
        state = take(state, message("Go on."));
        bytes.push(serde_json::to_string(&state).unwrap().len());
        state = take(state, settled(&call, done("x".repeat(10_000))));
        bytes.push(serde_json::to_string(&state).unwrap().len());
    }
    assert_eq!(state.activity(), Activity::Thinking);
    assert_eq!(read.messages().len(), 3_001);
    let (small, large) = (bytes[..20].iter().max().unwrap(), bytes.iter().max().unwrap());
    assert!(*large < 600, "{large} bytes");
    assert!(large - small <= 8, "only counters may grow: {small} and {large} bytes");
}
