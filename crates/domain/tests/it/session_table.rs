//! Tests every state of a session against every command. Paused and waiting are independent.

use crate::common::people::{at, caller, session, uuid};
use crate::common::table::cells;
use holdpoint_domain::session::Note;
use holdpoint_domain::{Command, EventId, Refusal, Role, Session};

/// Largest number of open questions in these tests.
const MOST: u32 = 2;

/// A cell shows the status, then the open and the blocking questions. A paused session is marked even if another status has precedence. `!`
/// marks a blocking question.
const COMMANDS: &str = "
state            | pause         | resume       | cancel               | complete             | fail
running          | paused 0/0    | NotPaused    | cancelled 0/0        | completed 0/0        | failed 0/0
reading          | paused 1/0    | NotPaused    | cancelled 1/0        | completed 1/0        | failed 1/0
waiting          | paused 1/1    | NotPaused    | cancelled 1/1        | completed 1/1        | failed 1/1
waiting full     | paused 2/1    | NotPaused    | cancelled 2/1        | completed 2/1        | failed 2/1
waiting twice    | paused 2/2    | NotPaused    | cancelled 2/2        | completed 2/2        | failed 2/2
paused           | AlreadyPaused | running 0/0  | cancelled 0/0 paused | completed 0/0 paused | failed 0/0 paused
paused waiting   | AlreadyPaused | waiting 1/1  | cancelled 1/1 paused | completed 1/1 paused | failed 1/1 paused
completed        | SessionEnded  | SessionEnded | SessionEnded         | SessionEnded         | SessionEnded
failed           | SessionEnded  | SessionEnded | SessionEnded         | SessionEnded         | SessionEnded
cancelled        | SessionEnded  | SessionEnded | SessionEnded         | SessionEnded         | SessionEnded
cancelled asking | SessionEnded  | SessionEnded | SessionEnded         | SessionEnded         | SessionEnded
cancelled paused | SessionEnded  | SessionEnded | SessionEnded         | SessionEnded         | SessionEnded
";

/// A question closes only after it was opened. The cells without an open question show that the count does not fall below zero.
const QUESTIONS: &str = "
state            | open!        | open         | close!               | close
running          | waiting 1/1  | running 1/0  | running 0/0          | running 0/0
reading          | waiting 2/1  | running 2/0  | running 0/0          | running 0/0
waiting          | waiting 2/2  | waiting 2/1  | running 0/0          | waiting 0/1
waiting full     | TooManyOpen  | TooManyOpen  | running 1/0          | waiting 1/1
waiting twice    | TooManyOpen  | TooManyOpen  | waiting 1/1          | waiting 1/2
paused           | paused 1/1   | paused 1/0   | paused 0/0           | paused 0/0
paused waiting   | paused 2/2   | paused 2/1   | paused 0/0           | paused 0/1
completed        | SessionEnded | SessionEnded | completed 0/0        | completed 0/0
failed           | SessionEnded | SessionEnded | failed 0/0           | failed 0/0
cancelled        | SessionEnded | SessionEnded | cancelled 0/0        | cancelled 0/0
cancelled asking | SessionEnded | SessionEnded | cancelled 0/0        | cancelled 0/1
cancelled paused | SessionEnded | SessionEnded | cancelled 0/0 paused | cancelled 0/0 paused
";

fn note() -> Note {
    Note { by: caller("alice", Role::Operator, &[]).actor, at: at(9), reason: Some("because".into()) }
}

/// Brings a new session into a state by the commands that lead to it.
fn brought_to(state: &str) -> Session {
    let path: &[&str] = match state {
        "running" => &[],
        "reading" => &["open"],
        "waiting" => &["open!"],
        "waiting full" => &["open!", "open"],
        "waiting twice" => &["open!", "open!"],
        "paused" => &["pause"],
        "paused waiting" => &["open!", "pause"],
        "completed" => &["complete"],
        "failed" => &["fail"],
        "cancelled" => &["cancel"],
        "cancelled asking" => &["open!", "cancel"],
        "cancelled paused" => &["pause", "cancel"],
        other => panic!("no way to {other}"),
    };
    path.iter().fold(session(), |session, step| done(session, step).unwrap())
}

