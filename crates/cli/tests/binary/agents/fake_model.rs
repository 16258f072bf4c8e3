//! Serves a model over HTTP that plays turns written by the test, part by part, and records the requests that it
//! received.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// Part of a turn, as chat completion deltas. The model waits for the test before it sends the next part.
pub(crate) type Deltas = Vec<Value>;

/// A request that the model received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

/// Server for chat completions that runs until the process ends. The number of assistant messages in a request selects
/// the turn.
pub(crate) struct FakeModel {
    port: u16,
    heard: Arc<Mutex<Vec<ReceivedRequest>>>,
    told: Arc<AtomicUsize>,
}

struct Play {
    turns: Vec<Vec<Deltas>>,
    heard: Arc<Mutex<Vec<ReceivedRequest>>>,
    told: Arc<AtomicUsize>,
    waited: AtomicUsize,
}

impl FakeModel {
    pub(crate) fn start(turns: Vec<Vec<Deltas>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let model = Self { port, heard: Arc::default(), told: Arc::default() };
        let (heard, told) = (Arc::clone(&model.heard), Arc::clone(&model.told));
        let play = Arc::new(Play { turns, heard, told, waited: AtomicUsize::new(0) });
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let play = Arc::clone(&play);
                std::thread::spawn(move || play.speak(&connection.unwrap()));
            }
        });
        model
    }

    /// Model section for the definition of an agent. It comes last, so that the test can append more keys of the model.
    pub(crate) fn definition(&self) -> String {
        format!("[model]\nprovider = \"openai\"\nname = \"played\"\nendpoint = \"http://127.0.0.1:{}/v1\"\n", self.port)
    }

    /// All requests that the model received.
    pub(crate) fn heard(&self) -> Vec<ReceivedRequest> {
        self.heard.lock().clone()
    }

    /// Lets the model send one more part.
    pub(crate) fn goes_on(&self) {
        self.told.fetch_add(1, Ordering::SeqCst);
    }
}

impl Play {
    fn speak(&self, mut connection: &TcpStream) {
        let Some(heard) = read(connection) else { return };
        let said = |message: &&Value| message["role"] == "assistant";
        let turn = heard.body["messages"].as_array().unwrap().iter().filter(said).count();
        self.heard.lock().push(heard);
        let mut text = HEAD.to_owned();
        for (number, part) in self.turns[turn].iter().enumerate() {
            if number > 0 {
                self.wait();
            }
            let pieces = part.iter().map(|delta| json!({ "choices": [{ "index": 0, "delta": delta }] }));
            pieces.for_each(|piece| text.push_str(&format!("data: {piece}\n\n")));
            if connection.write_all(text.as_bytes()).is_err() {
                return;
            }
            text.clear();
        }
        let last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
        // The client may have been killed.
        let _ = connection.write_all(format!("data: {last}\n\ndata: [DONE]\n\n").as_bytes());
    }

    fn wait(&self) {
        let number = self.waited.fetch_add(1, Ordering::SeqCst);
        while self.told.load(Ordering::SeqCst) <= number {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Reads a request; `None` if the client disconnected.
fn read(connection: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(connection);
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        let Some((name, value)) = line.split_once(':') else {
            if line.trim().is_empty() {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap(),
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { authorization, body: serde_json::from_slice(&body).unwrap() })
}

/// Part with text deltas.
pub(crate) fn said(texts: &[&str]) -> Deltas {
    texts.iter().map(|text| json!({ "content": text })).collect()
}

/// Part with reasoning deltas.
pub(crate) fn thought(texts: &[&str]) -> Deltas {
    texts.iter().map(|text| json!({ "reasoning_content": text })).collect()
}

/// Part with complete tool calls.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Deltas {
    let call = |(index, (tool, arguments)): (usize, &(&str, Value))| {
        let function = json!({ "name": tool, "arguments": arguments.to_string() });
        json!({ "tool_calls": [{ "index": index, "id": format!("call_{index}"), "type": "function", "function": function }] })
    };
    calls.iter().enumerate().map(call).collect()
}
