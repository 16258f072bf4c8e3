//! Tests that archived questions can be read, and exported while the server runs.

use serde_json::{Value, json};

use crate::common::{Client, Deployment, Server, on_postgres, until};

const MARKER: &str = "hunter2-archived";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Asks, answers, takes and completes a question, so that it can be archived at once.
async fn complete_question(bot: &Client, alice: &Client, question: Value, answer: Value) -> String {
    let session = bot.start().await;
    let id = bot.ask(&session, question).await;
    alice.answer(&id, answer).await.done(200);
    let path = format!("/v1/interactions/{id}/delivery");
    let lease = bot.post(&format!("{path}/take"), json!({})).await.done(200).text("/lease");
    bot.post(&format!("{path}/complete"), json!({ "lease": lease })).await.done(200);
    id
}

fn exported(deployment: &Deployment, more: &[&str]) -> String {
    let file = deployment.path("exported");
    let output = deployment.run_into(&[["archive", "export"].as_slice(), more].concat(), &file);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(file).unwrap()
}

async fn check_archive_export(deployment: &Deployment, server: &Server) {
    let (bot, alice) =
        (server.client(&deployment.key("agent", "bot")), server.client(&deployment.key("operator", "alice")));
    let secret = json!({ "kind": "secret", "title": "A token", "secrets": [{ "name": "TOKEN" }] });
    let mut ids = vec![complete_question(&bot, &alice, secret, json!({ "data": { "TOKEN": MARKER } })).await];
    for number in 0..120 {
        let question = json!({ "kind": "confirmation", "title": format!("Number {number}") });
        ids.push(complete_question(&bot, &alice, question, json!({ "option": "confirm", "feedback": "fine" })).await);
    }
    let open = bot.ask_plainly("Still open").await;
    alice.answer(&open, json!({ "option": "confirm" })).await.done(200);
    until("all questions except the one whose answer was not taken", async || {
        let listed = alice.get("/v1/interactions?limit=200").await.done(200).body;
        (listed["interactions"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;

    let all = exported(deployment, &[]);
    assert!(!all.contains(MARKER), "the export contains no sealed value");
    let found = lines(&all);
    let told: Vec<&str> = found.iter().map(|line| line["interaction"]["id"].as_str().unwrap()).collect();
    assert_eq!(told, ids, "each question once, the oldest first");
    for line in &found {
        let id = line["interaction"]["id"].as_str().unwrap();
        assert_eq!(
            line["interaction"],
            alice.question(id).await.body,
            "the exported question equals the one that GET returns"
        );
        assert_eq!((&line["tenant"], &line["project"]), (&json!("default"), &json!("default")));
        let events: Vec<&str> =
            line["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(events, ["interaction.asked", "interaction.answered", "delivery.taken", "delivery.completed"]);
    }
    assert_eq!(found[1]["interaction"]["resolution"]["answer"]["feedback"], "fine");

    let middle = found[60]["interaction"]["resolution"]["at"].as_str().unwrap();
    let (before, after) = (exported(deployment, &["--before", middle]), exported(deployment, &["--after", middle]));
    assert_eq!((lines(&before).len(), lines(&after).len()), (60, 61));
    assert_eq!(before + &after, all);
    assert_eq!(exported(deployment, &["--tenant", "default", "--project", "default"]), all);
    let nobody = deployment.run(&["archive", "export", "--tenant", "nobody"]);
    assert!(!nobody.status.success());
    let file = deployment.path("archive.jsonl");
    exported(deployment, &[file.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), all);
    let again = deployment.run(&["archive", "export", file.to_str().unwrap()]);
    assert!(!again.status.success(), "an existing file is not overwritten");
}

#[tokio::test]
async fn archive_is_exported_while_the_server_runs() {
    let deployment = Deployment::sqlite();
    let server = deployment.launch().with(&["--retention-days", "0"]).start().await;
    check_archive_export(&deployment, &server).await;
}

#[test]
fn archive_of_two_nodes_has_each_question_once() {
    on_postgres(async |deployment| {
        let server = deployment.launch().with(&["--retention-days", "0"]).start().await;
        let _other = deployment.launch().with(&["--retention-days", "0"]).start().await;
        check_archive_export(deployment, &server).await;
    });
}
