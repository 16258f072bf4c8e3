//! Tests kept secrets: a secret is stored for later sessions only if the person says so, and only for one agent in one
//! project.

use domain::{Role, SignedDuration};
use engine::NewKey;
use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::client::{ApiClient, Question, Reply, reply, text};
use server_testkit::world::World;

const VALUE: &str = "hunter2-9f3c1b77";

fn credentials() -> Value {
    json!({ "kind": "secret", "title": "Credentials", "secrets": [
        { "name": "TOKEN", "type": "password", "pattern": "^hunter2-" }, { "name": "REGION", "required": false }
    ] })
}

/// Asks a secret question in a new session.
async fn asks(agent: &ApiClient, body: Value) -> Question {
    let session = agent.opens(json!({})).await;
    agent.asks_in(&session, body).await
}

fn with(more: Value) -> Value {
    let mut body = credentials();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Asks for the token afresh and answers with a value that is kept or not.
async fn answer_new_question(agent: &ApiClient, alice: &ApiClient, value: &str, keep: bool) -> Question {
    let question = asks(agent, with(json!({ "fresh": true }))).await;
    alice.answers(&question, json!({ "data": { "TOKEN": value }, "keep": keep })).await.done();
    question
}

async fn listed(by: &ApiClient) -> Vec<Value> {
    by.get("/v1/secrets").await.done()["secrets"].as_array().cloned().unwrap()
}

async fn delete_secret(by: &ApiClient, id: &Value) -> Reply {
    reply(by.request(Method::DELETE, &format!("/v1/secrets/{}", text(id)))).await
}

#[tokio::test]
async fn kept_secret_answers_the_question_of_the_next_session() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let first = answer_new_question(&agent, &alice, VALUE, true).await;
    assert_eq!(
        alice.events(&first.session).await,
        ["session.started", "interaction.asked", "interaction.answered", "secret.kept"]
    );
    let kept = listed(&alice).await.remove(0);
    assert_eq!(
        (&kept["agent"], &kept["name"], &kept["kept_by"]["name"]),
        (&json!("bot"), &json!("TOKEN"), &json!("alice"))
    );
    assert_eq!(kept.get("used_at"), None);

    world.passes(60).await;
    let second = asks(&agent, credentials()).await;
    assert_eq!(second.shown["status"], "auto_resolved");
    let resolution = &second.shown["resolution"];
    assert_eq!(resolution["source"], "system");
    let reason = text(&resolution["reason"]);
    assert!(reason.contains("alice") && reason.contains(kept["kept_at"].as_str().unwrap()), "{reason}");
    assert_eq!(resolution["answer"]["data"], json!({ "names": ["TOKEN"] }));
    assert_eq!(
        alice.events(&second.session).await,
        ["session.started", "interaction.asked", "secret.used", "interaction.auto_resolved"]
    );
    assert_eq!(agent.session(&second.session).await["status"], "running");
    assert!(listed(&alice).await[0]["used_at"].is_string());
    // A kept secret is delivered like any answer: under a lease, and once.
    let taken = agent.takes(&second).await.done();
    assert_eq!(taken["secrets"], json!({ "TOKEN": VALUE }));
    agent.completes(&second, &taken["lease"]).await.done();
    agent.takes(&second).await.refused(409, "delivery_closed");
    for path in [second.path(""), format!("/v1/sessions/{}/events", second.session), "/v1/secrets".into()] {
        assert!(!alice.get(&path).await.done().to_string().contains(VALUE), "{path}");
    }
}

/// If the person does not keep the secret, the next session asks again.
#[tokio::test]
async fn secret_that_was_not_kept_is_asked_for_again() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let first = answer_new_question(&agent, &alice, VALUE, false).await;
    agent.takes(&first).await.done();
    assert_eq!(listed(&alice).await, Vec::<Value>::new());
    assert_eq!(asks(&agent, credentials()).await.shown["status"], "pending");
}

#[tokio::test]
async fn question_that_kept_secrets_cannot_answer_stays_open() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    answer_new_question(&agent, &alice, VALUE, true).await;
    let secrets = |secrets: Value| with(json!({ "secrets": secrets }));
    for (body, why) in [
        (with(json!({ "fresh": true })), "the agent asks for fresh values"),
        (secrets(json!([{ "name": "TOKEN" }, { "name": "OTHER" }])), "a required value is not kept"),
        (secrets(json!([{ "name": "TOKEN", "pattern": "^sk-" }])), "the kept value does not match the pattern"),
        (secrets(json!([{ "name": "REGION", "required": false }])), "no value is kept"),
    ] {
        assert_eq!(asks(&agent, body).await.shown["status"], "pending", "{why}");
    }
    let optional = secrets(json!([{ "name": "REGION", "required": false }, { "name": "TOKEN", "required": false }]));
    assert_eq!(
        asks(&agent, optional).await.shown["status"],
        "auto_resolved",
        "kept values are enough if the missing ones are optional"
    );
}

