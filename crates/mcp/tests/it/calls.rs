//! Tests the outcomes of calls.

use std::time::Duration;

use holdpoint_mcp::{CallOutcome, McpClient};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::common::{LONG, Lines, call, child, text};

#[tokio::test]
async fn result_of_a_tool_becomes_json() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    assert_eq!(text(&client, "all.echo", json!({"a": [1, null]})).await, r#"{"a":[1,null]}"#);
    assert_eq!(call(&client, "all.structured", json!({})).await, CallOutcome::Done(json!({"structured": {"sum": 3}})));
    assert_eq!(text(&client, "all.picture", json!({})).await, "look\n[image, image/png, about 6 bytes]");
    client.close().await;
}

#[tokio::test]
async fn failed_or_unknown_call_is_a_failure() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let failed = |message: &str, result: Value| CallOutcome::Failed { message: message.to_owned(), result };
    assert_eq!(
        call(&client, "all.fail", json!({})).await,
        failed("it did not work", json!({"text": "it did not work"}))
    );
    assert_eq!(call(&client, "all.refuse", json!({})).await, failed("these arguments are wrong", Value::Null));
    assert_eq!(call(&client, "all.none", json!({})).await, failed("there is no none", Value::Null));
    assert_eq!(call(&client, "all.echo", json!([])).await, failed("the arguments are not an object", Value::Null));
    for other in ["echo", "other.echo", "allecho", "all"] {
        let message = format!("`{other}` is not a tool of `all`");
        assert_eq!(call(&client, other, json!({})).await, failed(&message, Value::Null));
    }
    client.close().await;
}

#[tokio::test]
async fn large_response_is_cut_and_oversized_response_is_a_failure() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let huge = text(&client, "all.huge", json!({})).await;
    assert!(huge.ends_with("x\n[cut: 65,536 of 1,048,576 bytes shown]"), "{}", &huge[huge.len() - 60..]);
    assert_eq!(
        call(&client, "all.flood", json!({})).await,
        CallOutcome::Failed {
            message: "it ran, but the server's answer is larger than 8 MiB".to_owned(),
            result: Value::Null
        }
    );
    // The client connects again.
    assert_eq!(text(&client, "all.echo", json!({})).await, "{}");
    client.close().await;
}

#[tokio::test]
async fn timed_out_call_is_cancelled_at_the_server() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let lines = Lines::new();
    let arguments = json!({"file": lines.path()});
    let called = client.call("all.slow", &arguments, Duration::from_millis(300), &CancellationToken::new()).await;
    assert_eq!(called, CallOutcome::Unknown { why: "the server did not answer within 0 seconds".to_owned() });
    lines.have("cancelled").await;
    assert_eq!(text(&client, "all.echo", json!({})).await, "{}");
    client.close().await;
}

#[tokio::test]
async fn cancelled_call_is_cancelled_at_the_server() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let lines = Lines::new();
    let (arguments, cancel) = (json!({"file": lines.path()}), CancellationToken::new());
    let cancelling = async {
        lines.have("began").await;
        cancel.cancel();
    };
    let (called, ()) = tokio::join!(client.call("all.slow", &arguments, LONG, &cancel), cancelling);
    assert_eq!(called, CallOutcome::Unknown { why: "it was cancelled while it ran".to_owned() });
    lines.have("cancelled").await;
    // A call with a cancelled token is not made.
    let called = client.call("all.put", &arguments, LONG, &cancel).await;
    assert!(matches!(called, CallOutcome::Failed { .. }), "{called:?}");
    assert_eq!(lines.read(), ["began", "cancelled"]);
    client.close().await;
}

#[tokio::test]
async fn calls_run_concurrently() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let lines = Lines::new();
    let (arguments, cancel) = (json!({"file": lines.path()}), CancellationToken::new());
    let beside = async {
        lines.have("began").await;
        assert_eq!(text(&client, "all.echo", json!({})).await, "{}");
        cancel.cancel();
    };
    tokio::join!(client.call("all.slow", &arguments, LONG, &cancel), beside);
    client.close().await;
}
