//! Tests the isolation of tenants: a session cannot read files of another tenant's session, and a tenant cannot run an
//! operator's agent that is not available to it, whatever its own policy allows.

use std::fs;

use serde_json::{Value, json};

use crate::agents::place::{AgentFiles, ended, starts};
use crate::common::{Deployment, Server};

const READER: &str = "workspace = \"demo\"\ntools = [\"read_file\"]\n[model]\nprovider = \"scripted\"\n[[model.script.turns]]\n\
                      calls = [{ tool = \"read_file\", arguments = { path = \"notes.txt\" } }]\n[[model.script.turns]]\nsay = \"Done.\"\n";
const OPS: &str = "workspace = \"demo\"\ntools = [\"execute_command\"]\n[model]\nprovider = \"scripted\"\n[[model.script.turns]]\n\
                   calls = [{ tool = \"execute_command\", arguments = { command = \"touch ../ran-for-evil\" } }]\n\
                   [[model.script.turns]]\nsay = \"Done.\"\n";

impl Deployment {
    /// Creates an API key in a project of a tenant.
    fn key_of(&self, (tenant, project): (&str, &str), role: &str, user: &str) -> String {
        let files = ["--tenant", tenant, "--project", project, "--role", role, "--user", user];
        let output = self.run(&[["keys", "create"].as_slice(), &files].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

/// Actions of a session with their results.
async fn results(server: &Server, key: &str, session: &str) -> Value {
    server.client(key).get(&format!("/v1/sessions/{session}/actions")).await.done(200).body["actions"].clone()
}

/// Regression: an agent from the definition files read, for tenant `evil`, a file that another tenant's session had
/// written.
#[tokio::test]
async fn session_cannot_read_workspace_files_of_another_tenant() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("reader", READER);
    fs::write(files.file("notes.txt"), "TENANT-A-CONFIDENTIAL").unwrap();
    let server = files.launch(deployment.launch(), 8).start().await;
    let (ours, evil) = (deployment.key("admin", "root"), deployment.key_of(("evil", "p"), "agent", "x"));

    let session = starts(&server.client(&ours), "reader").await;
    ended(&server.client(&ours), &session).await;
    assert!(results(&server, &ours, &session).await.to_string().contains("TENANT-A-CONFIDENTIAL"));

    let opened = server.client(&evil).post("/v1/sessions", json!({ "agent": "reader", "input": "hi" })).await.done(201);
    assert_eq!(opened.body["driven"], false, "{:?}", opened.body);
    assert_eq!(results(&server, &evil, &opened.text("/id")).await, json!([]));

    // An agent for all projects has a separate directory in each project.
    files.agent("shared", &format!("projects = [\"*\"]\n{READER}"));
    let evil_client = server.client(&evil);
    crate::common::until("the new agent", async || {
        let page = evil_client.get("/v1/agents").await.done(200).body;
        (page["agents"][0]["name"] == "shared").then_some(())
    })
    .await;
    let session = starts(&evil_client, "shared").await;
    ended(&evil_client, &session).await;
    let read = results(&server, &evil, &session).await;
    assert_eq!(read[0]["state"], "failed", "the workspace is empty: {read}");
    assert!(!read.to_string().contains("TENANT-A-CONFIDENTIAL"), "{read}");
    fs::write(files.workspaces.join("evil/p/demo/notes.txt"), "of evil").unwrap();
    let session = starts(&evil_client, "shared").await;
    ended(&evil_client, &session).await;
    assert!(results(&server, &evil, &session).await.to_string().contains("of evil"));
}

/// Regression: an admin of tenant `evil` allowed everything and let the operator's agent run commands on the server's
/// machine.
#[tokio::test]
async fn tenant_that_allows_everything_cannot_run_operator_agents() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("ops", OPS);
    let server = files.launch(deployment.launch(), 8).start().await;
    let evil = server.client(&deployment.key_of(("evil", "p"), "admin", "mallory"));
    let policy = "version = 1\ndefault = \"ask\"\n[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"allow\"\n";
    let put = evil.request("PUT", "/v1/policy").json(&json!({ "text": policy }));
    evil.attempt(put).await.unwrap().done(200);
    let opened = evil.post("/v1/sessions", json!({ "agent": "ops", "input": "RUN: id" })).await.done(201);
    assert_eq!(opened.body["driven"], false, "{:?}", opened.body);
    let session = opened.text("/id");
    evil.post(&format!("/v1/sessions/{session}/messages"), json!({ "content": "RUN: id" }))
        .await
        .problem(409, "not_driven");
    let actions = evil.get(&format!("/v1/sessions/{session}/actions")).await.done(200).body;
    assert_eq!(actions["actions"], json!([]));
    assert!(!files.workspaces.join("ran-for-evil").exists());
}