/// A kept secret belongs to the name of the agent's key and to the project, not to the agent name of a session.
#[tokio::test]
async fn kept_secret_is_not_given_to_other_agents_or_projects() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    answer_new_question(&agent, &alice, VALUE, true).await;
    let other = world.someone("default", Role::Agent, "other-bot", &[]).await;
    let session = other.opens(json!({ "agent": "bot" })).await;
    assert_eq!(other.asks_in(&session, credentials()).await.shown["status"], "pending");
    let namesake = world.someone("elsewhere", Role::Agent, "bot", &[]).await;
    assert_eq!(asks(&namesake, credentials()).await.shown["status"], "pending");
    let new = NewKey::named(Role::Agent, "bot");
    let (key, secret) = world.engine.key_install("default", "another", new).await.unwrap();
    let neighbour = ApiClient { http: world.http.clone(), key: secret, key_id: key.id.to_string() };
    assert_eq!(asks(&neighbour, credentials()).await.shown["status"], "pending");
}

#[tokio::test]
async fn kept_secret_is_replaced_when_it_is_kept_again() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    answer_new_question(&agent, &alice, VALUE, true).await;
    let before = listed(&alice).await;
    world.clock.advance(SignedDuration::from_secs(60));
    answer_new_question(&agent, &world.person("bob").await, "hunter2-new", true).await;
    let after = listed(&alice).await;
    assert_eq!((after.len(), &after[0]["kept_by"]["name"]), (1, &json!("bob")));
    assert_ne!(after[0]["id"], before[0]["id"]);
    let question = asks(&agent, credentials()).await;
    assert_eq!(agent.takes(&question).await.done()["secrets"], json!({ "TOKEN": "hunter2-new" }));
}

#[tokio::test]
async fn deleted_secret_is_asked_for_again() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    answer_new_question(&agent, &alice, VALUE, true).await;
    let id = listed(&alice).await[0]["id"].clone();
    // An answer that was given before the secret is forgotten is still delivered.
    let before = asks(&agent, credentials()).await;
    delete_secret(&world.stranger().await, &id).await.refused(404, "not_found");
    delete_secret(&agent, &id).await.refused(403, "role_forbids");
    assert_eq!(listed(&world.stranger().await).await, Vec::<Value>::new());
    assert_eq!(delete_secret(&alice, &id).await.status, 204);
    delete_secret(&alice, &id).await.refused(404, "not_found");
    assert_eq!(agent.takes(&before).await.done()["secrets"], json!({ "TOKEN": VALUE }));
    assert_eq!(asks(&agent, credentials()).await.shown["status"], "pending");
}

/// Only callers who may answer can keep, and only secrets that they give are kept.
#[tokio::test]
async fn keep_is_refused_without_a_secret_or_the_right_to_answer() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = asks(&agent, credentials()).await;
    let answer = json!({ "data": { "TOKEN": VALUE }, "keep": true });
    agent.answers(&question, answer.clone()).await.refused(403, "role_forbids");
    let visitor = world.someone("default", Role::Viewer, "visitor", &[]).await;
    visitor.answers(&question, answer).await.refused(403, "not_in_audience");
    let refusing = json!({ "effect": "reject", "keep": true });
    alice.answers(&question, refusing).await.refused_at(422, "answer_invalid", &["/keep"]);
    let plain = world.asks(server_testkit::client::confirmation()).await;
    let confirming = json!({ "option": "confirm", "keep": true });
    alice.answers(&plain, confirming).await.refused_at(422, "answer_invalid", &["/keep"]);
    assert_eq!(listed(&alice).await, Vec::<Value>::new());
}

/// The list of kept secrets is paged, newest first.
#[tokio::test]
async fn kept_secrets_are_paged() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let names: Vec<String> = (0..5).map(|number| format!("SECRET_{number}")).collect();
    let fields: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let question = asks(&agent, with(json!({ "secrets": fields }))).await;
    let data: Value = names.iter().map(|name| (name.clone(), json!(VALUE))).collect::<serde_json::Map<_, _>>().into();
    alice.answers(&question, json!({ "data": data, "keep": true })).await.done();
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = alice.get(&format!("/v1/secrets?limit=2{cursor}")).await.done();
        seen.extend(page["secrets"].as_array().unwrap().iter().map(|secret| text(&secret["name"])));
        let Some(next) = page.get("next") else { break };
        cursor = format!("&cursor={}", text(next));
    }
    seen.reverse();
    assert_eq!(seen, names);
}
