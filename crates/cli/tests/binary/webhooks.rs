//! Tests webhooks of the real binary: signed, retried by the remaining node, sent once by several nodes, and not
//! delayed by slow endpoints.

pub(crate) mod endpoint;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::common::{Client, Deployment, Launch, on_postgres, soon, until};
use endpoint::{Endpoint, How};

/// Arguments of a server that may send to this machine and has a short lease for webhook messages.
const HERE: &[&str] = &["--webhooks-networks", "127.0.0.0/8", "--webhook-lease-seconds", "12"];

async fn subscribe(root: &Client, url: &str, more: Value) -> Value {
    let mut body = json!({ "url": url });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    root.post("/v1/webhooks", body).await.done(201).body
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Arguments of a server that may send to this machine, and waits for a reply for 12 seconds, a third of the lease.
const PATIENT: &[&str] = &["--webhooks-networks", "127.0.0.0/8", "--webhook-lease-seconds", "36"];

/// Starts a server that sends to this machine. Returns also a client of an admin and the key of an agent.
async fn open(deployment: &Deployment) -> (Launch, crate::common::Server, Client, String) {
    open_with(deployment, HERE).await
}

async fn open_with(deployment: &Deployment, arguments: &[&str]) -> (Launch, crate::common::Server, Client, String) {
    let launch = deployment.launch().with(arguments);
    let server = launch.start().await;
    let (root, bot) = (deployment.key("admin", "root"), deployment.key("agent", "bot"));
    let root = server.client(&root);
    (launch, server, root, bot)
}

#[tokio::test]
async fn events_are_posted_with_valid_signatures() {
    let deployment = Deployment::sqlite();
    let (_, server, root, bot) = open(&deployment).await;
    let endpoint = Endpoint::open().await;
    let created = subscribe(&root, &endpoint.url("/ok"), json!({ "events": ["interaction.*"] })).await;
    let question = server.client(&bot).ask_plainly("May I?").await;
    root.approve(&question).await;
    let got = soon("both messages", endpoint.wait_for(2)).await;
    let verifier = standardwebhooks::Webhook::new(created["secret"].as_str().unwrap()).unwrap();
    for message in &got {
        verifier.verify(&message.raw, &message.headers).unwrap();
        assert_eq!(message.body["data"]["interaction"], json!(question));
        assert_eq!(message.body["timestamp"], message.body["data"]["at"]);
    }
    // Messages are sent concurrently, so they may arrive in another order than that of the log.
    let mut types: Vec<String> = got.iter().map(|message| text(&message.body["type"])).collect();
    types.sort();
    assert_eq!(types, ["interaction.answered", "interaction.asked"]);
    let path = format!("/v1/webhooks/{}/deliveries?state=delivered", text(&created["id"]));
    until("both deliveries are recorded", async || {
        let listed = root.get(&path).await.done(200).body;
        (listed["deliveries"].as_array().unwrap().len() == 2).then_some(())
    })
    .await;
    assert_eq!(root.metric("flow_webhook_attempts_total").await, 2.0);
}

#[tokio::test]
async fn webhooks_to_loopback_addresses_are_refused_by_default() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch();
    let server = launch.start().await;
    let (root, endpoint) = (server.client(&deployment.key("admin", "root")), Endpoint::open().await);
    root.post("/v1/webhooks", json!({ "url": endpoint.url("/ok") })).await.problem(422, "body_invalid");
    let named = endpoint.url("/ok").replace("127.0.0.1", "localhost");
    let id = text(&subscribe(&root, &named, json!({})).await["id"]);
    root.post(&format!("/v1/webhooks/{id}/test"), json!({})).await.done(202);
    let note = until("an attempt", async || {
        let listed = root.get(&format!("/v1/webhooks/{id}/deliveries")).await.done(200).body;
        listed.pointer("/deliveries/0/attempts/0/note").cloned()
    })
    .await;
    assert!(text(&note).contains("is not an address that this server sends to"), "{note}");
    assert_eq!(endpoint.got().len(), 0);
}

/// A message is sent again under its identifier if the server was killed before it recorded the delivery.
#[tokio::test]
async fn message_not_recorded_before_a_kill_is_sent_again_with_its_id() {
    let deployment = Deployment::sqlite();
    // No attempt may end before the kill, also on a loaded machine.
    let (launch, server, root, bot) = open_with(&deployment, PATIENT).await;
    let endpoint = Endpoint::open().await;
    let events = subscribe(&root, &endpoint.url("/events"), json!({ "events": ["session.started"] })).await;
    subscribe(&root, &endpoint.url("/answers"), json!({ "answers_of": "bot" })).await;
    endpoint.becomes(How::Hangs);
    let bot = server.client(&bot);
    let question = bot.ask_plainly("May I?").await;
    root.approve(&question).await;
    let first = soon("the messages", endpoint.wait_for(2)).await;
    server.kill();
    endpoint.becomes(How::Takes);
    endpoint.forget();
    let _server = launch.start().await;
    let again = soon("the same messages", endpoint.wait_for(2)).await;
    let ids = |messages: &[endpoint::Message]| -> HashSet<(String, String)> {
        messages.iter().map(|message| (message.path.clone(), message.id())).collect()
    };
    assert_eq!(ids(&first), ids(&again));
    let delivered = until("the answer is taken", async || {
        let shown = root.question(&question).await.body;
        (shown["delivery"]["state"] == "completed").then_some(shown)
    })
    .await;
    assert_eq!(delivered["delivery"]["attempt"], 1, "the answer was taken once");
    let sent = root.get(&format!("/v1/webhooks/{}/deliveries", text(&events["id"]))).await.done(200).body;
    assert_eq!(
        sent["deliveries"][0]["attempts"].as_array().unwrap().len(),
        1,
        "the first attempt was not recorded: {sent}"
    );
}

