//! Tests the lessons about secrets: a value is visible only to the person who gives it and to the agent that asked.

use serde_json::{Value, json};

use server_testkit::client::{ApiClient, Question};
use server_testkit::world::World;

const VALUE: &str = "hunter2-9f3c1b77";

async fn asked(world: &World) -> Question {
    let secrets = json!([
        { "name": "API_TOKEN", "label": "Token", "type": "password", "pattern": "^hunter2-[0-9a-f]+$" },
        { "name": "REGION", "required": false }
    ]);
    world.asks(json!({ "kind": "secret", "title": "Credentials for the registry", "secrets": secrets })).await
}

/// Reports whether any file of the data directory contains a text.
fn on_disk(world: &World, text: &str) -> bool {
    let files = std::fs::read_dir(world.data.path()).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

/// Collects everything that the API shows to people about a question.
async fn shown(world: &World, question: &Question) -> String {
    let alice = world.person("alice").await;
    let mut all = String::new();
    for path in [
        question.path(""),
        "/v1/interactions?limit=200".into(),
        format!("/v1/sessions/{}", question.session),
        format!("/v1/sessions/{}/events", question.session),
        "/v1/stats".into(),
        "/metrics".into(),
    ] {
        all.push_str(&alice.get(&path).await.done().to_string());
    }
    all
}

/// Regression test: encryption was promised, but the values were in plain text in the database and in the logs.
#[tokio::test]
async fn secret_value_is_visible_only_to_the_asking_agent() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = asked(&world).await;
    let answer = json!({ "data": { "API_TOKEN": VALUE } });
    let path = question.path("/answer");
    let answered = alice.post_once("k", &path, answer.clone()).await.done();
    assert_eq!(answered["resolution"]["answer"]["data"], json!({ "names": ["API_TOKEN"] }));
    assert_eq!(alice.post_once("k", &path, answer.clone()).await.done(), answered);
    let second = alice.answers(&question, answer).await.refused(409, "interaction_already_resolved");

    let waiting = agent.get("/v1/deliveries").await.done();
    let taken = agent.post_once("t", &question.path("/delivery/take"), json!({})).await.done();
    assert_eq!(taken["secrets"], json!({ "API_TOKEN": VALUE }));
    for seen in [shown(&world, &question).await, answered.to_string(), second.to_string(), waiting.to_string()] {
        assert!(!seen.contains(VALUE), "{seen}");
    }
    let found = async |text: &str| {
        let page = alice.get(&format!("/v1/interactions?q={text}")).await.done();
        page["interactions"].as_array().map(Vec::len)
    };
    assert_eq!((found(VALUE).await, found("hunter2").await, found("REGISTRY").await), (Some(0), Some(0), Some(1)));
    assert!(on_disk(&world, "Credentials for the registry"), "the search works");
    assert!(!on_disk(&world, VALUE));
}

/// A secret in an automatic answer is protected as every other secret is.
#[tokio::test]
async fn secret_in_an_automatic_answer_is_protected() {
    let world = World::new().await;
    let (root, agent) = (world.admin().await, world.agent().await);
    let question = asked(&world).await;
    let resolved = root.post(&question.path("/auto"), json!({ "data": { "API_TOKEN": VALUE } })).await.done();
    assert_eq!(resolved["resolution"]["answer"]["data"], json!({ "names": ["API_TOKEN"] }));
    assert!(!shown(&world, &question).await.contains(VALUE));
    assert!(!on_disk(&world, VALUE));
    assert_eq!(agent.takes(&question).await.done()["secrets"], json!({ "API_TOKEN": VALUE }));
}

/// The refusal of a secret does not repeat its value.
#[tokio::test]
async fn refusal_of_a_secret_does_not_repeat_its_value() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = asked(&world).await;
    let wrong = format!("{VALUE}-wrong");
    for (data, pointer) in [
        (json!({ "API_TOKEN": wrong }), "/data/API_TOKEN"),
        (json!({ "API_TOKEN": [wrong] }), "/data/API_TOKEN"),
        (json!({ "REGION": wrong }), "/data/API_TOKEN"),
        (json!({ "API_TOKEN": VALUE, "OTHER": wrong }), "/data"),
        (json!(wrong), "/data"),
    ] {
        let problem =
            alice.answers(&question, json!({ "data": data })).await.refused_at(422, "answer_invalid", &[pointer]);
        assert!(!problem.to_string().contains(VALUE), "{problem}");
    }
    assert_eq!(alice.reads(&question).await, question.shown);
    assert!(!on_disk(&world, VALUE));
}

/// Passwords and texts have one line; only the type `multiline` accepts more.
#[tokio::test]
async fn only_multiline_secrets_may_have_several_lines() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let two_lines = format!("{VALUE}\nsecond line");
    for (kind, value, fits) in [
        ("password", VALUE, true),
        ("password", two_lines.as_str(), false),
        ("text", two_lines.as_str(), false),
        ("multiline", two_lines.as_str(), true),
    ] {
        let field = json!({ "name": "KEY", "type": kind, "pattern": "hunter2" });
        let question = world.asks(json!({ "kind": "secret", "title": "The key", "secrets": [field] })).await;
        let reply = alice.answers(&question, json!({ "data": { "KEY": value } })).await;
        if fits {
            reply.done();
        } else {
            let problem = reply.refused_at(422, "answer_invalid", &["/data/KEY"]);
            assert!(!problem.to_string().contains(VALUE), "{problem}");
        }
    }
}

