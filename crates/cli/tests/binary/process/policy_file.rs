//! Tests the policy file: `holdpoint policy check`, reloading after a change, and keeping the last valid version.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::common::{Client, Deployment, binary, on_postgres, until};

const ALLOWING: &str = "version = 1\n\n[[rule]]\nname = \"deploying\"\ntools = [\"deploy\"]\nverdict = \"allow\"\nreason = \"it may\"\n\
                        [[rule.example]]\ntool = \"deploy\"\narguments = {}\nverdict = \"allow\"\n";
const DENYING: &str = "version = 1\n\n[[rule]]\nname = \"no-deploying\"\ntools = [\"deploy\"]\nverdict = \"deny\"\nreason = \"not today\"\n";
const BAD: &str =
    "version = 1\n\n[[rule]]\nname = \"deploying\"\ntols = [\"deploy\"]\nverdict = \"allow\"\nreason = \"it may\"\n";

async fn propose_and_read_ruling(agent: &Client, session: &str, call: &str) -> (String, String) {
    let body = json!({ "call_id": call, "tool": "deploy", "arguments": {} });
    let reply = agent.post(&format!("/v1/sessions/{session}/actions"), body).await;
    assert!(matches!(reply.status, 200 | 202), "{:?}", reply.body);
    (reply.text("/state"), reply.text("/ruling/verdict"))
}

#[tokio::test]
async fn changed_policy_file_applies_and_an_invalid_one_is_reported() {
    let deployment = Deployment::sqlite();
    let file = deployment.path("policy.toml");
    fs::write(&file, ALLOWING).unwrap();
    let launch = deployment.launch().with(&["--policy", &file.display().to_string()]);
    let server = launch.start().await;
    let [agent, admin] =
        [("agent", "bot"), ("admin", "root")].map(|(role, user)| server.client(&deployment.key(role, user)));
    let session = agent.start().await;
    assert_eq!(propose_and_read_ruling(&agent, &session, "first").await, ("allowed".into(), "allow".into()));
    assert_eq!(admin.get("/v1/policy").await.done(200).text("/source"), "file");

    fs::write(&file, DENYING).unwrap();
    until("the changed file in force", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.text("/text") == DENYING).then_some(())
    })
    .await;
    assert_eq!(propose_and_read_ruling(&agent, &session, "second").await, ("denied".into(), "deny".into()));
    let first = propose_and_read_ruling(&agent, &session, "first").await;
    assert_eq!(first, ("allowed".into(), "allow".into()), "an earlier ruling stays");

    fs::write(&file, BAD).unwrap();
    let policy = until("the report about the invalid file", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        policy.body.get("refused_file").is_some().then_some(policy)
    })
    .await;
    assert_eq!(policy.text("/text"), DENYING, "the previous policy stays in force");
    let findings = policy.body["refused_file"]["findings"].as_array().unwrap();
    let misspelt = findings.iter().find(|finding| finding["code"] == "unknown_key").unwrap();
    assert_eq!(misspelt["line"], json!(5), "{misspelt}");
    assert!(server.logged().contains("policyRefused"), "{}", server.logged());
    assert!((admin.metric("flow_policy_file_refused").await - 1.0).abs() < f64::EPSILON);
    assert_eq!(propose_and_read_ruling(&agent, &session, "third").await, ("denied".into(), "deny".into()));

    fs::remove_file(&file).unwrap();
    until("the report about the missing file", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.body["refused_file"]["findings"][0]["code"] == "unreadable").then_some(())
    })
    .await;

    fs::write(&file, ALLOWING).unwrap();
    until("the valid file in force", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.text("/text") == ALLOWING && policy.body.get("refused_file").is_none()).then_some(())
    })
    .await;
    assert!(admin.metric("flow_policy_file_refused").await.abs() < f64::EPSILON);
    let changes = until("both changes in the audit trail", async || {
        let trail = admin.get("/v1/audit?type=policy.changed").await.done(200).body["entries"].clone();
        (trail.as_array().unwrap().len() == 2).then_some(trail)
    })
    .await;
    for (change, added) in [(&changes[0], "+name = \"no-deploying\""), (&changes[1], "+name = \"deploying\"")] {
        assert!(change["data"]["diff"].as_str().unwrap().contains(added), "{change}");
        assert_eq!((&change["by"]["kind"], &change["data"]["source"]), (&json!("system"), &json!("file")), "{change}");
    }
    let versions = admin.get("/v1/policy/versions").await.done(200);
    let texts: Vec<&str> =
        versions.body["versions"].as_array().unwrap().iter().map(|change| change["text"].as_str().unwrap()).collect();
    assert_eq!(texts, [ALLOWING, DENYING, ALLOWING], "each change is recorded, also the return to an earlier text");
}

