//! Webhooks: what is sent, when it is sent again, and that no endpoint holds up another.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use domain::webhook::Subject;
use domain::webhook::address::Networks;
use domain::webhook::delivery::DELAYS;
use domain::{Caller, Command, Delivery, Refusal, Role, SignedDuration, Webhook, WebhookDelivery, WebhookId};
use futures::future::BoxFuture;
use holdpoint_engine::{Content, Courier, Engine, Ids, MasterKey, NewWebhook, Parcel, Receipt, Settings, Start, Vault};
use parking_lot::Mutex;
use serde_json::json;
use store::{AuditFilter, Page};

use crate::world::{World, pointers, refusal};

/// One message as an endpoint got it.
#[derive(Debug, Clone)]
struct Got {
    url: String,
    id: String,
    name: String,
    secrets: Vec<Vec<u8>>,
    content: Content,
}

/// Endpoints that reply as they are told, and remember what they got.
#[derive(Default)]
struct Endpoints {
    replies: Mutex<HashMap<String, u16>>,
    wait: Mutex<Option<SignedDuration>>,
    got: Mutex<Vec<Got>>,
}

impl Courier for Endpoints {
    fn post<'a>(&'a self, parcel: &'a Parcel) -> BoxFuture<'a, Receipt> {
        let got = Got {
            url: parcel.url.clone(),
            id: parcel.id.to_string(),
            name: parcel.name.clone(),
            secrets: parcel.secrets.iter().map(|secret| secret.to_vec()).collect(),
            content: parcel.content.clone(),
        };
        self.got.lock().push(got);
        let status = self.replies.lock().get(&parcel.url).copied().unwrap_or(204);
        let wait = *self.wait.lock();
        let status = (status > 0).then_some(status);
        Box::pin(async move { Receipt { status, note: "noted".into(), wait, took: Duration::from_millis(3) } })
    }
}

impl Endpoints {
    fn reply(&self, url: &str, status: u16) {
        self.replies.lock().insert(url.to_owned(), status);
    }

    /// What an endpoint has got since it was last asked.
    fn take(&self, url: &str) -> Vec<Got> {
        let mut all = self.got.lock();
        let (taken, left) = std::mem::take(&mut *all).into_iter().partition(|got: &Got| got.url == url);
        *all = left;
        taken
    }

    fn names(&self, url: &str) -> Vec<String> {
        self.take(url).into_iter().map(|got| got.name).collect()
    }
}

const URL: &str = "https://hooks.example.com/a";
const OTHER: &str = "https://hooks.example.com/b";

fn all_events() -> Subject {
    Subject::Events { types: vec!["*".into()], agent: None, session: None }
}

fn new(url: &str, subject: Subject) -> NewWebhook {
    NewWebhook { url: url.into(), subject, description: None, enabled: true }
}

async fn made(world: &World, by: &Caller, url: &str, subject: Subject) -> Webhook {
    world.engine.webhook_create(by, new(url, subject), None).await.unwrap().0
}

async fn sent(engine: &Engine, endpoints: &Endpoints) {
    engine.send_webhooks(endpoints).await.unwrap();
}

async fn listed(world: &World, by: &Caller, webhook: WebhookId, state: Option<&'static str>) -> Vec<WebhookDelivery> {
    let page = Page { after: None, limit: 200 };
    world.engine.webhook_deliveries(by, webhook, state, page).await.unwrap()
}

#[tokio::test]
async fn events_are_sent_in_order_once_and_only_those_that_are_wanted() {
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
    assert_eq!(endpoints.got.lock().len(), 0, "nothing twice, and nothing that is not wanted");
    world.control(&agent, before.id, Command::Complete).await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names("https://hooks.example.com/d"), ["session.completed"]);
}

