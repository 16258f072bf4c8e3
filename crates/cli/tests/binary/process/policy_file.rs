//! Tests the policy file: `holdpoint policy check`, reloading after a change, and keeping the last valid version.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::common::{Client, House, binary, on_postgres, until};

const ALLOWING: &str = "version = 1\n\n[[rule]]\nname = \"deploying\"\ntools = [\"deploy\"]\nverdict = \"allow\"\nreason = \"it may\"\n\
                        [[rule.example]]\ntool = \"deploy\"\narguments = {}\nverdict = \"allow\"\n";
const DENYING: &str = "version = 1\n\n[[rule]]\nname = \"no-deploying\"\ntools = [\"deploy\"]\nverdict = \"deny\"\nreason = \"not today\"\n";
const BAD: &str =
    "version = 1\n\n[[rule]]\nname = \"deploying\"\ntols = [\"deploy\"]\nverdict = \"allow\"\nreason = \"it may\"\n";

async fn ruled(agent: &Client, session: &str, call: &str) -> (String, String) {
    let body = json!({ "call_id": call, "tool": "deploy", "arguments": {} });
    let reply = agent.post(&format!("/v1/sessions/{session}/actions"), body).await;
    assert!(matches!(reply.status, 200 | 202), "{:?}", reply.body);
    (reply.text("/state"), reply.text("/ruling/verdict"))
}

#[tokio::test]
async fn a_changed_file_is_obeyed_and_a_bad_one_is_told() {
    let house = House::sqlite();
    let file = house.path("policy.toml");
    fs::write(&file, ALLOWING).unwrap();
    let launch = house.launch().with(&["--policy", &file.display().to_string()]);
    let server = launch.start().await;
    let (agent, admin) = (server.client(&house.key("agent", "bot")), server.client(&house.key("admin", "root")));
    let session = agent.start().await;
    assert_eq!(ruled(&agent, &session, "first").await, ("allowed".into(), "allow".into()));
    assert_eq!(admin.get("/v1/policy").await.done(200).text("/source"), "file");

    fs::write(&file, DENYING).unwrap();
    until("the changed file in force", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.text("/text") == DENYING).then_some(())
    })
    .await;
    assert_eq!(ruled(&agent, &session, "second").await, ("denied".into(), "deny".into()));
    assert_eq!(ruled(&agent, &session, "first").await, ("allowed".into(), "allow".into()), "what was ruled stays");

    fs::write(&file, BAD).unwrap();
    let policy = until("the bad file told", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        policy.body.get("refused_file").is_some().then_some(policy)
    })
    .await;
    assert_eq!(policy.text("/text"), DENYING, "the one before stays in force");
    let findings = policy.body["refused_file"]["findings"].as_array().unwrap();
    let misspelt = findings.iter().find(|finding| finding["code"] == "unknown_key").unwrap();
    assert_eq!(misspelt["line"], json!(5), "{misspelt}");
    assert!(server.logged().contains("policyRefused"), "{}", server.logged());
    assert!((admin.figure("flow_policy_file_refused").await - 1.0).abs() < f64::EPSILON);
    assert_eq!(ruled(&agent, &session, "third").await, ("denied".into(), "deny".into()));

    fs::remove_file(&file).unwrap();
    until("the missing file told", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.body["refused_file"]["findings"][0]["code"] == "unreadable").then_some(())
    })
    .await;

    fs::write(&file, ALLOWING).unwrap();
    until("the good file in force", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.text("/text") == ALLOWING && policy.body.get("refused_file").is_none()).then_some(())
    })
    .await;
    assert!(admin.figure("flow_policy_file_refused").await.abs() < f64::EPSILON);
    let changes = until("both changes on the trail", async || {
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
    assert_eq!(texts, [ALLOWING, DENYING, ALLOWING], "each change is told, also back to a text of before");
}

#[tokio::test]
async fn a_bad_file_ends_the_start() {
    let house = House::sqlite();
    let file = house.path("policy.toml");
    fs::write(&file, BAD).unwrap();
    let launch = house.launch().with(&["--policy", &file.display().to_string()]);
    let told = launch.start_in_vain();
    assert!(told.contains("the policy is refused") && told.contains("policy.toml:5:"), "{told}");
    let absent = house.launch().with(&["--policy", &house.path("absent.toml").display().to_string()]);
    assert!(absent.start_in_vain().contains("absent.toml"));
}

#[test]
fn files_are_checked_by_hand() {
    let house = House::sqlite();
    let (good, bad) = (house.path("good.toml"), house.path("bad.toml"));
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
    assert!(said.ends_with("good.toml: good\n"), "{said}");
    let (code, said) = check(&[&good, &bad]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("bad.toml:5:") && said.contains("unknown_key") && said.ends_with("bad.toml: refused\n"),
        "{said}"
    );
}

/// A policy file that cannot be put in force is tried again until it is; here a lock on the database prevents it.
#[tokio::test]
async fn a_file_is_tried_again_until_it_is_in_force() {
    let house = House::sqlite();
    let file = house.path("policy.toml");
    fs::write(&file, ALLOWING).unwrap();
    let server = house.launch().with(&["--policy", &file.display().to_string()]).start().await;
    let (agent, admin) = (server.client(&house.key("agent", "bot")), server.client(&house.key("admin", "root")));
    let session = agent.start().await;
    let before = admin.get("/v1/policy").await.done(200).text("/version");

    let writer = rusqlite::Connection::open(house.data().join("holdpoint.db")).unwrap();
    writer.execute_batch("begin immediate").unwrap();
    fs::write(&file, DENYING).unwrap();
    let policy = until("the file told as not yet read", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.body["refused_file"]["retried"] == json!(true)).then_some(policy)
    })
    .await;
    assert_eq!((policy.text("/version"), policy.text("/refused_file/in_force")), (before.clone(), before.clone()));
    assert!((admin.figure("flow_policy_file_refused").await - 1.0).abs() < f64::EPSILON);
    writer.execute_batch("rollback").unwrap();

    until("the file in force", async || {
        let policy = admin.get("/v1/policy").await.done(200);
        (policy.text("/text") == DENYING && policy.body.get("refused_file").is_none()).then_some(())
    })
    .await;
    assert_eq!(ruled(&agent, &session, "call").await, ("denied".into(), "deny".into()));
    assert!(server.logged().contains(&before), "the log says which version is in force: {}", server.logged());
}

