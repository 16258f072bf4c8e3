//! Tests that a step resumes where it was after its process is killed: nothing runs twice, and nothing is lost.

use std::fs;

use serde_json::json;

use crate::agents::model::SlowModel;
use crate::agents::place::{AgentFiles, asked, ended, starts, times};
use crate::common::{Deployment, on_postgres, until};

#[tokio::test]
async fn step_resumes_after_a_kill_during_a_turn_of_the_model() {
    let deployment = Deployment::sqlite();
    let (files, model) = (AgentFiles::new(&deployment), SlowModel::start());
    files.agent("thinker", &model.definition());
    let launch = files.launch(deployment.launch(), 8);
    let server = launch.start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "thinker").await;
    until("the model in the middle of a turn", async || {
        (times(&alice, &session, "model.said").await > 0).then_some(())
    })
    .await;
    server.kill();
    model.goes_on();
    let _server = launch.start().await;
    let shown = ended(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!(shown["steps"][0]["output"]["text"], "Well, done.", "{shown}");
    assert!(model.asked() >= 2, "the model was asked again");
    assert_eq!(times(&alice, &session, "model.turn").await, 1, "only one turn is recorded");
    assert_eq!(times(&alice, &session, "step.begun").await, 1);
}

const RUNNER: &str = r#"
tools = ["execute_command"]
workspace = "demo"

[model]
provider = "scripted"

[[model.script.turns]]
say = "I run it."
calls = [{ tool = "execute_command", arguments = { command = "echo once >> ran; sleep 3", timeout_seconds = 5 } }]

[[model.script.turns]]
say = "It is over."
again = true
"#;

/// The effect of a command whose worker died is unknown. The command is not run again; people are asked about it.
#[tokio::test]
async fn command_that_was_killed_while_running_is_asked_about() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("runner", RUNNER);
    let launch = files.launch(deployment.launch(), 8);
    let server = launch.start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "runner").await;
    let question = asked(&alice, &session).await;
    alice.answer(question["id"].as_str().unwrap(), json!({ "option": "approve" })).await.done(200);
    until("the command that runs", async || files.file("ran").exists().then_some(())).await;
    server.kill();
    let _server = launch.start().await;
    // The question about the outcome comes when the lease of the action has expired.
    let question = asked(&alice, &session).await;
    assert_eq!(
        fs::read_to_string(files.file("ran")).unwrap(),
        "once\n",
        "the command is not run again without an answer: {question}"
    );
    alice.answer(question["id"].as_str().unwrap(), json!({ "option": "it_ran" })).await.done(200);
    let shown = ended(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!(fs::read_to_string(files.file("ran")).unwrap(), "once\n");
    assert_eq!(times(&alice, &session, "model.turn").await, 2, "the model was not asked again about the decided call");
}

#[tokio::test]
async fn step_resumes_after_a_kill_between_its_answer_and_its_wake_up() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("runner", &RUNNER.replace("; sleep 3", ""));
    let port = deployment.launch();
    let (working, idle) = (files.launch(port.clone(), 8), files.launch(port, 0));
    let server = working.start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, "runner").await;
    let question = asked(&alice, &session).await;
    server.kill();
    let server = idle.start().await;
    alice.answer(question["id"].as_str().unwrap(), json!({ "option": "approve" })).await.done(200);
    assert!(!files.file("ran").exists(), "no worker runs the step");
    server.kill();
    let _server = working.start().await;
    let shown = ended(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!(fs::read_to_string(files.file("ran")).unwrap(), "once\n");
    assert_eq!(times(&alice, &session, "model.turn").await, 2);
}

#[test]
fn step_of_a_killed_node_is_continued_by_another_node() {
    on_postgres(async |deployment| {
        let (files, model) = (AgentFiles::new(deployment), SlowModel::start());
        files.agent("thinker", &model.definition());
        let first = files.launch(deployment.launch(), 8).start().await;
        let (alice, bob) = (deployment.key("operator", "alice"), deployment.key("operator", "bob"));
        let session = starts(&first.client(&alice), "thinker").await;
        until("the model in the middle of a turn", async || (model.asked() == 1).then_some(())).await;
        let second = files.launch(deployment.launch(), 8).start().await;
        first.kill();
        model.goes_on();
        let bob = second.client(&bob);
        let shown = ended(&bob, &session).await;
        assert_eq!(
            (&shown["status"], &shown["steps"][0]["output"]["text"]),
            (&json!("completed"), &json!("Well, done."))
        );
        assert!(model.asked() >= 2, "the model was asked again");
        assert_eq!(times(&bob, &session, "model.turn").await, 1, "only one turn is recorded");
    });
}