#[tokio::test]
async fn invalid_policy_file_prevents_the_start() {
    let deployment = Deployment::sqlite();
    let file = deployment.path("policy.toml");
    fs::write(&file, BAD).unwrap();
    let launch = deployment.launch().with(&["--policy", &file.display().to_string()]);
    let told = launch.start_expecting_failure();
    assert!(told.contains("the policy is refused") && told.contains("policy.toml:5:"), "{told}");
    let absent = deployment.launch().with(&["--policy", &deployment.path("absent.toml").display().to_string()]);
    assert!(absent.start_expecting_failure().contains("absent.toml"));
}

#[test]
fn policy_check_reports_file_and_line() {
    let deployment = Deployment::sqlite();
    let (good, bad) = (deployment.path("good.toml"), deployment.path("bad.toml"));
    fs::write(&good, ALLOWING).unwrap();
    fs::write(&bad, BAD).unwrap();
    let check = |files: &[&std::path::Path]| {
        let mut command = binary();
        command.args(["policy", "check"]).args(files).stdin(Stdio::null());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = check(&[&good]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("good.toml: no errors\n"), "{said}");
    let (code, said) = check(&[&good, &bad]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("bad.toml:5:") && said.contains("unknown_key") && said.ends_with("bad.toml: refused\n"),
        "{said}"
    );
}

/// A policy file that cannot be put in force is tried again until it is; here a lock on the database prevents it.
#[tokio::test]
async fn policy_file_is_retried_until_it_is_in_force() {
    let deployment = Deployment::sqlite();
    let file = deployment.path("policy.toml");
    fs::write(&file, ALLOWING).unwrap();
    let server = deployment.launch().with(&["--policy", &file.display().to_string()]).start().await;
    let (agent, admin) =
        (server.client(&deployment.key("agent", "bot")), server.client(&deployment.key("admin", "root")));
    let session = agent.start().await;
    let before = admin.get("/v1/policy").await.done(200).text("/version");

    let writer = rusqlite::Connection::open(deployment.data().join("holdpoint.db")).unwrap();
    writer.execute_batch("begin immediate").unwrap();
    fs::write(&file, DENYING).unwrap();
    let policy = until("the report about the unread file", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.body["refused_file"]["retried"] == json!(true)).then_some(policy)
    })
    .await;
    assert_eq!((policy.text("/version"), policy.text("/refused_file/in_force")), (before.clone(), before.clone()));
    assert!((admin.metric("flow_policy_file_refused").await - 1.0).abs() < f64::EPSILON);
    writer.execute_batch("rollback").unwrap();

    until("the file in force", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.text("/text") == DENYING && policy.body.get("refused_file").is_none()).then_some(())
    })
    .await;
    assert_eq!(propose_and_read_ruling(&agent, &session, "call").await, ("denied".into(), "deny".into()));
    assert!(server.logged().contains(&before), "the log says which version is in force: {}", server.logged());
}

