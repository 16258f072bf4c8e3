//! Tests that addresses and error texts of models and MCP servers are shown to the operator only: readers of a session
//! get a plain reason, and the log has the details.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;

use crate::agents::place::{AgentFiles, ended, starts};
use crate::common::{Client, Deployment, Server, until};

/// Address of the operator's servers. It differs from the address of API clients, which the audit trail may show.
const HOST: &str = "127.0.0.7";

/// Word in addresses and error texts that only the operator may read.
const MARKER: &str = "marker-5d0e21";

const HELLO: &str = "[model]\nprovider = \"scripted\"\n[[model.script.turns]]\nsay = \"Hello.\"\nagain = true\n";

/// Definition of an agent whose model is at this port.
fn agent_with_model_at(port: u16) -> String {
    format!("[model]\nprovider = \"openai\"\nname = \"m\"\nendpoint = \"http://{HOST}:{port}/{MARKER}\"\n")
}

/// Starts a server that answers every request with this status and a body with the marker, and returns its port.
fn serve_status(status: &'static str) -> u16 {
    let listener = TcpListener::bind((HOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut vec![0; 65_536]);
            let body = format!("{{\"error\": {{\"message\": \"{MARKER} at {HOST}\", \"type\": \"{MARKER}\"}}}}");
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
            // The client may have disconnected.
            let _ = connection.write_all(format!("{head}\r\nConnection: close\r\n\r\n{body}").as_bytes());
        }
    });
    port
}

/// Finds a port on which no server listens.
fn unused_port() -> u16 {
    TcpListener::bind((HOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Reads everything that the API shows of a session.
async fn shown(caller: &Client, session: &str) -> String {
    let mut all = String::new();
    for path in [
        format!("/v1/sessions/{session}"),
        format!("/v1/sessions/{session}/events?limit=200"),
        format!("/v1/sessions/{session}/actions?limit=200"),
        format!("/v1/interactions?session={session}"),
        "/v1/audit?limit=200".to_owned(),
        "/v1/agents".to_owned(),
    ] {
        all.push_str(&caller.get(&path).await.done(200).body.to_string());
    }
    all
}

/// Waits for an event of a session and returns its data.
async fn wait_for_event(caller: &Client, session: &str, kind: &str) -> Value {
    until(kind, async || {
        let page = caller.get(&format!("/v1/sessions/{session}/events?limit=200")).await.done(200).body;
        let found = page["events"].as_array().unwrap().iter().find(|one| one["type"] == kind).cloned();
        found.map(|one| one["data"].clone())
    })
    .await
}

/// Checks that the log contains a word and that the API shows none of the operator's addresses, paths and error texts.
async fn assert_only_the_log_contains(server: &Server, caller: &Client, session: &str, logged: &str) {
    let seen = shown(caller, session).await;
    for own in [MARKER, HOST, "/srv/", "/bin/sh", "refused (os error"] {
        assert!(!seen.contains(own), "{own} is in {seen}");
    }
    assert!(server.logged().contains(logged), "{}", server.logged());
}

#[tokio::test]
async fn model_failure_is_shown_without_its_address_and_error_text() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("nobody", &agent_with_model_at(unused_port()));
    files.agent("broken", &agent_with_model_at(serve_status("500 Internal Server Error")));
    files.agent("refusing", &agent_with_model_at(serve_status("400 Bad Request")));
    let server = files.launch(deployment.launch(), 8).start().await;
    let root = server.client(&deployment.key("admin", "root"));

    let session = starts(&root, "nobody").await;
    assert_eq!(wait_for_event(&root, &session, "model.again").await["text"], "the provider cannot be reached");
    assert_only_the_log_contains(&server, &root, &session, "Connection refused").await;

    let session = starts(&root, "broken").await;
    assert_eq!(wait_for_event(&root, &session, "model.again").await["text"], "the provider answered 500");
    assert_only_the_log_contains(&server, &root, &session, MARKER).await;

    let session = starts(&root, "refusing").await;
    let reason = "the model could not be asked: the provider answered 400";
    assert_eq!(ended(&root, &session).await["steps"][0]["reason"], reason);
    assert_only_the_log_contains(&server, &root, &session, MARKER).await;
}

#[tokio::test]
async fn mcp_server_failure_is_shown_without_its_address_and_program() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    let served = |way: &str| format!("[[mcp]]\nname = \"tickets\"\n{way}\n{HELLO}");
    let (closed, broken) = (unused_port(), serve_status("500 Internal Server Error"));
    let ways = [
        ("absent", format!("command = [\"/srv/{MARKER}-absent\"]"), format!("{MARKER}-absent")),
        (
            "silent",
            format!("command = [\"/bin/sh\", \"-c\", \"echo {MARKER}-silent >&2\"]"),
            format!("{MARKER}-silent"),
        ),
        ("nobody", format!("url = \"http://{HOST}:{closed}/{MARKER}-nobody\""), format!("{MARKER}-nobody")),
        ("broken", format!("url = \"http://{HOST}:{broken}/{MARKER}\""), "500".to_owned()),
    ];
    for (agent, way, _) in &ways {
        files.agent(agent, &served(way));
    }
    let server = files.launch(deployment.launch(), 8).start().await;
    let root = server.client(&deployment.key("admin", "root"));
    for (agent, _, logged) in &ways {
        let session = starts(&root, agent).await;
        let reason = "MCP server `tickets` cannot be used; the log of the server has the reason";
        assert_eq!(wait_for_event(&root, &session, "step.troubled").await["reason"], reason, "{agent}");
        assert_only_the_log_contains(&server, &root, &session, logged).await;
    }
}

#[tokio::test]
async fn missing_directory_is_reported_without_its_path() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    let top = format!("tools = [\"execute_command\"]\nworkspace = \"demo\"\nread_only = [\"/srv/{MARKER}\"]\n");
    files.agent("reader", &format!("{top}{HELLO}"));
    let server = files.launch(deployment.launch(), 8).start().await;
    let root = server.client(&deployment.key("admin", "root"));
    let session = starts(&root, "reader").await;
    let reason = "a directory that the agent's commands may read does not exist; the log of the server names it";
    assert_eq!(wait_for_event(&root, &session, "step.troubled").await["reason"], reason);
    assert_only_the_log_contains(&server, &root, &session, MARKER).await;
}
