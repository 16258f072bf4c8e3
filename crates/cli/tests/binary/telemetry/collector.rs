//! A tiny collector of traces: it keeps what is posted to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;

/// Listens for as long as the process lives.
pub(crate) struct Collector {
    port: u16,
    received: Arc<Mutex<Vec<u8>>>,
}

impl Collector {
    /// Starts to listen.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                serve(&connection.unwrap(), &kept);
            }
        });
        Self { port, received }
    }

    /// Where traces are sent.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}/v1/traces", self.port)
    }

    /// Whether these bytes were part of anything received.
    pub(crate) fn has(&self, bytes: &[u8]) -> bool {
        self.received.lock().windows(bytes.len()).any(|window| window == bytes)
    }
}

/// Takes requests on one connection until it ends.
fn serve(mut connection: &TcpStream, kept: &Mutex<Vec<u8>>) {
    let mut reader = BufReader::new(connection);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        if first.starts_with("POST /v1/traces ") {
            kept.lock().extend(body);
        }
        connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    }
}