#[tokio::test]
async fn what_fails_is_sent_again_under_the_same_id_with_growing_delays_until_it_is_dead_and_can_be_replayed() {
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
        // The longest that a delay is lengthened.
        world.pass(delay / 5 + 2);
        sent(&world.engine, &endpoints).await;
        ids.extend(endpoints.take(URL).into_iter().map(|got| got.id));
    }
    let [dead]: [WebhookDelivery; 1] = listed(&world, &root, webhook.id, Some("dead")).await.try_into().unwrap();
    assert_eq!((ids, dead.attempts.len(), dead.tries), (HashSet::from([dead.id.to_string()]), 10, 10));
    assert!(dead.attempts.iter().all(|attempt| attempt.status == Some(500) && attempt.note == "noted"));
    world.pass(86_400);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0, "what is dead is not tried");

    endpoints.reply(URL, 200);
    let of = (webhook.id, dead.id);
    world.engine.webhook_replay(&root, of, None).await.unwrap();
    let pending = Refusal::WebhookDeliveryPending(dead.id);
    assert_eq!(refusal(world.engine.webhook_replay(&root, of, None).await), pending);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.take(URL).into_iter().map(|got| got.id).collect::<Vec<_>>(), [dead.id.to_string()]);
    assert_eq!(listed(&world, &root, webhook.id, Some("delivered")).await.len(), 1);
    assert_eq!(world.engine.webhook(&root, webhook.id).await.unwrap().failures, 0);
}

#[tokio::test]
async fn an_endpoint_that_wants_to_be_left_alone_is() {
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
async fn a_dead_endpoint_holds_up_nobody_and_is_not_buffered_for_without_end() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let dead = made(&world, &root, URL, all_events()).await;
    made(&world, &root, OTHER, all_events()).await;
    endpoints.reply(URL, 0);
    let mut delivered = 0;
    for _ in 0..25 {
        for _ in 0..10 {
            world.session(&agent).await;
        }
        sent(&world.engine, &endpoints).await;
        delivered += endpoints.names(OTHER).len();
        world.pass(1);
    }
    assert_eq!(delivered, 250);
    assert!(endpoints.names(URL).len() < 20, "one that is down is tried now and then");
    assert!(listed(&world, &root, dead.id, Some("pending")).await.len() <= 100);
    endpoints.reply(URL, 200);
    let mut arrived = HashSet::new();
    for _ in 0..10 {
        world.pass(3600);
        sent(&world.engine, &endpoints).await;
        arrived.extend(endpoints.take(URL).into_iter().map(|got| got.id));
    }
    assert_eq!(arrived.len(), 250, "everything arrives when it is back");
    assert_eq!(listed(&world, &root, dead.id, Some("pending")).await.len(), 0);
}

#[tokio::test]
async fn gone_disables_and_what_happened_meanwhile_is_sent_when_it_is_enabled() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let webhook = made(&world, &root, URL, all_events()).await;
    endpoints.reply(URL, 410);
    world.session(&agent).await;
    sent(&world.engine, &endpoints).await;
    let disabled = world.engine.webhook(&root, webhook.id).await.unwrap();
    assert_eq!(disabled.disabled.clone().unwrap().reason, "the endpoint is gone (410)");
    assert_eq!(listed(&world, &root, webhook.id, Some("dead")).await.len(), 1);
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
    let (trail, _) = world.engine.audit(&root, AuditFilter::default(), Page { after: None, limit: 100 }).await.unwrap();
    let names: Vec<String> = trail.into_iter().map(|audited| audited.entry.name).collect();
    let told = ["webhook.created", "webhook.disabled", "webhook.enabled"];
    assert_eq!(names.into_iter().filter(|name| name.starts_with("webhook.")).collect::<Vec<_>>(), told);
}

/// The endpoint took it, and the node died before it was noted: the next node sends it again, and the endpoint knows the id.
#[tokio::test]
async fn what_was_not_noted_is_sent_again_under_the_same_id_by_whoever_comes_next() {
    /// A node that dies when the endpoint has its message.
    struct Dies(Endpoints);
    impl Courier for Dies {
        fn post<'a>(&'a self, parcel: &'a Parcel) -> BoxFuture<'a, Receipt> {
            drop(self.0.post(parcel));
            Box::pin(std::future::pending())
        }
    }
    let world = World::new();
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    made(&world, &root, URL, all_events()).await;
    world.session(&agent).await;
    let dying = Dies(Endpoints::default());
    let has_it = async {
        while dying.0.got.lock().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        sent = world.engine.send_webhooks(&dying) => unreachable!("{sent:?}"),
        () = has_it => {}
    }
    let (next, endpoints) = (world.another_engine([7; 32]), Endpoints::default());
    sent(&next, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0, "the dead one still has its lease");
    world.pass(45);
    sent(&next, &endpoints).await;
    let (first, again) = (dying.0.take(URL), endpoints.take(URL));
    assert_eq!((first.len(), again.len()), (1, 1));
    assert_eq!(first[0].id, again[0].id);
}

