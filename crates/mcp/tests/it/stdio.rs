//! Tests a server that is a child process.

use confine::Programs;
use domain::agent::McpServer;
use holdpoint_mcp::{McpClient, McpError};
use serde_json::json;
use zeroize::Zeroizing;

use crate::common::{child, gone, text};

#[tokio::test]
async fn tools_of_all_pages_are_listed() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let tools = client.tools().await.unwrap();
    let said: Vec<_> = tools.iter().map(|tool| (tool.name.as_str(), tool.repeatable, tool.read_only)).collect();
    assert_eq!(
        said,
        [
            ("all.echo", true, true),
            ("all.put", true, false),
            ("all.fail", false, false),
            ("all.refuse", false, false),
            ("all.slow", false, false),
            ("all.huge", false, false),
            ("all.flood", false, false),
            ("all.picture", true, true),
            ("all.structured", true, true),
            ("all.environment", true, true),
            ("all.die", false, false),
            ("all.pid", true, true),
        ]
    );
    assert_eq!((tools[0].description.as_str(), &tools[0].schema), ("The tool echo", &json!({"type": "object"})));
    client.close().await;
}

#[tokio::test]
async fn only_selected_tools_are_listed_and_called() {
    let server = McpServer { tools: vec!["e*".to_owned(), "pi?".to_owned()], ..child(&[]) };
    let client = McpClient::connect(&server, None).await.unwrap();
    let names: Vec<_> = client.tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["all.echo", "all.environment", "all.pid"]);
    let called = crate::common::call(&client, "all.put", json!({})).await;
    assert!(matches!(called, holdpoint_mcp::CallOutcome::Failed { .. }), "{called:?}");
    client.close().await;
}

#[tokio::test]
async fn number_of_listed_tools_is_limited() {
    let client = McpClient::connect(&child(&["many"]), None).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 256);
    client.close().await;
}

#[tokio::test]
async fn environment_contains_only_the_given_variables() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    assert_eq!(text(&client, "all.environment", json!({})).await, "PATH");
    client.close().await;
    let server = McpServer { token_env: Some("ALL_TOKEN".to_owned()), ..child(&[]) };
    let client = McpClient::new(&server, Some(Zeroizing::new("letmein".to_owned())), Programs::Unconfined)
        .unwrap()
        .with_variables([("HOME".to_owned(), "/".to_owned())]);
    assert_eq!(text(&client, "all.environment", json!({})).await, "ALL_TOKEN HOME PATH");
    client.close().await;
}

#[tokio::test]
async fn a_server_ends_with_its_client() {
    let client = McpClient::connect(&child(&[]), None).await.unwrap();
    let pid = text(&client, "all.pid", json!({})).await;
    client.close().await;
    assert!(std::fs::metadata(format!("/proc/{pid}")).is_err(), "it is reaped");
    // The client restarts the server when it is needed.
    let pid = text(&client, "all.pid", json!({})).await;
    drop(client);
    gone(&pid).await;
}

#[tokio::test]
async fn server_that_does_not_end_is_killed_with_its_child_processes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    // The shell and its background process keep running when the input is closed.
    let script = format!(
        "trap '' TERM; sleep 1000 & echo $! $$ > {}; {} stdio; sleep 1000",
        file.display(),
        crate::common::program()
    );
    let command = ["/bin/sh", "-c", &script].map(str::to_owned).to_vec();
    let client = McpClient::connect(&McpServer { command, ..child(&[]) }, None).await.unwrap();
    assert_eq!(text(&client, "all.echo", json!({})).await, "{}");
    client.close().await;
    for pid in std::fs::read_to_string(file).unwrap().split_whitespace() {
        gone(pid).await;
    }
}

#[tokio::test]
async fn program_that_is_no_server_fails_with_its_last_output() {
    let command = ["/bin/sh", "-c", "echo no such module >&2; exit 1"].map(str::to_owned).to_vec();
    let error = McpClient::connect(&McpServer { command, ..child(&[]) }, None).await.err().unwrap();
    assert!(
        matches!(&error, McpError::Unreachable { why, .. } if why.ends_with("end of its error output: no such module")),
        "{error}"
    );
    let command = vec!["/nowhere/at/all".to_owned()];
    let error = McpClient::connect(&McpServer { command, ..child(&[]) }, None).await.err().unwrap();
    assert!(matches!(&error, McpError::Unreachable { why, .. } if why.contains("No such file")), "{error}");
}

#[test]
fn invalid_definition_is_refused() {
    let neither = McpServer { command: Vec::new(), ..child(&[]) };
    let both = McpServer { url: Some("http://localhost/mcp".to_owned()), ..child(&[]) };
    let strange = McpServer { url: Some("file:///etc/passwd".to_owned()), ..neither.clone() };
    for (server, expected) in [
        (neither, "it has neither a command nor a url"),
        (both, "it has both a command and a url"),
        (strange, "its url is neither http nor https"),
    ] {
        let error = McpClient::new(&server, None, Programs::Unconfined).err().unwrap();
        assert_eq!(error, McpError::Definition { server: "all".to_owned(), why: expected.to_owned() });
    }
}