fn done(mut session: Session, step: &str) -> Result<Session, Refusal> {
    let command = match step {
        "pause" => Command::Pause,
        "resume" => Command::Resume,
        "cancel" => Command::Cancel,
        "complete" => Command::Complete,
        "fail" => Command::Fail,
        "open!" | "open" => return session.count_opened(step == "open!", MOST).map(|()| session),
        "close!" | "close" => {
            session.count_closed(step == "close!");
            return Ok(session);
        }
        other => panic!("no step {other}"),
    };
    session.control(command, note()).map(|(session, _)| session)
}

fn shown(result: Result<Session, Refusal>, before: &Session) -> String {
    match result {
        Ok(session) => {
            let stronger = if session.paused.is_some() && session.ended.is_some() { " paused" } else { "" };
            let status = session.status().name().trim_end_matches("_user_input");
            format!("{status} {}/{}{stronger}", session.open, session.waiting_on)
        }
        Err(Refusal::SessionEnded { session, status }) => {
            assert_eq!((session, status), (before.id, before.status().name()));
            "SessionEnded".into()
        }
        Err(Refusal::TooManyOpen { most }) => {
            assert_eq!(most, MOST);
            "TooManyOpen".into()
        }
        Err(Refusal::AlreadyPaused(_)) => "AlreadyPaused".into(),
        Err(Refusal::NotPaused(_)) => "NotPaused".into(),
        Err(other) => panic!("unexpected {other:?}"),
    }
}

fn check(state: &str, step: &str, expected: &str) {
    let before = brought_to(state);
    let after = done(before.clone(), step);
    if let Ok(after) = &after {
        let facts = (before.id, &before.head, &before.started_by, before.last_seq);
        assert_eq!((after.id, &after.head, &after.started_by, after.last_seq), facts, "{state} -- {step}");
    }
    assert_eq!(shown(after, &before), expected, "{state} -- {step}");
}

#[test]
fn every_state_against_every_command() {
    for (state, step, expected) in cells(COMMANDS).into_iter().chain(cells(QUESTIONS)) {
        check(state, step, expected);
    }
}

#[test]
fn paused_session_holds_its_answers_back_until_it_ends() {
    let held = |state: &str| brought_to(state).require_not_paused().is_err();
    assert!(held("paused") && held("paused waiting"));
    assert!(!held("running") && !held("waiting") && !held("completed") && !held("cancelled paused"));
}

#[test]
fn paused_and_waiting_are_independent() {
    let story = |steps: &[&str]| {
        let session = steps.iter().fold(session(), |session, step| done(session, step).unwrap());
        session.status().name()
    };
    assert_eq!(story(&["open!", "pause", "close!"]), "paused");
    assert_eq!(story(&["open!", "pause", "close!", "resume"]), "running");
    assert_eq!(story(&["open!", "pause", "resume"]), "waiting_user_input");
    assert_eq!(story(&["pause", "open!", "resume"]), "waiting_user_input");
    assert_eq!(story(&["open!", "pause", "resume", "close!"]), "running");
}

#[test]
fn command_records_its_actor_and_reason() {
    let told = |state: &str, command| brought_to(state).control(command, note()).unwrap();
    for (state, command, name) in [
        ("waiting", Command::Pause, "session.paused"),
        ("paused", Command::Resume, "session.resumed"),
        ("paused waiting", Command::Cancel, "session.cancelled"),
        ("running", Command::Complete, "session.completed"),
        ("waiting", Command::Fail, "session.failed"),
    ] {
        let (session, event_draft) = told(state, command);
        let data = serde_json::json!({ "reason": "because", "by": { "kind": "user", "name": "alice" } });
        assert_eq!((event_draft.kind.name(), event_draft.data()), (name, data));
        let kept = session.ended.map(|(_, note)| note).or(session.paused);
        assert_eq!(kept, (command != Command::Resume).then(note), "{name}");
    }
}

#[test]
fn events_are_numbered_from_one_without_gaps() {
    let mut session = session();
    for seq in 1..=3 {
        let (paused, event_draft) = session.clone().control(Command::Pause, note()).unwrap();
        let event = session.record(EventId::from_uuid(uuid(u128::from(seq))), &event_draft, None, at(10));
        assert_eq!((event.seq, event.session, event.step), (seq, session.id, Some(session.step)));
        assert_eq!((event.name.as_str(), event.at), ("session.paused", at(10)));
        assert_eq!(paused.last_seq, seq - 1);
    }
}