/// An answer counts as taken when the endpoint replies 202, under the lease in the message, and not while it fails.
#[tokio::test]
async fn delivery_is_taken_when_the_endpoint_replies_202() {
    let deployment = Deployment::sqlite();
    let (_, server, root, bot) = open(&deployment).await;
    let (endpoint, bot) = (Endpoint::open().await, server.client(&bot));
    subscribe(&root, &endpoint.url("/accepts"), json!({ "answers_of": "bot" })).await;
    endpoint.becomes(How::Fails);
    let question = bot.ask_plainly("May I?").await;
    root.approve(&question).await;
    soon("a failed attempt", endpoint.wait_for(1)).await;
    assert_eq!(root.question(&question).await.body["delivery"]["state"], "waiting");
    endpoint.becomes(How::Accepts);
    endpoint.forget();
    let message = soon("another", endpoint.wait_for(1)).await.remove(0);
    assert_eq!(message.body["type"], "answer.waiting");
    assert_eq!(message.body["data"]["interaction"]["resolution"]["status"], "answered");
    let lease = message.body["data"]["lease"].clone();
    until("the delivery is recorded", async || {
        (root.question(&question).await.body["delivery"]["state"] == "processing").then_some(())
    })
    .await;
    let path = format!("/v1/interactions/{question}/delivery/complete");
    bot.post(&path, json!({ "lease": lease })).await.done(200);
    assert_eq!(root.question(&question).await.body["delivery"]["state"], "completed");
}

#[test]
fn two_nodes_send_each_message_once_and_continue_for_each_other() {
    on_postgres(async |deployment| {
        let (first, second) = (deployment.launch().with(HERE), deployment.launch().with(HERE));
        let (a, b) = (first.start().await, second.start().await);
        let (root, bot) = (deployment.key("admin", "root"), deployment.key("agent", "bot"));
        let endpoint = Endpoint::open().await;
        for number in 0..5 {
            subscribe(&a.client(&root), &endpoint.url(&format!("/{number}")), json!({ "events": ["session.*"] })).await;
        }
        let story = async |client: Client| {
            for _ in 0..20 {
                client.start().await;
            }
        };
        tokio::join!(story(a.client(&bot)), story(b.client(&bot)));
        let got = soon("all messages", endpoint.wait_for(200)).await;
        let unique: HashSet<String> = got.iter().map(endpoint::Message::id).collect();
        let told: HashSet<(String, String)> =
            got.iter().map(|message| (message.path.clone(), text(&message.body["data"]["id"]))).collect();
        assert_eq!((got.len(), unique.len(), told.len()), (200, 200, 200));

        endpoint.forget();
        let survivor = b.client(&bot);
        tokio::join!(story(a.client(&bot)), async {
            soon("some messages", endpoint.wait_for(10)).await;
        });
        a.kill();
        story(survivor).await;
        until("every message to every endpoint", async || {
            let got = endpoint.got();
            let told: HashSet<(String, String)> =
                got.iter().map(|message| (message.path.clone(), text(&message.body["data"]["id"]))).collect();
            (told.len() == 200).then_some(())
        })
        .await;
        let got = endpoint.got();
        let unique: HashSet<String> = got.iter().map(endpoint::Message::id).collect();
        assert_eq!(unique.len(), 200, "a message that is sent twice keeps its id");
    });
}

/// A tenth of the endpoints never replies; the others still get the event soon.
#[tokio::test]
async fn event_reaches_900_webhooks_while_100_endpoints_hang() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch().with(&["--webhooks-private"]);
    let server = launch.start().await;
    let (root, bot) = (server.client(&deployment.key("admin", "root")), server.client(&deployment.key("agent", "bot")));
    let (good, bad) = (Endpoint::open().await, Endpoint::open().await);
    bad.becomes(How::Hangs);
    let made = (0..1000).map(|number| {
        let endpoint = if number % 10 == 0 { &bad } else { &good };
        let (root, url) = (root.clone(), endpoint.url(&format!("/{number}")));
        async move { subscribe(&root, &url, json!({ "events": ["session.started"] })).await }
    });
    join_all(made).await;
    bot.start().await;
    let since = Instant::now();
    let got = soon("the others", good.wait_for(900)).await;
    let paths: HashSet<String> = got.iter().map(|message| message.path.clone()).collect();
    assert_eq!((got.len(), paths.len()), (900, 900));
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    // The server stops although some endpoints hang.
    assert!(server.stop().success());
}
