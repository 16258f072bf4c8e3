//! A provider on a real socket that sends exactly the given bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// Answer of the provider to one request.
pub(super) struct Reply {
    head: String,
    pieces: Vec<Vec<u8>>,
    end: End,
}

/// End of an answer.
#[derive(Clone, Copy)]
enum End {
    /// The answer is sent completely.
    Whole,
    /// The connection is closed in the middle.
    Cut,
    /// Silence until the client goes away.
    Silent,
}

/// One request that the provider received.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) path: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Value,
}

pub(super) struct Server {
    pub(super) url: String,
    seen: Arc<Mutex<Vec<Received>>>,
}

impl Reply {
    /// A stream of events, sent at once.
    pub(super) fn stream(events: &str) -> Self {
        Self {
            head: head("200 OK", "content-type: text/event-stream\r\n"),
            pieces: vec![events.as_bytes().to_vec()],
            end: End::Whole,
        }
    }

    /// An answer with a status, more headers and a body.
    pub(super) fn status(status: &str, headers: &str, body: &str) -> Self {
        Self { head: head(status, headers), pieces: vec![body.as_bytes().to_vec()], end: End::Whole }
    }

    /// Sends the answer in pieces of this many bytes.
    pub(super) fn in_pieces(mut self, size: usize) -> Self {
        self.pieces = self.pieces.concat().chunks(size).map(<[u8]>::to_vec).collect();
        self
    }

    /// A reply that is never sent.
    pub(super) fn mute() -> Self {
        Self { head: String::new(), pieces: Vec::new(), end: End::Silent }
    }

    pub(super) fn cut(self) -> Self {
        Self { end: End::Cut, ..self }
    }

    pub(super) fn silent(self) -> Self {
        Self { end: End::Silent, ..self }
    }

    fn give(&self, socket: &mut TcpStream) -> std::io::Result<()> {
        socket.write_all(self.head.as_bytes())?;
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
            socket.write_all(&chunk)?;
        }
        match self.end {
            End::Whole => socket.write_all(b"0\r\n\r\n"),
            End::Cut => Ok(()),
            End::Silent => socket.read(&mut [0]).map(drop),
        }
    }
}

fn head(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n{headers}\r\n")
}

/// Text of a stream with a `data: …` line for each event.
pub(super) fn events(events: &[Value]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        let _ = write!(text, "data: {event}\n\n");
        text
    })
}

impl Server {
    /// Answers one request after another; further connections are refused.
    pub(super) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        thread::spawn(move || {
            for reply in replies {
                let (mut socket, _) = listener.accept().unwrap();
                socket.set_nodelay(true).unwrap();
                kept.lock().unwrap().push(request(&socket));
                // The client may close the connection early.
                let _ = reply.give(&mut socket);
            }
        });
        Self { url, seen }
    }

    /// Returns the requests that the server received.
    pub(super) fn seen(&self) -> Vec<Received> {
        self.seen.lock().unwrap().clone()
    }
}

fn request(socket: &TcpStream) -> Received {
    let mut reader = BufReader::new(socket);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let headers = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers = headers.collect::<BTreeMap<_, _>>();
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let path = lines[0].split(' ').nth(1).unwrap().to_owned();
    Received { path, headers, body: serde_json::from_slice(&body).unwrap() }
}
