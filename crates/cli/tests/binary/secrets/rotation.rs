//! Tests `holdpoint secrets rotate` while servers are running.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::json;
use tokio::task::JoinSet;

use crate::common::{Client, Deployment, Server, on_postgres, until};

/// Runs a rotation that must succeed and returns its output.
fn rotates(deployment: &Deployment, arguments: &[&str]) -> String {
    let output = deployment.run(&[&["secrets", "rotate"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn keys(deployment: &Deployment) -> Vec<String> {
    let path = deployment.data().join("master.key");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect()
}

/// Asks for a secret and answers, without taking the answer.
async fn given(bot: &Client, alice: &Client, value: &str) -> String {
    let session = bot.start().await;
    let question = json!({
        "kind": "secret", "title": "The token", "secrets": [{ "name": "TOKEN" }], "resume_point": value
    });
    let question = bot.ask(&session, question).await;
    alice.answer(&question, json!({ "data": { "TOKEN": value } })).await.done(200);
    question
}

async fn takes(bot: &Client, question: &str, value: &str) {
    let path = format!("/v1/interactions/{question}/delivery");
    let taken = bot.post(&format!("{path}/take"), json!({})).await.done(200);
    assert_eq!((taken.text("/secrets/TOKEN"), taken.text("/resume_point")), (value.to_owned(), value.to_owned()));
    bot.post(&format!("{path}/complete"), json!({ "lease": taken.text("/lease") })).await.done(200);
}

/// Rotates keys three times while clients ask, answer and take without a pause on every node.
async fn check_rotations_under_load(deployment: &Deployment, servers: &[Server]) {
    let (bot_key, alice_key) = (deployment.key("agent", "bot"), deployment.key("operator", "alice"));
    let clients: Vec<_> = servers.iter().map(|server| (server.client(&bot_key), server.client(&alice_key))).collect();
    let waiting = given(&clients[0].0, &clients[0].1, "before").await;
    let (stop, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let mut load = JoinSet::new();
    for worker in 0..4 {
        let (stop, rounds) = (Arc::clone(&stop), Arc::clone(&rounds));
        let ((bot, alice), (other, _)) =
            (clients[worker % clients.len()].clone(), clients[(worker + 1) % clients.len()].clone());
        load.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let value = format!("value {worker} {}", rounds.fetch_add(1, Ordering::Relaxed));
                let question = given(&bot, &alice, &value).await;
                takes(&other, &question, &value).await;
            }
        });
    }
    let mut seen = keys(deployment);
    for _ in 0..3 {
        let before = rounds.load(Ordering::Relaxed);
        until("load", async || (rounds.load(Ordering::Relaxed) > before + 4).then_some(())).await;
        let said = tokio::task::block_in_place(|| rotates(deployment, &[]));
        assert!(said.starts_with("rotated: 1 tenants have new keys"), "{said}");
        let now = keys(deployment);
        assert!(now.len() == 1 && !seen.contains(&now[0]), "one new key");
        seen.extend(now);
    }
    stop.store(true, Ordering::Relaxed);
    while let Some(ended) = load.join_next().await {
        ended.unwrap();
    }
    takes(&clients[0].0, &waiting, "before").await;
    for server in servers {
        let logged = server.logged();
        let errors: Vec<&str> = logged.lines().filter(|line| line.contains("\"ERROR\"")).collect();
        assert_eq!(errors, Vec::<&str>::new());
    }
    let strays = std::fs::read_dir(deployment.data()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(strays.into_iter().all(|name| !name.to_string_lossy().ends_with(".new")));
}

#[tokio::test(flavor = "multi_thread")]
async fn server_keeps_working_during_key_rotations() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch();
    let server = launch.start().await;
    check_rotations_under_load(&deployment, std::slice::from_ref(&server)).await;
    let (bot, alice) = (deployment.key("agent", "bot"), deployment.key("operator", "alice"));
    let waiting = given(&server.client(&bot), &server.client(&alice), "after").await;
    assert!(server.stop().success());
    takes(&launch.start().await.client(&bot), &waiting, "after").await;
}

#[test]
fn several_nodes_keep_working_during_key_rotations() {
    on_postgres(async |deployment| {
        let servers = [deployment.launch().start().await, deployment.launch().start().await];
        check_rotations_under_load(deployment, &servers).await;
        let third = deployment.launch().start().await;
        let (bot, alice) =
            (third.client(&deployment.key("agent", "bot")), third.client(&deployment.key("operator", "alice")));
        let waiting = given(&bot, &alice, "asked on the third node").await;
        takes(&servers[0].client(&deployment.key("agent", "bot")), &waiting, "asked on the third node").await;
    });
}

/// After `--prepare` the key file has both keys, can be copied, and can be used by servers; a later rotation finishes
/// with them.
#[tokio::test]
async fn prepared_key_rotation_can_be_finished_later() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch();
    let server = launch.start().await;
    let (bot_key, alice_key) = (deployment.key("agent", "bot"), deployment.key("operator", "alice"));
    let waiting = given(&server.client(&bot_key), &server.client(&alice_key), "old").await;
    let old = keys(&deployment);
    for _ in 0..2 {
        rotates(&deployment, &["--prepare"]);
        assert_eq!((keys(&deployment).len(), &keys(&deployment)[1]), (2, &old[0]));
    }
    let prepared = keys(&deployment);
    server.kill();
    let server = launch.start().await;
    let second = given(&server.client(&bot_key), &server.client(&alice_key), "prepared").await;
    assert!(rotates(&deployment, &[]).starts_with("continuing with the new key"));
    assert_eq!(keys(&deployment), prepared[..1]);
    takes(&server.client(&bot_key), &waiting, "old").await;
    server.kill();
    takes(&launch.start().await.client(&bot_key), &second, "prepared").await;
}

/// Keys from arguments or the environment are rotated by giving both: first to the nodes, then to the command; then
/// nodes get the new key alone.
#[tokio::test]
async fn keys_given_by_flags_are_rotated_by_giving_old_and_new() {
    let deployment = Deployment::sqlite();
    let (old, new) = ("ab".repeat(32), "cd".repeat(32));
    let launch = |arguments: &[&str]| deployment.launch().with(arguments);
    let server = launch(&["--master-key", &old]).start().await;
    let (bot, alice) = (deployment.key("agent", "bot"), deployment.key("operator", "alice"));
    let waiting = given(&server.client(&bot), &server.client(&alice), "old").await;
    let refused = deployment.run(&["secrets", "rotate", "--master-key", &old]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("HOLDPOINT_MASTER_KEY_PREVIOUS"), "{said}");
    server.kill();
    let both = ["--master-key", new.as_str(), "--master-key-previous", old.as_str()];
    let server = launch(&both).start().await;
    rotates(&deployment, &both);
    let second = given(&server.client(&bot), &server.client(&alice), "new").await;
    server.kill();
    assert!(launch(&["--master-key", &old]).start_expecting_failure().contains("sealed with another master key"));
    let server = launch(&["--master-key", &new]).start().await;
    takes(&server.client(&bot), &waiting, "old").await;
    takes(&server.client(&bot), &second, "new").await;
}