/// Two servers with different policy files never rule by two policies: the file that was read last is in force.
#[test]
fn servers_with_different_files_never_rule_by_two_policies() {
    on_postgres(async |house| {
        let (one, two) = (house.path("one.toml"), house.path("two.toml"));
        fs::write(&one, ALLOWING).unwrap();
        fs::write(&two, DENYING).unwrap();
        let first = house.launch().with(&["--policy", &one.display().to_string()]).start().await;
        let agent_key = house.key("agent", "bot");
        let session = first.client(&agent_key).start().await;
        assert_eq!(ruled(&first.client(&agent_key), &session, "c1").await.0, "allowed");
        let second = house.launch().with(&["--policy", &two.display().to_string()]).start().await;
        assert_eq!(ruled(&second.client(&agent_key), &session, "c2").await.0, "denied");
        let body = json!({ "call_id": "c3", "tool": "deploy", "arguments": {} });
        let refused = first.client(&agent_key).post(&format!("/v1/sessions/{session}/actions"), body).await;
        assert_eq!((refused.status, refused.text("/code").as_str()), (503, "policy_differs"));
        let admin = first.client(&house.key("admin", "root"));
        until("the difference in the figures", async || {
            (admin.figure("flow_policy_differs").await > 0.5).then_some(())
        })
        .await;
        assert!(first.logged().contains("policyDiffers"), "{}", first.logged());
        assert_eq!(admin.get("/v1/policy").await.done(200).text("/differs/part"), "policy");
        fs::write(&one, DENYING).unwrap();
        until("both to rule alike", async || (admin.figure("flow_policy_differs").await < 0.5).then_some(())).await;
        assert_eq!(ruled(&first.client(&agent_key), &session, "c3").await.0, "denied");
    });
}

const NEVER: &str = "version = 1\n\n[[rule]]\nname = \"never\"\ntools = [\"deploy\"]\nverdict = \"deny\"\nreason = \"below the floor\"\n";

/// The policy floor of the server binds every project, is reloaded after a change, and stays when a server starts without it.
#[tokio::test]
async fn a_floor_binds_a_project_that_allows_everything() {
    let house = House::sqlite();
    let (floor, bad) = (house.path("floor.toml"), house.path("bad.toml"));
    fs::write(&floor, NEVER).unwrap();
    fs::write(&bad, "version = 1\ndefault = \"deny\"\n").unwrap();
    let flag = floor.display().to_string();
    let told = house.launch().with(&["--policy-floor", &bad.display().to_string()]).start_in_vain();
    assert!(told.contains("floor_default"), "{told}");
    for (file, code) in [(&floor, 0), (&bad, 1)] {
        let output = binary().args(["policy", "check", "--floor"]).arg(file).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }

    let server = house.launch().with(&["--policy-floor", &flag]).start().await;
    let (agent, admin) = (server.client(&house.key("agent", "bot")), server.client(&house.key("admin", "root")));
    let everything = "version = 1\n[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"allow\"\n";
    let put = admin.request("PUT", "/v1/policy").json(&json!({ "text": everything, "reason": "a test" }));
    admin.attempt(put).await.unwrap().done(200);
    let session = agent.start().await;
    assert_eq!(ruled(&agent, &session, "c1").await, ("denied".into(), "deny".into()));
    assert_eq!(admin.get("/v1/policy").await.done(200).text("/floor/text"), NEVER);
    fs::write(&floor, NEVER.replace("deny", "ask")).unwrap();
    until("the changed floor in force", async || {
        (admin.get("/v1/policy").await.done(200).text("/floor/text") != NEVER).then_some(())
    })
    .await;
    assert_eq!(ruled(&agent, &session, "c2").await, ("waiting".into(), "ask".into()));
    assert!(server.stop().success());

    let server = house.launch().start().await;
    let agent = server.client(&house.key("agent", "bot"));
    let session = agent.start().await;
    assert_eq!(ruled(&agent, &session, "c1").await.0, "waiting", "a missing flag removes nothing");
    assert!(server.stop().success());
    let server = house.launch().with(&["--no-policy-floor"]).start().await;
    let agent = server.client(&house.key("agent", "bot"));
    let session = agent.start().await;
    assert_eq!(ruled(&agent, &session, "c1").await.0, "allowed");
}
