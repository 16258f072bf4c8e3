//! Tests a server over streamable HTTP.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use domain::agent::McpServer;
use holdpoint_mcp::{CallOutcome, McpClient, McpError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::common::{LONG, Lines, call, child, program, text};

/// A server that is killed when it is dropped.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start(how: &str, port: u16) -> Self {
        let mut process =
            Command::new(program()).args(["http", how, &port.to_string()]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, port: line.trim().parse().unwrap() }
    }

    fn definition(&self) -> McpServer {
        let url = Some(format!("http://127.0.0.1:{}/mcp", self.port));
        McpServer { command: Vec::new(), url, ..child(&[]) }
    }

    async fn client(&self) -> McpClient {
        McpClient::connect(&self.definition(), Some(token())).await.unwrap()
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn token() -> Zeroizing<String> {
    Zeroizing::new("letmein".to_owned())
}

#[tokio::test]
async fn tools_are_listed_and_called() {
    for how in ["stream", "json"] {
        let server = Server::start(how, 0);
        let client = server.client().await;
        assert_eq!(client.tools().await.unwrap().len(), 12);
        assert_eq!(text(&client, "all.echo", json!({"a": 1})).await, r#"{"a":1}"#);
        let called = call(&client, "all.fail", json!({})).await;
        assert!(matches!(&called, CallOutcome::Failed { message, .. } if message == "it did not work"), "{called:?}");
        let huge = text(&client, "all.huge", json!({})).await;
        assert!(huge.ends_with("x\n[cut: 65,536 of 1,048,576 bytes shown]"));
        client.close().await;
    }
}

#[tokio::test]
async fn a_wrong_token_is_refused() {
    let server = Server::start("stream", 0);
    for token in [None, Some(Zeroizing::new("wrong".to_owned()))] {
        let error = McpClient::connect(&server.definition(), token).await.err().unwrap();
        assert!(matches!(&error, McpError::Unreachable { why, .. } if why.contains("401")), "{error}");
    }
}

#[tokio::test]
async fn oversized_response_is_a_failure() {
    for how in ["stream", "json"] {
        let server = Server::start(how, 0);
        let client = server.client().await;
        let called = call(&client, "all.flood", json!({})).await;
        let message = "it ran, but the server's answer is larger than 8 MiB".to_owned();
        assert_eq!(called, CallOutcome::Failed { message, result: Value::Null }, "{how}");
        assert_eq!(text(&client, "all.echo", json!({})).await, "{}");
        client.close().await;
    }
}

#[tokio::test]
async fn timed_out_call_is_cancelled_at_the_server() {
    let server = Server::start("stream", 0);
    let client = server.client().await;
    let lines = Lines::new();
    let arguments = json!({"file": lines.path()});
    let time = Duration::from_millis(500);
    let called = client.call("all.slow", &arguments, time, &CancellationToken::new()).await;
    assert!(matches!(called, CallOutcome::Unknown { .. }), "{called:?}");
    lines.have("cancelled").await;
    client.close().await;
}

#[tokio::test]
async fn server_death_during_a_call_gives_an_unknown_outcome() {
    for how in ["stream", "json"] {
        let mut server = Server::start(how, 0);
        let client = server.client().await;
        let lines = Lines::new();
        let arguments = json!({"file": lines.path()});
        let (cancel, port) = (CancellationToken::new(), server.port);
        let killing = async {
            lines.have("began").await;
            server.kill();
        };
        let (called, ()) = tokio::join!(client.call("all.slow", &arguments, LONG, &cancel), killing);
        assert!(matches!(called, CallOutcome::Unknown { .. }), "{how}: {called:?}");
        // While the server is stopped, no call is made.
        let called = call(&client, "all.put", json!({"file": lines.path()})).await;
        assert!(matches!(called, CallOutcome::Failed { result: Value::Null, .. }), "{how}: {called:?}");
        let _again = Server::start(how, port);
        assert_eq!(text(&client, "all.echo", json!({})).await, "{}");
        assert_eq!(lines.read(), ["began"]);
        client.close().await;
    }
}

#[tokio::test]
async fn client_reconnects_to_a_restarted_server() {
    let mut server = Server::start("stream", 0);
    let client = server.client().await;
    assert_eq!(text(&client, "all.echo", json!({})).await, "{}");
    server.kill();
    let _again = Server::start("stream", server.port);
    // The first call may use the old session and is then not made; the next call uses a new session.
    let called = call(&client, "all.echo", json!({})).await;
    assert!(matches!(called, CallOutcome::Done(_) | CallOutcome::Failed { .. }), "{called:?}");
    assert_eq!(text(&client, "all.echo", json!({})).await, "{}");
    client.close().await;
}
