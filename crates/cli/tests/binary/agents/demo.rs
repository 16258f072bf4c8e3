//! Runs the demo to its end through the HTTP API only.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::agents::place::{AgentFiles, ended, open, starts};
use crate::common::{Client, Deployment, binary, until};

/// Answer for each kind of question that the demo asks.
fn answer(question: &Value) -> Value {
    match question["kind"].as_str().unwrap() {
        "question" => json!({ "data": "White tea, at last" }),
        "form" => json!({ "data": { "release_day": "2026-12-01", "channels": ["mail"], "tea_breaks": 3 } }),
        "choice" => json!({ "option": "cut-1.5.0" }),
        "secret" => json!({ "data": { "KETTLE_TOKEN": "earl-grey-marker" } }),
        "confirmation" => json!({ "option": "confirm" }),
        "approval" | "review" => json!({ "option": "approve" }),
        "custom" => json!({ "option": "well" }),
        other => panic!("the test has no answer to {other}: {question}"),
    }
}

/// Answers every question of a session until it has ended. Returns the kinds of the questions, and the session.
async fn answers_all(alice: &Client, session: &str) -> (BTreeSet<String>, Value) {
    let mut kinds = BTreeSet::new();
    let shown = until("the end of the demo", async || {
        for question in open(alice, session).await {
            let kind = question["kind"].as_str().unwrap().to_owned();
            if kind != "notice" {
                alice.answer(question["id"].as_str().unwrap(), answer(&question)).await.done(200);
            }
            kinds.insert(kind);
        }
        let shown = alice.get(&format!("/v1/sessions/{session}")).await.done(200).body;
        (!shown["ended_at"].is_null()).then_some(shown)
    })
    .await;
    (kinds, shown)
}

#[tokio::test]
async fn demo_agent_guide_completes_with_every_kind_of_question() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::demo(&deployment);
    let server = files.launch(deployment.launch(), 8).start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "guide").await;
    let (kinds, shown) = answers_all(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    let met: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(met, ["approval", "choice", "confirmation", "form", "question", "secret"]);
    assert_eq!(fs::read_to_string(files.file("VERSION")).unwrap(), "1.5.0\n");
    assert!(fs::read_to_string(files.file("CHANGELOG.md")).unwrap().contains("## 1.5.0"));
    let said = shown["steps"][0]["output"].to_string();
    assert!(said.contains("You have met a question in words"), "{said}");

    let actions = alice.get(&format!("/v1/sessions/{session}/actions?limit=200")).await.done(200).body;
    let ran: Vec<&Value> =
        actions["actions"].as_array().unwrap().iter().filter(|one| one["tool"] == "execute_command").collect();
    assert_eq!(ran.len(), 1);
    assert!(ran[0].to_string().contains("signed with a token of 16 characters"), "{}", ran[0]);
    let events = alice.get(&format!("/v1/sessions/{session}/events?limit=200")).await.done(200).body;
    assert!(!events.to_string().contains("earl-grey-marker"));
}

#[tokio::test]
async fn demo_under_the_policy_of_make_run_asks_about_writes_the_command_and_the_secret() {
    let deployment = Deployment::sqlite();
    let policy = deployment.path("policy.toml");
    fs::write(&policy, binary().args(["policy", "new", "coding"]).output().unwrap().stdout).unwrap();
    let files = AgentFiles::demo(&deployment);
    let launch = deployment.launch().with(&["--policy", &policy.display().to_string()]);
    let server = files.launch(launch, 8).start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "guide").await;
    let (kinds, shown) = answers_all(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    let met: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(met, ["approval", "choice", "confirmation", "form", "question", "secret"]);
    let actions = alice.get(&format!("/v1/sessions/{session}/actions?limit=200")).await.done(200).body;
    let ruled = actions["actions"].as_array().unwrap().iter();
    let ruled: BTreeSet<(&str, &str)> =
        ruled.map(|one| (one["tool"].as_str().unwrap(), one["ruling"]["verdict"].as_str().unwrap())).collect();
    let expected = [("execute_command", "ask"), ("list_files", "allow"), ("read_file", "allow"), ("write_file", "ask")];
    assert_eq!(ruled, BTreeSet::from(expected));
}

#[tokio::test]
async fn demo_flow_release_notes_is_reviewed_and_published() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::demo(&deployment);
    let server = files.launch(deployment.launch(), 8).start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let body = json!({ "flow": "release-notes", "input": { "audience": "tea lovers" } });
    let session = alice.post("/v1/sessions", body).await.done(201).text("/id");
    let (kinds, shown) = answers_all(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    let met: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(met, ["approval", "custom", "notice", "review"], "the demo asks every kind of question");
    let steps: Vec<&str> =
        shown["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(steps, ["draft", "publish", "announce", "verdict"]);
    assert!(fs::read_to_string(files.file("NOTES.md")).unwrap().contains("white tea"));
    assert_eq!(ended(&alice, &session).await["flow_version"], "2");
}
