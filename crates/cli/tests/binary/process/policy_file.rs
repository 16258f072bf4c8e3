//! The policy file: checked by hand, obeyed, followed, and never left for a worse one.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::common::{Client, House, binary, until};

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
