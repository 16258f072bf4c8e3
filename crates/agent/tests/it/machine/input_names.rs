//! Tests that the machine and `domain::journal` give each input the same name.

use domain::Effect as Way;
use domain::journal::{EngineInput, InputHead, JournalKind};
use holdpoint_agent::machine::{CallEnd, Input, NoAnswerReason};
use serde_json::json;

use crate::machine::inputs::{asked, before, begun, cancelled, message, says, settled, turn, waiting};

fn input(kind: JournalKind) -> Input {
    match kind {
        JournalKind::Begun => begun(None),
        JournalKind::Message => message("Hello."),
        JournalKind::MessagesShown => Input::MessagesShown,
        JournalKind::Turn => turn(&["read_file"]),
        JournalKind::ModelFailed => Input::ModelFailed { message: "no".into() },
        JournalKind::Asked => asked("call", "int_1"),
        JournalKind::Waiting => waiting("call", "int_1"),
        JournalKind::Settled => settled("call", CallEnd::Unanswered { how: NoAnswerReason::Expired }),
        JournalKind::BeforeEnded => before(Way::Approve, None),
        JournalKind::Cancelled => cancelled(),
        JournalKind::Retried => Input::Retried { reason: "no".into(), after_end: true },
        JournalKind::CallRecovered => Input::CallRecovered { call: "call".into(), end: CallEnd::Unknown },
    }
}

fn kind(input: &Input) -> JournalKind {
    match input {
        Input::Begun { .. } => JournalKind::Begun,
        Input::Message { .. } => JournalKind::Message,
        Input::MessagesShown => JournalKind::MessagesShown,
        Input::Turn(_) => JournalKind::Turn,
        Input::ModelFailed { .. } => JournalKind::ModelFailed,
        Input::Asked { .. } => JournalKind::Asked,
        Input::Waiting { .. } => JournalKind::Waiting,
        Input::Settled { .. } => JournalKind::Settled,
        Input::BeforeEnded(_) => JournalKind::BeforeEnded,
        Input::Cancelled { .. } => JournalKind::Cancelled,
        Input::Retried { .. } => JournalKind::Retried,
        Input::CallRecovered { .. } => JournalKind::CallRecovered,
    }
}

fn head(input: &Input) -> InputHead {
    serde_json::from_value(json!(input)).unwrap()
}

#[test]
fn the_engine_reads_every_input_by_its_name() {
    for wanted in JournalKind::ALL {
        let input = input(wanted);
        assert_eq!((kind(&input), head(&input).kind), (wanted, wanted));
        assert_eq!(json!(input)["input"], json!(wanted));
    }
}

#[test]
fn the_engine_reads_whether_a_turn_has_calls_and_a_message_is_a_note() {
    assert!(head(&turn(&["read_file"])).has_calls());
    assert!(!head(&says("Done.")).has_calls());
    assert!(!head(&message("Hello.")).is_note);
    let note = Input::Message { by: "alice".into(), content: "Hello.".into(), person: true, note: true };
    assert!(head(&note).is_note);
}

#[test]
fn the_machine_reads_what_the_engine_writes() {
    for (written, read) in [
        (
            EngineInput::Message { by: "alice".into(), content: "Hello.".into(), person: false },
            Input::Message { by: "alice".into(), content: "Hello.".into(), person: false, note: false },
        ),
        (EngineInput::Cancelled { reason: "no".into() }, Input::Cancelled { reason: "no".into() }),
        (
            EngineInput::Retried { reason: "no".into(), after_end: true },
            Input::Retried { reason: "no".into(), after_end: true },
        ),
    ] {
        assert_eq!(serde_json::from_value::<Input>(json!(written)).unwrap(), read);
    }
}
