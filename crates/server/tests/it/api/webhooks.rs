//! Tests webhooks through the API. The crate `webhooks` tests the sending.

use engine::NewWebhook;
use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::client::{ApiClient, Reply, ids, masked, reply, text};
use server_testkit::world::World;

const URL: &str = "https://hooks.example.com/holdpoint";

async fn create_webhook(by: &ApiClient, body: Value) -> Value {
    by.post("/v1/webhooks", body).await.done()
}

async fn switch_webhook(by: &ApiClient, webhook: &str, body: Value) -> Reply {
    reply(by.request(Method::PUT, &format!("/v1/webhooks/{webhook}/enabled")).json(&body)).await
}

#[tokio::test]
async fn webhook_is_created_shown_listed_and_removed() {
    let world = World::new().await;
    let root = world.admin().await;
    let body = json!({ "url": URL, "events": ["interaction.*"], "agent": "release-bot", "description": "On call" });
    let created = create_webhook(&root, body).await;
    let secret = text(&created["secret"]);
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");
    let mut shown = created.clone();
    shown.as_object_mut().unwrap().remove("secret");
    let expected = json!({
        "id": "whk_…", "url": URL, "events": ["interaction.*"], "agent": "release-bot", "description": "On call",
        "created_by": { "kind": "user", "name": "root" }, "created_at": "2026-01-01T00:00:00Z", "enabled": true, "failures": 0
    });
    assert_eq!(masked(&shown), expected);
    let path = format!("/v1/webhooks/{}", text(&created["id"]));
    assert_eq!(root.get(&path).await.done(), shown);
    let answers = create_webhook(&root, json!({ "url": URL, "answers_of": "bot", "enabled": false })).await;
    assert_eq!((&answers["answers_of"], &answers["enabled"]), (&json!("bot"), &json!(false)));
    let listed = root.get("/v1/webhooks").await.done();
    assert_eq!(ids(&listed["webhooks"]), [text(&answers["id"]), text(&created["id"])]);
    assert!(!listed.to_string().contains("whsec_"), "a secret is shown once");
    let first = root.get("/v1/webhooks?limit=1").await.done();
    let rest = root.get(&format!("/v1/webhooks?limit=1&cursor={}", text(&first["next"]))).await.done();
    assert_eq!(ids(&rest["webhooks"]), [text(&created["id"])]);
    let removed = reply(root.request(Method::DELETE, &path)).await;
    assert_eq!(removed.status, 204);
    root.get(&path).await.refused(404, "not_found");
    reply(root.request(Method::DELETE, &path)).await.refused(404, "not_found");
}

#[tokio::test]
async fn repeated_command_creates_one_webhook_and_returns_its_secret() {
    let world = World::new().await;
    let root = world.admin().await;
    let first = root.post_once("w", "/v1/webhooks", json!({ "url": URL })).await.done();
    let again = root.post_once("w", "/v1/webhooks", json!({ "url": URL })).await.done();
    assert_eq!(first, again);
    assert_eq!(root.get("/v1/webhooks").await.done()["webhooks"].as_array().unwrap().len(), 1);
    let path = format!("/v1/webhooks/{}/rotate", text(&first["id"]));
    let rotated = root.post_once("r", &path, json!({ "overlap_seconds": 60 })).await.done();
    assert_eq!(rotated, root.post_once("r", &path, json!({ "overlap_seconds": 60 })).await.done());
    assert_ne!(rotated["secret"], first["secret"]);
    assert_eq!(rotated["old_until"], "2026-01-01T00:01:00Z");
    root.post(&path, json!({ "overlap_seconds": -1 })).await.refused_at(422, "body_invalid", &["/overlap_seconds"]);
}

