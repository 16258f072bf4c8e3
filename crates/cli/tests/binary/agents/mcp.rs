//! Tests tools of MCP servers, over standard streams and over HTTP: they are ruled on, approved, edited and called like
//! other tools, and once.

use std::fs;

use serde_json::{Value, json};

use crate::agents::place::{AgentFiles, asked, ended, starts, times};
use crate::agents::tickets::Tickets;
use crate::common::{Deployment, until};

const POLICY: &str = r#"
version = 1
default = "ask"
[[rule]]
name = "reading"
tools = ["tickets.get"]
verdict = "allow"
[[rule]]
name = "dropping"
tools = ["tickets.drop"]
verdict = "deny"
reason = "nobody drops tickets"
"#;

fn agent(tickets: &Tickets, calls: &str) -> String {
    format!(
        "{}\n[model]\nprovider = \"scripted\"\n[[model.script.turns]]\nsay = \"I call.\"\ncalls = [{calls}]\n\
         [[model.script.turns]]\nsay = \"It is over.\"\nagain = true\n",
        tickets.definition()
    )
}

/// An allowed call is made at once, a call that needs approval is made with the arguments that the person edited, and a
/// denied call is never made.
async fn check_ruled_and_approved_calls(deployment: &Deployment, tickets: &Tickets) {
    let files = AgentFiles::new(deployment);
    let calls = r#"{ tool = "tickets.get", arguments = { number = 7 } },
        { tool = "tickets.create", arguments = { title = "Tea is out" } }, { tool = "tickets.drop", arguments = {} }"#;
    files.agent("clerk", &agent(tickets, &calls.replace('\n', " ")));
    let policy = deployment.path("policy.toml");
    fs::write(&policy, POLICY).unwrap();
    let server = files.launch(deployment.launch(), 8).with(&["--policy", policy.to_str().unwrap()]).start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "clerk").await;
    let question = asked(&alice, &session).await;
    assert_eq!(question["action"]["tool"], "tickets.create", "{question}");
    until("the allowed call", async || (!tickets.called().is_empty()).then_some(())).await;
    assert_eq!(tickets.called(), [("get".to_owned(), json!({ "number": 7 }))]);
    let edited = json!({ "title": "White tea is out" });
    let answer = json!({ "option": "edit", "arguments": edited });
    alice.answer(question["id"].as_str().unwrap(), answer).await.done(200);
    let shown = ended(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!(tickets.called(), [("get".to_owned(), json!({ "number": 7 })), ("create".to_owned(), edited)]);
    let actions = alice.get(&format!("/v1/sessions/{session}/actions?limit=200")).await.done(200).body;
    let states: Vec<(&Value, &Value)> =
        actions["actions"].as_array().unwrap().iter().map(|one| (&one["tool"], &one["state"])).collect();
    let tools = [json!("tickets.get"), json!("tickets.create"), json!("tickets.drop")];
    let expected = [json!("done"), json!("done"), json!("denied")];
    assert_eq!(states, tools.iter().zip(&expected).collect::<Vec<_>>());
    assert!(actions["actions"][1].to_string().contains("filed as 17"), "{actions}");
}

/// A call in flight when its worker dies is not made again: people are asked about its outcome.
async fn check_interrupted_call(deployment: &Deployment, tickets: &Tickets) {
    let files = AgentFiles::new(deployment);
    files.agent("clerk", &agent(tickets, r#"{ tool = "tickets.slow", arguments = { timeout_seconds = 1 } }"#));
    let launch = files.launch(deployment.launch(), 8);
    let server = launch.start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "clerk").await;
    let question = asked(&alice, &session).await;
    assert_eq!(tickets.called(), []);
    alice.answer(question["id"].as_str().unwrap(), json!({ "option": "approve" })).await.done(200);
    until("the call in flight", async || (!tickets.called().is_empty()).then_some(())).await;
    server.kill();
    let _server = launch.start().await;
    // The question about the outcome comes when the lease of the action has expired.
    let question = asked(&alice, &session).await;
    assert_eq!(tickets.called().len(), 1, "the tool is not called again without an answer: {question}");
    alice.answer(question["id"].as_str().unwrap(), json!({ "option": "it_ran" })).await.done(200);
    let shown = ended(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!(tickets.called().len(), 1);
    assert_eq!(times(&alice, &session, "model.turn").await, 2, "the model was not asked again about the decided call");
}

#[tokio::test]
async fn mcp_tool_over_stdio_is_called_as_ruled_and_approved() {
    let deployment = Deployment::sqlite();
    check_ruled_and_approved_calls(&deployment, &Tickets::program(&deployment)).await;
}

#[tokio::test]
async fn mcp_tool_over_http_is_called_as_ruled_and_approved() {
    let deployment = Deployment::sqlite();
    check_ruled_and_approved_calls(&deployment, &Tickets::address(&deployment)).await;
}

#[tokio::test]
async fn interrupted_mcp_call_over_stdio_is_not_repeated() {
    let deployment = Deployment::sqlite();
    check_interrupted_call(&deployment, &Tickets::program(&deployment)).await;
}

#[tokio::test]
async fn interrupted_mcp_call_over_http_is_not_repeated() {
    let deployment = Deployment::sqlite();
    check_interrupted_call(&deployment, &Tickets::address(&deployment)).await;
}
