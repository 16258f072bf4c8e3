//! Tests that a policy draft is compared with past actions from the command line while the server runs.

use serde_json::json;

use crate::common::{Deployment, Server, binary, on_postgres};

async fn check_simulation(deployment: &Deployment, server: &Server) {
    let (bot, alice) =
        (server.client(&deployment.key("agent", "bot")), server.client(&deployment.key("operator", "alice")));
    let session = bot.start().await;
    let actions = format!("/v1/sessions/{session}/actions");
    let writing = |call: &str| json!({ "call_id": call, "tool": "write_file", "arguments": { "path": "notes.md" } });
    bot.post(&actions, writing("c1")).await.done(202);
    let asked = bot.post(&actions, writing("c2")).await.done(202).text("/interaction");
    alice.answer(&asked, json!({ "option": "reject" })).await.done(200);

    let draft = deployment.path("draft.toml");
    let rule = "[[rule]]\nname = \"open\"\ntools = [\"write_file\"]\nverdict = \"allow\"\n";
    std::fs::write(&draft, format!("version = 1\n{rule}")).unwrap();
    let draft = draft.to_str().unwrap();
    let output = deployment.run(&["policy", "simulate", draft]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("2 actions judged\nask -> allow: 2\n"), "{told}");
    assert!(told.contains("1 decisions of people contradicted\n"), "{told}");
    assert!(told.contains(&format!("alice said reject in {asked}")), "{told}");
    let few = deployment.run(&["policy", "simulate", draft, "--limit", "1"]);
    assert!(String::from_utf8_lossy(&few.stdout).contains("1 actions judged, and there are older ones\n"));
    let nowhere = deployment.run(&["policy", "simulate", draft, "--project", "nowhere"]);
    assert!(!nowhere.status.success());
    std::fs::write(deployment.path("draft.toml"), "version = 1\nrules = []\n").unwrap();
    let refused = deployment.run(&["policy", "simulate", draft]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains(&format!("{draft}:2:1: error[unknown_key]")));
    let none = deployment.run(&["policy", "simulate", draft, "--limit", "0"]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("0 is not in 1..=10000"));
}

#[tokio::test]
async fn draft_is_simulated_beside_a_running_server_on_sqlite() {
    let deployment = Deployment::sqlite();
    let server = deployment.launch().start().await;
    check_simulation(&deployment, &server).await;
}

/// A mistyped directory is reported, and no database is created there.
#[test]
fn simulation_in_a_wrong_directory_creates_no_database() {
    let deployment = Deployment::sqlite();
    std::fs::write(deployment.path("draft.toml"), "version = 1\n").unwrap();
    let (draft, elsewhere) = (deployment.path("draft.toml"), deployment.path("elsewhere"));
    let refused = binary().args(["policy", "simulate"]).arg(draft).arg("--data").arg(&elsewhere).output().unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("holdpoint.db"), "{refused:?}");
    assert!(!elsewhere.exists());
}

#[test]
fn draft_is_simulated_beside_a_running_server_on_postgres() {
    on_postgres(async |deployment| {
        let server = deployment.launch().start().await;
        check_simulation(deployment, &server).await;
    });
}