/// Two servers with different policy files never rule by two policies: the file that was read last is in force.
#[test]
fn servers_with_different_policy_files_rule_by_the_last_one() {
    on_postgres(async |deployment| {
        let (one, two) = (deployment.path("one.toml"), deployment.path("two.toml"));
        fs::write(&one, ALLOWING).unwrap();
        fs::write(&two, DENYING).unwrap();
        let first = deployment.launch().with(&["--policy", &one.display().to_string()]).start().await;
        let agent_key = deployment.key("agent", "bot");
        let session = first.client(&agent_key).start().await;
        assert_eq!(propose_and_read_ruling(&first.client(&agent_key), &session, "c1").await.0, "allowed");
        let second = deployment.launch().with(&["--policy", &two.display().to_string()]).start().await;
        assert_eq!(propose_and_read_ruling(&second.client(&agent_key), &session, "c2").await.0, "denied");
        let body = json!({ "call_id": "c3", "tool": "deploy", "arguments": {} });
        let refused = first.client(&agent_key).post(&format!("/v1/sessions/{session}/actions"), body).await;
        assert_eq!((refused.status, refused.text("/code").as_str()), (503, "policy_differs"));
        let admin = first.client(&deployment.key("admin", "root"));
        until("the metric of the difference", async || (admin.metric("flow_policy_differs").await > 0.5).then_some(()))
            .await;
        assert!(first.logged().contains("policyDiffers"), "{}", first.logged());
        assert_eq!(admin.get("/v1/policy").await.done(200).text("/differs/part"), "policy");
        fs::write(&one, DENYING).unwrap();
        until("the same policy on both servers", async || {
            (admin.metric("flow_policy_differs").await < 0.5).then_some(())
        })
        .await;
        assert_eq!(propose_and_read_ruling(&first.client(&agent_key), &session, "c3").await.0, "denied");
    });
}

const NEVER: &str = "version = 1\n\n[[rule]]\nname = \"never\"\ntools = [\"deploy\"]\nverdict = \"deny\"\nreason = \"below the floor\"\n";

/// The policy floor of the server binds every project, is reloaded after a change, and stays when a server starts
/// without it.
#[tokio::test]
async fn floor_applies_to_a_project_that_allows_everything() {
    let deployment = Deployment::sqlite();
    let (floor, bad) = (deployment.path("floor.toml"), deployment.path("bad.toml"));
    fs::write(&floor, NEVER).unwrap();
    fs::write(&bad, "version = 1\ndefault = \"deny\"\n").unwrap();
    let flag = floor.display().to_string();
    let told = deployment.launch().with(&["--policy-floor", &bad.display().to_string()]).start_expecting_failure();
    assert!(told.contains("floor_default"), "{told}");
    for (file, code) in [(&floor, 0), (&bad, 1)] {
        let output = binary().args(["policy", "check", "--floor"]).arg(file).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }

    let server = deployment.launch().with(&["--policy-floor", &flag]).start().await;
    let (agent, admin) =
        (server.client(&deployment.key("agent", "bot")), server.client(&deployment.key("admin", "root")));
    let everything = "version = 1\n[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"allow\"\n";
    let put = admin.request("PUT", "/v1/policy").json(&json!({ "text": everything, "reason": "a test" }));
    admin.attempt(put).await.unwrap().done(200);
    let session = agent.start().await;
    assert_eq!(propose_and_read_ruling(&agent, &session, "c1").await, ("denied".into(), "deny".into()));
    assert_eq!(admin.get("/v1/policy").await.done(200).text("/floor/text"), NEVER);
    fs::write(&floor, NEVER.replace("deny", "ask")).unwrap();
    until("the changed floor in force", async || {
        (admin.get("/v1/policy").await.done(200).text("/floor/text") != NEVER).then_some(())
    })
    .await;
    assert_eq!(propose_and_read_ruling(&agent, &session, "c2").await, ("waiting".into(), "ask".into()));
    assert!(server.stop().success());

    let server = deployment.launch().start().await;
    let agent = server.client(&deployment.key("agent", "bot"));
    let session = agent.start().await;
    assert_eq!(propose_and_read_ruling(&agent, &session, "c1").await.0, "waiting", "a missing flag removes nothing");
    assert!(server.stop().success());
    let server = deployment.launch().with(&["--no-policy-floor"]).start().await;
    let agent = server.client(&deployment.key("agent", "bot"));
    let session = agent.start().await;
    assert_eq!(propose_and_read_ruling(&agent, &session, "c1").await.0, "allowed");
}
