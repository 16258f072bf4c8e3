//! Tests that logs are JSON, name the events of a question, and contain no secret.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::{Client, Deployment, soon};

const SECRET: &str = "xyzzy-plugh-31337";
const RESUME: &str = "fee-fie-foe-foo-4711";

#[tokio::test]
async fn log_lines_are_json_and_question_lines_have_their_fields() {
    let deployment = Deployment::sqlite();
    let server = deployment.launch().start().await;
    let bot = server.client(&deployment.key("agent", "bot"));
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = bot.post("/v1/sessions", json!({ "channel": "room-7" })).await.done(201).text("/id");

    let plain = bot.ask(&session, json!({ "kind": "confirmation", "title": "plain" })).await;
    alice.approve(&plain).await;
    let expiring = json!({ "kind": "confirmation", "title": "expiring", "deadline_seconds": 1 });
    let expired = ended(&bot, &session, expiring).await;
    let falling = json!({ "kind": "confirmation", "title": "falling", "deadline_seconds": 1, "fallback": "deny" });
    let auto = ended(&bot, &session, falling).await;
    bot.get("/v1/nowhere").await.done(404);
    assert!(server.logged().lines().count() > 0);
    let launch_log = server.logged();
    assert!(server.stop().success());

    let mut named: BTreeMap<(String, String), Value> = BTreeMap::new();
    for line in launch_log.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
        let (Some(message), Some(id)) = (line["message"].as_str(), line["interactionId"].as_str()) else { continue };
        let before = named.insert((message.to_owned(), id.to_owned()), line.clone());
        assert_eq!(before, None, "said twice");
        assert_eq!(line["chatSessionId"], "room-7", "{line}");
    }
    let expected = [
        ("interactionCreated", &plain, "pending"),
        ("interactionCreated", &expired, "pending"),
        ("interactionCreated", &auto, "pending"),
        ("interactionResponded", &plain, "answered"),
        ("interactionExpired", &expired, "expired"),
        ("interactionAutoResolved", &auto, "auto_resolved"),
    ];
    for (message, id, status) in expected {
        let line = named.get(&(message.to_owned(), id.clone())).unwrap_or_else(|| panic!("no {message}: {launch_log}"));
        assert_eq!(line["interactionStatus"], status);
    }
    assert_eq!(named.len(), expected.len());
}

async fn ended(bot: &Client, session: &str, question: Value) -> String {
    let id = bot.ask(session, question).await;
    let path = format!("/v1/interactions/{id}?wait=120");
    assert_ne!(soon("the deadline", bot.get(&path)).await.text("/status"), "pending");
    id
}

#[tokio::test]
async fn logs_files_and_events_contain_no_secret() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch().with(&["--log", "trace"]);
    let server = launch.start().await;
    let (bot_key, alice_key) = (deployment.key("agent", "bot"), deployment.key("operator", "alice"));
    let (bot, alice) = (server.client(&bot_key), server.client(&alice_key));
    let session = bot.start().await;
    let field = json!({ "name": "TOKEN", "pattern": "^xyzzy-.*7$" });
    let question =
        json!({ "kind": "secret", "title": "The token", "secrets": [field], "resume_point": { "at": RESUME } });
    let question = bot.ask(&session, question).await;

    let wrong = alice.answer(&question, json!({ "data": { "TOKEN": format!("{SECRET}-no") } })).await;
    assert!(!wrong.problem(422, "answer_invalid").body.to_string().contains(SECRET));
    let path = format!("/v1/interactions/{question}/answer");
    let answer =
        alice.request("POST", &path).json(&json!({ "data": { "TOKEN": SECRET } })).header("Idempotency-Key", "k1");
    let answered = alice.attempt(answer).await.unwrap().done(200);
    let events = alice.get(&format!("/v1/sessions/{session}/events")).await.done(200);
    let metrics = alice.get("/metrics").await.done(200);
    let take =
        bot.request("POST", &format!("/v1/interactions/{question}/delivery/take")).header("Idempotency-Key", "k2");
    let taken = bot.attempt(take).await.unwrap().done(200);
    assert_eq!((taken.text("/secrets/TOKEN"), taken.text("/resume_point/at")), (SECRET.to_owned(), RESUME.to_owned()));
    alice.with_key(&format!("{alice_key}0")).get("/v1/sessions").await.problem(401, "unauthenticated");

    let mut places: Vec<(String, Vec<u8>)> = vec![
        ("the reply".into(), answered.body.to_string().into_bytes()),
        ("the events".into(), events.body.to_string().into_bytes()),
        ("the metrics".into(), metrics.body.to_string().into_bytes()),
    ];
    let mut look = |when: &str| {
        for entry in std::fs::read_dir(deployment.data()).unwrap() {
            let path = entry.unwrap().path();
            places.push((format!("{} {when}", path.display()), std::fs::read(&path).unwrap()));
        }
    };
    look("while it runs");
    assert!(server.stop().success());
    look("after it stopped");
    places.push(("the logs".into(), launch.logged().into_bytes()));
    places.push(("the output".into(), launch.said().into_bytes()));
    let halves = [&bot_key, &alice_key].map(|key| key.rsplit_once('_').unwrap().1.to_owned());
    for secret in [SECRET, RESUME, &halves[0], &halves[1]] {
        for (place, bytes) in &places {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {place}");
        }
    }
}