#[tokio::test]
async fn two_nodes_send_each_message_once() {
    let world = World::new();
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    for number in 0..20 {
        made(&world, &root, &format!("https://hooks.example.com/{number}"), all_events()).await;
    }
    for _ in 0..10 {
        world.session(&agent).await;
    }
    let (other, endpoints) = (world.another_engine([7; 32]), Arc::new(Endpoints::default()));
    let node = async |engine: &Engine| sent(engine, &endpoints).await;
    tokio::join!(node(&world.engine), node(&other), node(&world.engine), node(&other));
    let got = endpoints.got.lock().clone();
    let ids: HashSet<&String> = got.iter().map(|got| &got.id).collect();
    assert_eq!((got.len(), ids.len()), (200, 200));
}

#[tokio::test]
async fn messages_are_signed_with_both_secrets_until_the_old_one_has_ended() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let (webhook, first) = world.engine.webhook_create(&root, new(URL, all_events()), None).await.unwrap();
    let (_, second, until) = world.engine.webhook_rotate(&root, webhook.id, Some(60), None).await.unwrap();
    assert_eq!(until, world.engine.now() + SignedDuration::from_secs(60));
    assert!(first.starts_with("whsec_") && second.starts_with("whsec_") && first != second);
    let signed = async || {
        world.session(&agent).await;
        sent(&world.engine, &endpoints).await;
        endpoints.take(URL).pop().unwrap().secrets
    };
    let both = signed().await;
    assert_eq!((both.len(), both[0] == both[1]), (2, false));
    world.pass(60);
    assert_eq!(signed().await, both[..1], "the old one has ended");
    world.engine.tidy().await.unwrap();
    assert_eq!(signed().await, both[..1]);
}

#[tokio::test]
async fn secrets_are_sealed_again_when_keys_are_rotated() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    made(&world, &root, URL, all_events()).await;
    let signed = async |engine: &Engine| {
        engine.start(&agent, Start::default(), None).await.unwrap();
        sent(engine, &endpoints).await;
        endpoints.take(URL).pop().unwrap().secrets
    };
    let before = signed(&world.engine).await;
    let node = async |masters: &[u8]| {
        let masters = masters.iter().map(|byte| MasterKey::from_bytes([*byte; 32])).collect();
        let vault = Vault::over(masters, Box::new(Vec::new));
        let (store, clock) = (Arc::clone(&world.store), Arc::new(world.clock.clone()));
        let engine = Engine::new(store, clock, Ids::default(), vault, Settings::default());
        engine.unlock().await.unwrap();
        engine
    };
    let rotated = node(&[8, 7]).await.rotate().await.unwrap();
    assert_eq!((rotated.values, rotated.forgotten), (1, 1));
    assert_eq!(signed(&node(&[8]).await).await, before);
}

#[tokio::test]
async fn an_answer_counts_as_taken_when_the_endpoint_has_it_and_not_before() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent, alice) =
        (world.caller(Role::Admin, "root").await, world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let early = world.ask(&agent, &session, json!({})).await.id;
    world.choose(&alice, early, "confirm").await.unwrap();
    made(&world, &root, URL, Subject::Answers { agent: "deployer".into() }).await;
    made(&world, &root, OTHER, Subject::Answers { agent: "somebody-else".into() }).await;
    endpoints.reply(URL, 503);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL), ["answer.waiting"]);
    assert_eq!(world.now(&alice, early).await.delivery(), Some(&Delivery::Waiting { attempt: 0 }));

    endpoints.reply(URL, 200);
    world.pass(10);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL), ["answer.waiting"]);
    let now = world.engine.now();
    assert_eq!(world.now(&alice, early).await.delivery(), Some(&Delivery::Completed { at: now, attempt: 1 }));
    let told = world.events(&alice, session.id).await;
    assert!(told.ends_with(&["delivery.taken".into(), "delivery.completed".into()]), "{told:?}");

    endpoints.reply(URL, 202);
    let late = world.ask(&agent, &session, json!({})).await.id;
    world.choose(&alice, late, "confirm").await.unwrap();
    sent(&world.engine, &endpoints).await;
    let got = endpoints.take(URL).pop().unwrap();
    let Content::Answer { lease: Some(lease), interaction } = got.content.clone() else { unreachable!("{got:?}") };
    assert_eq!(interaction.id, late);
    assert_eq!(world.now(&alice, late).await.delivery().unwrap().name(), "processing");
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0);
    world.pass(300);
    world.engine.fire_due().await.unwrap();
    sent(&world.engine, &endpoints).await;
    let again = endpoints.take(URL).pop().unwrap();
    assert_ne!(again.id, got.id, "an answer that is offered again is another message");
    let Content::Answer { lease: Some(new), .. } = again.content.clone() else { unreachable!("{again:?}") };
    assert_eq!(refusal(world.engine.complete(&agent, (late, lease), None).await), Refusal::LeaseLost);
    world.engine.complete(&agent, (late, new), None).await.unwrap();
    assert_eq!(endpoints.names(OTHER).len(), 0);
}

