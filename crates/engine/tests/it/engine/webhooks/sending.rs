//! Tests the messages that are sent, the retries, and the addresses that are refused.

use std::collections::HashSet;

use domain::webhook::Subject;
use domain::webhook::address::Networks;
use domain::webhook::delivery::DELAYS;
use domain::{Command, Refusal, Role, SignedDuration, WebhookDelivery, WebhookDeliveryState};
use holdpoint_engine::Settings;
use serde_json::json;
use store::{AuditFilter, Page};

use super::{Endpoints, OTHER, URL, all_events, listed, made, new, sent};
use crate::engine::world::{World, pointers, refusal};

#[tokio::test]
async fn subscribed_events_are_sent_once_and_in_order() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent, alice) =
        (world.caller(Role::Admin, "root").await, world.agent().await, world.person("alice").await);
    let before = world.session(&agent).await;
    made(&world, &root, URL, all_events()).await;
    let narrow = Subject::Events { types: vec!["interaction.ans*".into()], agent: None, session: None };
    made(&world, &root, OTHER, narrow).await;
    let elsewhere = Subject::Events { types: vec!["*".into()], agent: Some("nobody".into()), session: None };
    made(&world, &root, "https://hooks.example.com/c", elsewhere).await;
    let of_one = Subject::Events { types: vec!["*".into()], agent: None, session: Some(before.id) };
    made(&world, &root, "https://hooks.example.com/d", of_one).await;
    let session = world.session(&agent).await;
    let question = world.ask(&agent, &session, json!({})).await;
    world.choose(&alice, question.id, "confirm").await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL), ["session.started", "interaction.asked", "interaction.answered"]);
    assert_eq!(endpoints.names(OTHER), ["interaction.answered"]);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.got.lock().len(), 0, "no event is sent twice or without a subscription");
    world.control(&agent, before.id, Command::Complete).await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names("https://hooks.example.com/d"), ["session.completed"]);
}

#[tokio::test]
async fn failed_message_is_retried_with_its_id_at_growing_delays_until_dead() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let webhook = made(&world, &root, URL, all_events()).await;
    endpoints.reply(URL, 500);
    world.session(&agent).await;
    sent(&world.engine, &endpoints).await;
    let mut ids: HashSet<String> = endpoints.take(URL).into_iter().map(|got| got.id).collect();
    for delay in DELAYS {
        world.pass(delay - 1);
        sent(&world.engine, &endpoints).await;
        assert_eq!(endpoints.names(URL).len(), 0, "too early, before {delay} seconds");
        // Maximum random extension of a delay.
        world.pass(delay / 5 + 2);
        sent(&world.engine, &endpoints).await;
        ids.extend(endpoints.take(URL).into_iter().map(|got| got.id));
    }
    let [dead]: [WebhookDelivery; 1] =
        listed(&world, &root, webhook.id, Some(WebhookDeliveryState::Dead)).await.try_into().unwrap();
    assert_eq!((ids, dead.attempts.len(), dead.tries), (HashSet::from([dead.id.to_string()]), 10, 10));
    assert!(dead.attempts.iter().all(|attempt| attempt.status == Some(500) && attempt.note == "noted"));
    world.pass(86_400);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0, "a dead delivery is not tried");

    endpoints.reply(URL, 200);
    let of = (webhook.id, dead.id);
    world.engine.webhook_delivery_replay(&root, of, None).await.unwrap();
    let pending = Refusal::WebhookDeliveryPending(dead.id);
    assert_eq!(refusal(world.engine.webhook_delivery_replay(&root, of, None).await), pending);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.take(URL).into_iter().map(|got| got.id).collect::<Vec<_>>(), [dead.id.to_string()]);
    assert_eq!(listed(&world, &root, webhook.id, Some(WebhookDeliveryState::Delivered)).await.len(), 1);
    assert_eq!(world.engine.webhook_get(&root, webhook.id).await.unwrap().failures, 0);
}

