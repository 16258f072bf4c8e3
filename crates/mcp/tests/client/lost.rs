//! A server that goes away: what was being called is not known, and the next call finds it again.

use holdpoint_mcp::{CallOutcome, McpClient};
use serde_json::json;

use crate::common::{Lines, call, child, text};

#[tokio::test]
async fn a_server_that_dies_in_the_middle_leaves_it_open() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let first = text(&client, "all.pid", json!({})).await;
    let lines = Lines::new();
    let called = call(&client, "all.die", json!({"file": lines.path()})).await;
    assert!(
        matches!(&called, CallOutcome::Unknown { why } if why.ends_with("its last words: I am dying")),
        "{called:?}"
    );
    assert_ne!(text(&client, "all.pid", json!({})).await, first);
    // It was called once, and not again after the new connection.
    assert_eq!(lines.read(), ["began"]);
    client.close().await;
}

#[tokio::test]
async fn a_server_that_died_between_two_calls_is_started_again() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let first = text(&client, "all.pid", json!({})).await;
    assert!(std::process::Command::new("kill").args(["-9", &first]).status().unwrap().success());
    crate::common::gone(&first).await;
    let lines = Lines::new();
    // Nobody can tell when the end is noticed; whatever is said about the call, it is true.
    let called = call(&client, "all.put", json!({"file": lines.path()})).await;
    match called {
        CallOutcome::Done(_) => assert_eq!(lines.read(), ["put"]),
        CallOutcome::Unknown { .. } => assert!(lines.read().is_empty()),
        CallOutcome::Failed { .. } => panic!("{called:?}"),
    }
    assert_ne!(text(&client, "all.pid", json!({})).await, first);
    client.close().await;
}
