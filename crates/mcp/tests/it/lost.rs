//! Tests a server that dies: the outcome of a call in progress is unknown, and the next call starts the server again.

use holdpoint_mcp::{CallOutcome, McpClient};
use serde_json::json;

use crate::common::{Lines, call, child, text};

#[tokio::test]
async fn server_death_during_a_call_gives_an_unknown_outcome() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let first = text(&client, "all.pid", json!({})).await;
    let lines = Lines::new();
    let called = call(&client, "all.die", json!({"file": lines.path()})).await;
    assert!(
        matches!(&called, CallOutcome::Unknown { why } if why.ends_with("end of its error output: I am dying")),
        "{called:?}"
    );
    assert_ne!(text(&client, "all.pid", json!({})).await, first);
    // The tool was called once, and not again over the new connection.
    assert_eq!(lines.read(), ["began"]);
    client.close().await;
}

#[tokio::test]
async fn server_that_died_between_two_calls_is_restarted() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let first = text(&client, "all.pid", json!({})).await;
    assert!(std::process::Command::new("kill").args(["-9", &first]).status().unwrap().success());
    crate::common::gone(&first).await;
    let lines = Lines::new();
    // The client may notice the end before or after the call. The outcome must be true in both cases.
    let called = call(&client, "all.put", json!({"file": lines.path()})).await;
    match called {
        CallOutcome::Done(_) => assert_eq!(lines.read(), ["put"]),
        CallOutcome::Unknown { .. } => assert!(lines.read().is_empty()),
        CallOutcome::Failed { .. } => panic!("{called:?}"),
    }
    assert_ne!(text(&client, "all.pid", json!({})).await, first);
    client.close().await;
}
