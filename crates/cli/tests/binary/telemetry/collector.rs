//! A small trace collector that stores the bytes it receives.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;

/// HTTP server that listens until the process ends.
pub(crate) struct Collector {
    port: u16,
    received: Arc<Mutex<Vec<u8>>>,
}

impl Collector {
    /// Starts to listen on a free port.
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

    /// URL to which traces are sent.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}/v1/traces", self.port)
    }

    /// Whether these bytes are in any received request.
    pub(crate) fn has(&self, bytes: &[u8]) -> bool {
        self.received.lock().windows(bytes.len()).any(|window| window == bytes)
    }
}

/// Stores and answers the requests of one connection until it is closed.
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