#[tokio::test]
async fn retry_after_of_an_endpoint_is_respected() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    made(&world, &root, URL, all_events()).await;
    endpoints.reply(URL, 429);
    *endpoints.wait.lock() = Some(SignedDuration::from_secs(3600));
    world.session(&agent).await;
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 1);
    world.pass(3599);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0);
    world.pass(1);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 1);
}

#[tokio::test]
async fn status_410_disables_a_webhook_until_it_is_enabled_again() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let webhook = made(&world, &root, URL, all_events()).await;
    endpoints.reply(URL, 410);
    world.session(&agent).await;
    sent(&world.engine, &endpoints).await;
    let disabled = world.engine.webhook_get(&root, webhook.id).await.unwrap();
    assert_eq!(disabled.disabled.clone().unwrap().reason, "the endpoint is gone (410)");
    assert_eq!(listed(&world, &root, webhook.id, Some(WebhookDeliveryState::Dead)).await.len(), 1);
    endpoints.take(URL);
    world.session(&agent).await;
    world.pass(100_000);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0);
    let off = Refusal::WebhookDisabled(webhook.id);
    assert_eq!(refusal(world.engine.webhook_test(&root, webhook.id, None).await), off);
    endpoints.reply(URL, 200);
    world.engine.webhook_switch(&root, webhook.id, true, None).await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL), ["session.started"]);
    world.engine.webhook_test(&root, webhook.id, None).await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL), ["webhook.test"]);
    let (trail, _) =
        world.engine.audit_list(&root, AuditFilter::default(), Page { after: None, limit: 100 }).await.unwrap();
    let names: Vec<String> = trail.into_iter().map(|audited| audited.entry.name).collect();
    let told = ["webhook.created", "webhook.disabled", "webhook.enabled"];
    assert_eq!(names.into_iter().filter(|name| name.starts_with("webhook.")).collect::<Vec<_>>(), told);
}

#[tokio::test]
async fn webhook_to_a_forbidden_address_is_refused() {
    let world = World::new();
    let root = world.caller(Role::Admin, "root").await;
    let create = async |url: &str| world.engine.webhook_create(&root, new(url, all_events()), None).await;
    for url in [
        "",
        "hooks",
        "ftp://a.example",
        "https://",
        "https://user@a.example",
        "https://:x@a.example",
        "https://a.example/#x",
        "http://127.0.0.1",
        "http://127.1",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://10.0.0.1:8080/x",
        "http://169.254.169.254/latest",
        "http://[::ffff:169.254.169.254]/",
        "http://0.0.0.0/",
        "http://[fd00::1]/",
    ] {
        assert_eq!(pointers(create(url).await), ["/url"], "{url}");
    }
    assert_eq!(pointers(create(&format!("https://a.example/{}", "x".repeat(2048))).await), ["/url"]);
    create("http://8.8.8.8/").await.unwrap();
    create("https://localhost/").await.unwrap();
    let types = |types: &[&str]| Subject::Events {
        types: types.iter().map(ToString::to_string).collect(),
        agent: None,
        session: None,
    };
    for (subject, pointer) in
        [(types(&[]), "/events"), (types(&["a b"]), "/events/0"), (types(&["*", ""]), "/events/1")]
    {
        let made = world.engine.webhook_create(&root, new(URL, subject), None).await;
        assert_eq!(pointers(made), [pointer]);
    }
    let networks = Networks { private: false, allowed: vec!["127.0.0.0/8".parse().unwrap()] };
    let open = World::with(Settings { webhook_networks: networks, ..Settings::default() });
    let root = open.caller(Role::Admin, "root").await;
    open.engine.webhook_create(&root, new("http://127.0.0.1:8080/", all_events()), None).await.unwrap();
    let refused = open.engine.webhook_create(&root, new("http://10.0.0.1/", all_events()), None).await;
    assert_eq!(pointers(refused), ["/url"]);
}
