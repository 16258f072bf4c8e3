//! Serves a model over HTTP that answers at once, always with one fixed question, and reports the time of each request.

use std::net::SocketAddr;
use std::time::Instant;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::Fallible;

/// Beginning of the task of a session; the number of the session follows.
pub(super) const TASK: &str = "bench-task-";
const SAID: &str = concat!(
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":"#,
    r#"{"name":"ask_user_confirm","arguments":"{\"question\":\"Go on?\"}"}}]}}]}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    "\n\ndata: [DONE]\n\n",
);

/// HTTP server for chat completions. Dropping it stops the server.
pub(super) struct HttpModel {
    pub(super) address: SocketAddr,
    #[expect(dead_code, reason = "dropping the runtime stops the listener")]
    listening: JoinSet<()>,
}

impl HttpModel {
    /// Starts listening. Returns for each session a channel of the times at which its model was asked.
    pub(super) async fn start(sessions: usize) -> Fallible<(Self, Vec<UnboundedReceiver<Instant>>)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (tell, hear): (Vec<_>, Vec<_>) = (0..sessions).map(|_| unbounded_channel()).unzip();
        let mut listening = JoinSet::new();
        listening.spawn(async move {
            let mut speaking = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                speaking.spawn(speak(connection, tell.clone()));
            }
        });
        Ok((Self { address, listening }, hear))
    }
}

/// Answers one request after another until the client disconnects or sends an invalid request.
async fn speak(connection: TcpStream, tell: Vec<UnboundedSender<Instant>>) {
    let _ = connection.set_nodelay(true);
    let mut stream = BufReader::new(connection);
    while let Ok(Some(body)) = request(&mut stream).await {
        let now = Instant::now();
        if let Some(told) = number(&body).and_then(|number| tell.get(number)) {
            // The receiver is closed when the measurement is over.
            let _ = told.send(now);
        }
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n{SAID}",
            SAID.len()
        );
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn request(stream: &mut BufReader<TcpStream>) -> Fallible<Option<Vec<u8>>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(body))
}

/// Finds the number of the session whose task is in a request.
fn number(body: &[u8]) -> Option<usize> {
    let start = body.windows(TASK.len()).position(|part| part == TASK.as_bytes())? + TASK.len();
    let digits = body.get(start..)?.iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}
