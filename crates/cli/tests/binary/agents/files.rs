//! Tests definitions in files: an invalid file ends the start, a changed file is reloaded. A separate worker needs a
//! shared database.

use std::fs;

use serde_json::json;

use crate::agents::place::{AgentFiles, ended, starts};
use crate::common::{Deployment, on_postgres, until};

const SCRIPTED: &str = "[model]\nprovider = \"scripted\"\n[[model.script.turns]]\nsay = \"Hello.\"\nagain = true\n";

#[tokio::test]
async fn changed_agent_file_is_reloaded_and_an_invalid_one_is_reported() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("one", SCRIPTED);
    let server = files.launch(deployment.launch(), 8).start().await;
    let admin = server.client(&deployment.key("admin", "root"));
    let names = async || {
        let page = admin.get("/v1/agents").await.done(200).body;
        page["agents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["one"]);
    files.agent("two", SCRIPTED);
    until("the new agent", async || (names().await == ["one", "two"]).then_some(())).await;
    files.agent("three", "modle = 1\n");
    until("the metric of the invalid file", async || {
        (admin.metric("flow_definitions_refused").await > 0.5).then_some(())
    })
    .await;
    assert_eq!(names().await, ["one", "two"], "the previous definitions stay in force");
    assert!(server.logged().contains("definitionsRefused"), "{}", server.logged());
    fs::remove_file(files.agents.join("three.toml")).unwrap();
    until("the metric without invalid files", async || {
        (admin.metric("flow_definitions_refused").await < 0.5).then_some(())
    })
    .await;
    let session = starts(&admin, "two").await;
    assert_eq!(ended(&admin, &session).await["steps"][0]["output"]["text"], "Hello.");
}

#[test]
fn invalid_agent_files_prevent_the_start_with_all_their_errors() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("one", "modle = 1\n");
    files.agent("two", "tols = []\n");
    let told = files.launch(deployment.launch(), 8).start_expecting_failure();
    assert!(told.contains("one.toml:3") && told.contains("two.toml:3"), "{told}");
}

#[test]
fn separate_worker_requires_a_shared_database() {
    let deployment = Deployment::sqlite();
    let output = deployment.run(&["worker"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("--database-url"), "{told}");
}

#[test]
fn separate_worker_runs_sessions_of_a_node_without_a_worker() {
    on_postgres(async |deployment| {
        let files = AgentFiles::new(deployment);
        files.agent("one", SCRIPTED);
        let server = files.launch(deployment.launch(), 0).start().await;
        let admin = server.client(&deployment.key("admin", "root"));
        let session = starts(&admin, "one").await;
        let shown = admin.get(&format!("/v1/sessions/{session}")).await.done(200).body;
        assert_eq!(shown["steps"][0]["status"], json!("pending"));
        let worker = deployment.launch().into_worker().begin();
        assert_eq!(ended(&admin, &session).await["status"], "completed");
        assert!(worker.stop().success());
    });
}

/// An agent that reads a file and ends.
const READS: &str = "tools = [\"read_file\"]\nworkspace = \"demo\"\n[model]\nprovider = \"scripted\"\n\
    [[model.script.turns]]\nsay = \"I read.\"\ncalls = [{ tool = \"read_file\", arguments = { path = \"a\" } }]\n\
    [[model.script.turns]]\nsay = \"It is over.\"\nagain = true\n";

#[test]
fn worker_follows_the_policy_file_of_the_servers() {
    on_postgres(async |deployment| {
        let files = AgentFiles::new(deployment);
        files.agent("one", READS);
        fs::write(files.file("a"), "a").unwrap();
        let policy = deployment.path("policy.toml");
        let rule = |verdict: &str| {
            let text =
                format!("version = 1\n[[rule]]\nname = \"{verdict}-it\"\ntools = [\"*\"]\nverdict = \"{verdict}\"\n");
            fs::write(&policy, text).unwrap();
        };
        rule("deny");
        let launch = files.launch(deployment.launch(), 0).with(&["--policy", policy.to_str().unwrap()]);
        let server = launch.start().await;
        let admin = server.client(&deployment.key("admin", "root"));
        // A policy file of another worker applies to that worker only, not to the servers.
        let own = deployment.path("own.toml");
        fs::write(&own, "version = 1\n[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"allow\"\n").unwrap();
        let other =
            files.launch(deployment.launch(), 8).with(&["--policy", own.to_str().unwrap()]).into_worker().begin();
        until("the other worker", async || other.logged().contains("policyLoaded").then_some(())).await;
        assert!(other.stop().success());
        let worker = files.launch(deployment.launch(), 8).into_worker().begin();
        for (verdict, state) in [("deny", "denied"), ("allow", "done")] {
            rule(verdict);
            until("the ruling by the changed file", async || {
                let session = starts(&admin, "one").await;
                ended(&admin, &session).await;
                let actions = admin.get(&format!("/v1/sessions/{session}/actions")).await.done(200).body;
                let action = &actions["actions"][0];
                assert!(verdict == "allow" || action["state"] == "denied", "{action}");
                (action["state"] == state).then_some(())
            })
            .await;
        }
        assert!(worker.stop().success());
    });
}

/// A worker applies the policy floor of the servers to its steps, and follows changes of the floor.
#[test]
fn worker_follows_the_floor_of_the_servers() {
    on_postgres(async |deployment| {
        let files = AgentFiles::new(deployment);
        files.agent("one", READS);
        fs::write(files.file("a"), "a").unwrap();
        let floor = deployment.path("floor.toml");
        let rule = |verdict: &str| {
            let text =
                format!("version = 1\n[[rule]]\nname = \"floor\"\ntools = [\"read_*\"]\nverdict = \"{verdict}\"\n");
            fs::write(&floor, text).unwrap();
        };
        rule("deny");
        let launch = files.launch(deployment.launch(), 0).with(&["--policy-floor", floor.to_str().unwrap()]);
        let server = launch.start().await;
        let admin = server.client(&deployment.key("admin", "root"));
        let worker = files.launch(deployment.launch(), 8).into_worker().begin();
        let acted = async || {
            let session = starts(&admin, "one").await;
            ended(&admin, &session).await;
            let actions = admin.get(&format!("/v1/sessions/{session}/actions")).await.done(200).body;
            actions["actions"][0].clone()
        };
        let denied = acted().await;
        assert_eq!((&denied["state"], &denied["ruling"]["floor"]["rule"]), (&json!("denied"), &json!("floor")));
        rule("allow");
        until("the ruling by the policy", async || (acted().await["state"] == "done").then_some(())).await;
        assert!(worker.stop().success());
    });
}
