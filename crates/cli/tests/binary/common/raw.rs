//! Sends a request by hand, for tests that must know that the server has read it and has not replied yet.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::{PATIENCE, Reply, until};

/// A connection on which one request is sent.
#[derive(Debug)]
pub(crate) struct Raw(TcpStream);

impl Raw {
    /// Connects to a server.
    pub(crate) fn open(address: &str) -> Self {
        let connection = TcpStream::connect(address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(connection)
    }

    /// Sends a part of the request and waits until the server has read it.
    pub(crate) async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).unwrap();
        let (ours, theirs) = (self.0.local_addr().unwrap(), self.0.peer_addr().unwrap());
        until("a server that reads", async || (unread(theirs, ours) == Some(0)).then_some(())).await;
    }

    /// Reads the reply until the connection is closed.
    pub(crate) fn reply(mut self) -> Reply {
        let mut text = String::new();
        self.0.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no reply: {text:?}"));
        let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap();
        let typed = head.lines().find_map(|line| line.strip_prefix("content-type: "));
        let body = serde_json::from_str(body).unwrap_or(Value::String(body.to_owned()));
        Reply { status, content_type: typed.unwrap_or_default().to_owned(), body }
    }
}

/// Number of bytes that the receiving end of a connection has not read yet, from the kernel's table of sockets.
fn unread(receiver: SocketAddr, sender: SocketAddr) -> Option<u64> {
    let spelled = |address: SocketAddr| format!("0100007F:{:04X}", address.port());
    let (local, remote) = (spelled(receiver), spelled(sender));
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, from, to, _, queues, ..] = fields.as_slice() else { return None };
        let ours = *from == local && *to == remote;
        ours.then(|| u64::from_str_radix(queues.split_once(':')?.1, 16).ok())?
    })
}