#[tokio::test]
async fn invalid_webhook_is_refused_with_a_pointer() {
    let world = World::new().await;
    let root = world.admin().await;
    let post = async |body: Value| root.post("/v1/webhooks", body).await;
    for (body, pointer) in [
        (json!({ "url": "http://169.254.169.254/" }), "/url"),
        (json!({ "url": "http://127.0.0.1:8420/v1" }), "/url"),
        (json!({ "url": "file:///etc/passwd" }), "/url"),
        (json!({ "url": URL, "events": [] }), "/events"),
        (json!({ "url": URL, "events": ["a b"] }), "/events/0"),
        (json!({ "url": URL, "answers_of": "bot", "events": ["*"] }), "/answers_of"),
        (json!({ "url": URL, "answers_of": "bot", "agent": "x" }), "/answers_of"),
        (json!({ "url": URL, "description": "two\nlines" }), "/description"),
    ] {
        post(body).await.refused_at(422, "body_invalid", &[pointer]);
    }
    let unknown = json!({ "url": URL, "session": "ses_00000000-0000-7000-8000-000000000000" });
    post(unknown).await.refused(404, "not_found");
    assert_eq!(root.get("/v1/webhooks").await.done(), json!({ "webhooks": [] }));
}

#[tokio::test]
async fn webhook_messages_are_listed_and_only_settled_ones_replayed() {
    let world = World::new().await;
    let root = world.admin().await;
    let webhook = text(&create_webhook(&root, json!({ "url": URL })).await["id"]);
    let sent = root.post(&format!("/v1/webhooks/{webhook}/test"), json!({})).await;
    assert_eq!(sent.status, 202);
    let sent = sent.done();
    let expected = json!({ "id": "whd_…", "webhook": "whk_…", "type": "webhook.test", "state": "pending",
        "created_at": "2026-01-01T00:00:00Z", "due_at": "2026-01-01T00:00:00Z", "tries": 0, "attempts": [] });
    assert_eq!(masked(&sent), expected);
    let path = format!("/v1/webhooks/{webhook}/deliveries");
    assert_eq!(root.get(&path).await.done(), json!({ "deliveries": [sent] }));
    assert_eq!(root.get(&format!("{path}?state=dead")).await.done(), json!({ "deliveries": [] }));
    root.get(&format!("{path}?state=lost")).await.refused(400, "query_invalid");
    let replay = format!("{path}/{}/replay", text(&sent["id"]));
    root.post(&replay, json!({})).await.refused(409, "webhook_delivery_pending");
    root.post(&format!("{path}/whd_00000000-0000-7000-8000-000000000000/replay"), json!({}))
        .await
        .refused(404, "not_found");
    let off = switch_webhook(&root, &webhook, json!({ "enabled": false, "reason": "it moves" })).await.done();
    assert_eq!((&off["enabled"], &off["disabled_reason"]), (&json!(false), &json!("it moves")));
    root.post(&format!("/v1/webhooks/{webhook}/test"), json!({})).await.refused(409, "webhook_disabled");
    assert_eq!(switch_webhook(&root, &webhook, json!({ "enabled": true })).await.done()["enabled"], true);
    let trail = root.get("/v1/audit?limit=200").await.done();
    let names = trail["entries"].as_array().unwrap().iter().map(|entry| text(&entry["type"]));
    let names: Vec<String> = names.filter(|name| name.starts_with("webhook.")).collect();
    assert_eq!(names, ["webhook.created", "webhook.disabled", "webhook.enabled"]);
}

#[tokio::test]
async fn webhooks_of_a_project_are_limited() {
    let world = World::new().await;
    let root = world.admin().await;
    let caller = world.engine.authenticate(&root.key).await.unwrap();
    let new = NewWebhook {
        url: URL.into(),
        subject: domain::webhook::Subject::Answers { agent: "bot".into() },
        description: None,
        enabled: true,
    };
    let all = (0..domain::webhook::MOST).map(|_| world.engine.webhook_create(&caller, new.clone(), None));
    assert!(futures::future::join_all(all).await.into_iter().all(|made| made.is_ok()));
    root.post("/v1/webhooks", json!({ "url": URL })).await.refused(409, "too_many_webhooks");
}
