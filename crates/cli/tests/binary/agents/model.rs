//! Serves a model over HTTP that sends one word and then waits until the test lets it continue.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
const FIRST: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Well\"}}]}\n\n";
const REST: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\", done.\"}}]}\n\n\
                    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Server for chat completions that runs until the process ends.
pub(crate) struct SlowModel {
    port: u16,
    asked: Arc<AtomicUsize>,
    fluent: Arc<AtomicBool>,
}

impl SlowModel {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, fluent) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let model = Self { port, asked: Arc::clone(&asked), fluent: Arc::clone(&fluent) };
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (asked, fluent) = (Arc::clone(&asked), Arc::clone(&fluent));
                std::thread::spawn(move || speak(&connection.unwrap(), &asked, &fluent));
            }
        });
        model
    }

    /// Model section for the definition of an agent.
    pub(crate) fn definition(&self) -> String {
        format!("[model]\nprovider = \"openai\"\nname = \"slow\"\nendpoint = \"http://127.0.0.1:{}/v1\"\n", self.port)
    }

    /// Number of requests that the model received.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Lets the model finish its current and all later responses.
    pub(crate) fn goes_on(&self) {
        self.fluent.store(true, Ordering::SeqCst);
    }
}

fn speak(mut connection: &TcpStream, asked: &AtomicUsize, fluent: &AtomicBool) {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() || connection.write_all(format!("{HEAD}{FIRST}").as_bytes()).is_err() {
        return;
    }
    asked.fetch_add(1, Ordering::SeqCst);
    while !fluent.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(5));
    }
    // The client may have been killed.
    let _ = connection.write_all(REST.as_bytes());
}