/// A refusal does not repeat a value in the wrong field of a body, because it may be a misplaced secret.
#[tokio::test]
async fn refusal_does_not_repeat_a_value_in_the_wrong_field() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = asked(&world).await;
    for (body, pointer) in [
        (json!({ "effect": VALUE }), "/effect"),
        (json!({ "options": VALUE }), "/options"),
        (json!({ "keep": VALUE }), "/keep"),
        (json!({ "feedback": [VALUE] }), "/feedback"),
    ] {
        let refused = alice.answers(&question, body.clone()).await.refused_at(422, "body_invalid", &[pointer]);
        assert!(!refused.to_string().contains(VALUE), "{refused}");
        let mut one = body;
        one["interaction"] = json!(question.id);
        let many = alice.post("/v1/interactions/answers", json!({ "answers": [one] })).await.done();
        assert_eq!(many["results"][0]["status"], 422);
        assert!(!many.to_string().contains(VALUE), "{many}");
    }
}

/// A refusal does not repeat an unknown name of a secret, because it may be a misplaced value.
#[tokio::test]
async fn refusal_does_not_repeat_an_unknown_secret_name() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = asked(&world).await;
    for name in [VALUE.to_owned(), format!("a/{VALUE}"), format!("~{VALUE}")] {
        let body = json!({ "data": { "API_TOKEN": VALUE, name: "API_TOKEN" } });
        let refused = alice.answers(&question, body).await.refused_at(422, "answer_invalid", &["/data"]);
        assert!(!refused.to_string().contains(VALUE), "{refused}");
    }
    let body = json!({ "data": { "": VALUE } });
    let refused = alice.answers(&question, body).await.refused(422, "answer_invalid");
    assert!(!refused.to_string().contains(VALUE), "{refused}");
}

/// When a delivery is complete, the value is deleted: a repeated request no longer returns it.
#[tokio::test]
async fn secret_is_deleted_when_its_delivery_is_complete() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = asked(&world).await;
    alice.answers(&question, json!({ "data": { "API_TOKEN": VALUE } })).await.done();
    let take = question.path("/delivery/take");
    let taken = agent.post_once("t", &take, json!({})).await.done();
    agent.completes(&question, &taken["lease"]).await.done();
    assert_eq!(agent.post_once("t", &take, json!({})).await.done().get("secrets"), None);
}

/// A secret question can be rejected.
#[tokio::test]
async fn secret_question_can_be_rejected() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = asked(&world).await;
    alice.answers(&question, json!({ "effect": "reject", "feedback": "ask operations" })).await.done();
    let taken = agent.takes(&question).await.done();
    assert_eq!((&taken["answer"]["effect"], taken.get("secrets")), (&json!("reject"), None::<&Value>));
}

/// Resume points are encrypted as secrets are, and have a size limit.
#[tokio::test]
async fn resume_point_is_sealed_and_limited_in_size() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let body = json!({ "kind": "question", "title": "Which region?", "resume_point": { "memory": VALUE } });
    let question = agent.asks_in(&session, body).await;
    alice.answers(&question, json!({ "feedback": "Europe" })).await.done();
    assert!(!shown(&world, &question).await.contains(VALUE));
    assert_eq!(agent.takes(&question).await.done()["resume_point"], json!({ "memory": VALUE }));
    assert!(!on_disk(&world, VALUE));
    let large = json!({ "kind": "question", "title": "Where?", "resume_point": "x".repeat(512 * 1024) });
    let reply = agent.post(&format!("/v1/sessions/{session}/interactions"), large).await;
    reply.refused_at(422, "body_invalid", &["/resume_point"]);
}

/// Keys are stored as hashes and shown once; a request that is repeated under its idempotency key shows the key again.
#[tokio::test]
async fn key_is_shown_once_and_stored_as_a_hash() {
    let world = World::new().await;
    let root = world.admin().await;
    let body = json!({ "role": "operator", "user": "dora", "groups": ["security"] });
    for name in [None, Some("k")] {
        let made = match name {
            None => root.post("/v1/keys", body.clone()).await.done(),
            Some(name) => root.post_once(name, "/v1/keys", body.clone()).await.done(),
        };
        if let Some(name) = name {
            assert_eq!(root.post_once(name, "/v1/keys", body.clone()).await.done(), made);
        }
        let listed = root.get("/v1/keys").await.done();
        let mut expected = made.clone();
        expected.as_object_mut().unwrap().remove("secret");
        assert_eq!(listed["keys"][0], expected);
        let random = made["secret"].as_str().unwrap().rsplit('_').next().unwrap();
        assert!(!listed.to_string().contains(random));
        assert!(!on_disk(&world, random));
        let dora = ApiClient { key: server_testkit::client::text(&made["secret"]), ..root.clone() };
        dora.get("/v1/stats").await.done();
    }
}