#[tokio::test]
async fn an_answer_that_was_taken_by_other_means_is_not_sent_and_a_paused_session_keeps_its_answers() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent, alice) =
        (world.caller(Role::Admin, "root").await, world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let webhook = made(&world, &root, URL, Subject::Answers { agent: "deployer".into() }).await;
    endpoints.reply(URL, 500);
    let question = world.ask(&agent, &session, json!({})).await.id;
    world.choose(&alice, question, "confirm").await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 1);
    world.engine.take(&agent, question, None, None).await.unwrap();
    world.pass(60);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0);
    assert_eq!(listed(&world, &root, webhook.id, Some("dropped")).await.len(), 1);

    endpoints.reply(URL, 200);
    let held = world.ask(&agent, &session, json!({})).await.id;
    world.control(&alice, session.id, Command::Pause).await.unwrap();
    world.choose(&alice, held, "confirm").await.unwrap();
    world.pass(600);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0);
    world.control(&alice, session.id, Command::Resume).await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 1);
}

/// What is sealed leaves by `take` alone: the endpoint hears that it waits.
#[tokio::test]
async fn what_is_sealed_never_leaves_by_webhook() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent, alice) =
        (world.caller(Role::Admin, "root").await, world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    made(&world, &root, URL, Subject::Answers { agent: "deployer".into() }).await;
    made(&world, &root, OTHER, all_events()).await;
    let secret = json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }] });
    let secret = world.ask(&agent, &session, secret).await.id;
    let resumed = world.ask(&agent, &session, json!({ "resume_point": { "at": "hunter2-state" } })).await.id;
    let draft = crate::world::data(json!({ "TOKEN": "hunter2-value" }));
    world.engine.answer(&alice, secret, draft, None).await.unwrap();
    world.choose(&alice, resumed, "confirm").await.unwrap();
    sent(&world.engine, &endpoints).await;
    let got = endpoints.got.lock().clone();
    assert!(!format!("{got:?}").contains("hunter2"), "{got:?}");
    let told = endpoints.take(URL);
    assert_eq!(told.len(), 2);
    for got in told {
        assert!(matches!(got.content, Content::Answer { lease: None, .. }), "{got:?}");
    }
    let taken = world.engine.take(&agent, secret, None, None).await.unwrap();
    assert_eq!(taken.secrets, Some(json!({ "TOKEN": "hunter2-value" })));
    let taken = world.engine.take(&agent, resumed, None, None).await.unwrap();
    assert_eq!(taken.resume_point, Some(json!({ "at": "hunter2-state" })));
}

#[tokio::test]
async fn a_thousand_webhooks_hear_of_one_event() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let url = |number| format!("https://hooks.example.com/{number}");
    let urls: Vec<String> = (0..1000).map(url).collect();
    futures::future::join_all(urls.iter().map(|url| made(&world, &root, url, all_events()))).await;
    (0..1000).step_by(4).for_each(|number| endpoints.reply(&url(number), 0));
    world.session(&agent).await;
    // Each pass has room for so many; each webhook has its turn.
    for _ in 0..10 {
        sent(&world.engine, &endpoints).await;
    }
    let got = endpoints.got.lock().clone();
    let reached: HashSet<&String> = got.iter().map(|got| &got.url).collect();
    assert_eq!((got.len(), reached.len()), (1000, 1000));
}

#[tokio::test]
async fn what_cannot_be_sent_to_is_refused() {
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
