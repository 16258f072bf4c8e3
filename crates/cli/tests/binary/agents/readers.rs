//! Tests that a reader who comes late or reconnects sees exactly the events that a reader from the start saw.

use std::fs;

use serde_json::{Value, json};

use crate::agents::fake_model::{FakeModel, calls, said, thought};
use crate::agents::place::{AgentFiles, ended, open, starts};
use crate::common::{Client, Deployment, Frame, Stream, on_postgres, soon, until};

const TOOLS: &str = "tools = [\"read_file\", \"write_file\", \"ask_user\"]\nworkspace = \"demo\"\n";

/// Reads frames up to and including the first event of this name.
async fn read_until(stream: &mut Stream, name: &str, seen: &mut Vec<Frame>) {
    loop {
        let frame = soon(name, stream.next()).await.unwrap();
        let found = frame.event == name;
        seen.push(frame);
        if found {
            return;
        }
    }
}

/// Two readers of one session with the frames that they read: one reads from the start, one reconnects repeatedly.
struct Readers {
    path: String,
    first: Stream,
    early: Vec<Frame>,
    pieces: Vec<Frame>,
}

impl Readers {
    /// Reads with the first reader up to an event of this name.
    async fn reads(&mut self, name: &str) {
        read_until(&mut self.first, name, &mut self.early).await;
    }

    /// Reconnects the second reader after its last event, reads this many events, and disconnects.
    async fn reconnect_and_read(&mut self, alice: &Client, many: usize) {
        let last = self.pieces.last().and_then(|frame| frame.id.clone());
        let mut stream = Stream::open(alice, &self.path, last.as_deref()).await.unwrap();
        for _ in 0..many {
            self.pieces.push(soon("an event for the reconnected reader", stream.next()).await.unwrap());
        }
    }
}

async fn answers(alice: &Client, session: &str, answer: Value) {
    let question = open(alice, session).await.remove(0);
    alice.answer(question["id"].as_str().unwrap(), answer).await.done(200);
}

/// Builds a model that thinks, speaks in many pieces, reads a file, writes a file, asks a question, and ends.
fn model() -> FakeModel {
    let words: Vec<String> = (0..200).map(|number| format!("word {number} ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let wanted =
        [("read_file", json!({ "path": "notes.md" })), ("write_file", json!({ "path": "out.md", "content": "x" }))];
    let asks = [("ask_user_confirm", json!({ "question": "Is that all?" }))];
    FakeModel::start(vec![
        vec![thought(&["Let me ", "think."]), said(&words), calls(&wanted)],
        vec![calls(&asks)],
        vec![said(&["All ", "done."])],
    ])
}

async fn check_late_reader(deployment: &Deployment) {
    let (files, model) = (AgentFiles::new(deployment), model());
    files.agent("teller", &format!("{TOOLS}{}", model.definition()));
    fs::write(files.file("notes.md"), "Tea at five.\n").unwrap();
    let server = files.launch(deployment.launch(), 8).start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "teller").await;
    let path = format!("/v1/sessions/{session}/events/stream");
    let first = Stream::open(&alice, &path, None).await.unwrap();
    let mut readers = Readers { path: path.clone(), first, early: Vec::new(), pieces: Vec::new() };
    // The model sends a part only after the first reader has seen the part before it.
    readers.reads("model.thought").await;
    readers.reconnect_and_read(&alice, 2).await;
    model.goes_on();
    readers.reads("model.said").await;
    readers.reconnect_and_read(&alice, 1).await;
    model.goes_on();
    readers.reads("interaction.asked").await;
    readers.reconnect_and_read(&alice, 3).await;
    answers(&alice, &session, json!({ "option": "approve" })).await;
    readers.reads("interaction.asked").await;
    readers.reconnect_and_read(&alice, 1).await;
    answers(&alice, &session, json!({ "option": "confirm" })).await;
    readers.reads("session.completed").await;
    let Readers { early, mut pieces, .. } = readers;

    let mut late = Vec::new();
    read_until(&mut Stream::open(&alice, &path, None).await.unwrap(), "session.completed", &mut late).await;
    assert_eq!(late, early);
    let last = pieces.last().and_then(|frame| frame.id.clone());
    read_until(&mut Stream::open(&alice, &path, last.as_deref()).await.unwrap(), "session.completed", &mut pieces)
        .await;
    assert_eq!(pieces, early);
    let listed = alice.get(&format!("/v1/sessions/{session}/events?limit=200")).await.done(200).body;
    let data: Vec<Value> = early.iter().map(|frame| serde_json::from_str(&frame.data).unwrap()).collect();
    assert_eq!(listed["events"], json!(data), "the list equals the stream");
    assert_all_event_types(&early, &data);
}

/// Checks that event numbers have no gap and that every expected type of event occurs.
fn assert_all_event_types(frames: &[Frame], data: &[Value]) {
    let numbers: Vec<String> = frames.iter().filter_map(|frame| frame.id.clone()).collect();
    assert_eq!(numbers, (1..=frames.len()).map(|number| number.to_string()).collect::<Vec<_>>());
    let names: Vec<&str> = frames.iter().map(|frame| frame.event.as_str()).collect();
    let expected = [
        "session.started",
        "step.begun",
        "model.thought",
        "model.said",
        "model.turn",
        "action.allowed",
        "action.waiting",
        "interaction.asked",
        "action.started",
        "action.done",
        "interaction.answered",
        "delivery.completed",
        "step.completed",
        "session.completed",
    ];
    for name in expected {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let joined = |name: &str, turn: u64| {
        let of_it = |event: &&Value| event["type"] == name && event["data"]["turn"] == turn;
        let texts: Vec<&str> = data.iter().filter(of_it).filter_map(|event| event["data"]["text"].as_str()).collect();
        (texts.len(), texts.concat())
    };
    assert_eq!(joined("model.thought", 1).1, "Let me think.");
    let (events, text) = joined("model.said", 1);
    assert_eq!(text, joined("model.turn", 1).1, "the parts together are the text of the turn");
    assert!(events < 20, "200 pieces came as {events} events");
    assert_eq!(joined("model.turn", 3), (1, "All done.".to_owned()));
}

#[tokio::test]
async fn late_reader_sees_the_events_of_an_early_one() {
    check_late_reader(&Deployment::sqlite()).await;
}

#[test]
fn late_reader_sees_the_events_of_an_early_one_on_postgres() {
    on_postgres(check_late_reader);
}

/// A session continues after an answer although the stream of its reader was closed before.
#[tokio::test]
async fn session_continues_after_the_stream_of_its_watcher_is_closed() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    let asks = [("ask_user_confirm", json!({ "question": "Go on?" }))];
    let model = FakeModel::start(vec![vec![calls(&asks)], vec![said(&["Gone on."])]]);
    files.agent("asker", &format!("tools = [\"ask_user\"]\n{}", model.definition()));
    let server = files.launch(deployment.launch(), 8).start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "asker").await;
    let path = format!("/v1/sessions/{session}/events/stream");
    let mut stream = Stream::open(&alice, &path, None).await.unwrap();
    read_until(&mut stream, "interaction.asked", &mut Vec::new()).await;
    drop(stream);
    until("a stream that is gone", async || (alice.metric("holdpoint_stream_readers").await < 0.5).then_some(())).await;
    answers(&alice, &session, json!({ "option": "confirm" })).await;
    let shown = ended(&alice, &session).await;
    assert_eq!((&shown["status"], &shown["steps"][0]["output"]["text"]), (&json!("completed"), &json!("Gone on.")));
}
