//! Tests two nodes on one PostgreSQL database: each serves all requests and learns of the other's changes at once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::common::{Client, Deployment, Reply, Server, Stream, on_postgres, soon, until};

/// Two nodes, and the keys of an agent and a person.
pub(crate) struct Nodes {
    pub(crate) a: Server,
    pub(crate) b: Server,
    pub(crate) bot: String,
    pub(crate) alice: String,
}

impl Nodes {
    pub(crate) async fn start(deployment: &Deployment) -> Self {
        let (first, second) = (deployment.launch(), deployment.launch());
        let (a, b) = (first.start().await, second.start().await);
        Self { a, b, bot: deployment.key("agent", "bot"), alice: deployment.key("operator", "alice") }
    }
}

#[test]
fn long_poll_on_one_node_returns_an_answer_given_to_another() {
    on_postgres(async |deployment| {
        let Nodes { a, b, bot, alice } = Nodes::start(deployment).await;
        for round in 0..10 {
            let question = a.client(&bot).ask_plainly(&format!("round {round}")).await;
            let (bot, path) = (b.client(&bot), format!("/v1/interactions/{question}?wait=120"));
            let answered = async {
                // Depending on timing the wait begins before or after the answer; both cases must end.
                b.client(&alice).question(&question).await;
                a.client(&alice).approve(&question).await
            };
            let (heard, said) = soon("the answer", async { tokio::join!(bot.get(&path), answered) }).await;
            assert_eq!(heard.done(200).body["resolution"], said.body["resolution"]);
            let waiting = soon("the delivery", bot.get("/v1/deliveries?wait=120")).await.done(200);
            assert_eq!(waiting.text("/deliveries/0/id"), question);
            take_and_complete(&bot, &question).await;
        }
    });
}

async fn take_and_complete(bot: &Client, question: &str) {
    let path = format!("/v1/interactions/{question}/delivery");
    let lease = bot.post(&format!("{path}/take"), json!({})).await.done(200).text("/lease");
    bot.post(&format!("{path}/complete"), json!({ "lease": lease })).await.done(200);
}

#[test]
fn stream_of_one_node_has_the_events_of_both_in_order_and_once() {
    on_postgres(async |deployment| {
        let Nodes { a, b, bot, alice } = Nodes::start(deployment).await;
        let mut stream = Stream::open(&b.client(&alice), "/v1/events/stream", Some("0-0")).await.unwrap();
        let story = async |node: &Server| {
            let session = node.client(&bot).start().await;
            for number in 0..15 {
                let question = json!({ "kind": "confirmation", "title": format!("number {number}") });
                let question = node.client(&bot).ask(&session, question).await;
                node.client(&alice).approve(&question).await;
            }
        };
        soon("the stories", async { tokio::join!(story(&a), story(&b), story(&a), story(&b)) }).await;
        let (mut seen, mut last) = (BTreeSet::new(), BTreeMap::<String, u64>::new());
        while seen.len() < 4 * 31 {
            let frame = soon("an event", stream.next()).await.unwrap();
            let event: Value = serde_json::from_str(&frame.data).unwrap();
            assert!(seen.insert(event["id"].to_string()), "shown twice: {event}");
            let number = last.entry(event["session"].to_string()).or_default();
            *number += 1;
            assert_eq!(event["seq"], *number, "out of order: {event}");
        }
    });
}

#[test]
fn deadline_fires_once_with_two_nodes() {
    on_postgres(async |deployment| {
        let Nodes { a, b, bot, .. } = Nodes::start(deployment).await;
        let client = a.client(&bot);
        let session = client.start().await;
        let mut questions = Vec::new();
        for number in 0..30 {
            let title = format!("number {number}");
            let mut question = json!({ "kind": "confirmation", "title": title, "deadline_seconds": 1 });
            if number % 2 == 0 {
                question["fallback"] = json!("deny");
            }
            questions.push(client.ask(&session, question).await);
        }
        for question in &questions {
            let path = format!("/v1/interactions/{question}?wait=120");
            let status = soon("the deadline", b.client(&bot).get(&path)).await.done(200).text("/status");
            assert!(status == "expired" || status == "auto_resolved", "{status}");
        }
        let path = format!("/v1/sessions/{session}/events?limit=200");
        let events = b.client(&bot).get(&path).await.done(200).body;
        let mut names = BTreeMap::new();
        for event in events["events"].as_array().unwrap() {
            *names.entry(event["type"].as_str().unwrap()).or_insert(0) += 1;
        }
        let expected = [
            ("interaction.asked", 30),
            ("interaction.auto_resolved", 15),
            ("interaction.expired", 15),
            ("session.started", 1),
        ];
        assert_eq!(names, BTreeMap::from(expected));
    });
}

#[test]
fn killed_node_loses_no_questions_leases_or_deadlines() {
    on_postgres(async |deployment| {
        let Nodes { a, b, bot, alice } = Nodes::start(deployment).await;
        let (open, answered) = (a.client(&bot).ask_plainly("open").await, a.client(&bot).ask_plainly("answered").await);
        a.client(&alice).approve(&answered).await;
        let path = format!("/v1/interactions/{answered}/delivery");
        let lease = a.client(&bot).post(&format!("{path}/take"), json!({})).await.done(200).text("/lease");
        let timed = json!({ "kind": "confirmation", "title": "timed", "deadline_seconds": 1 });
        let session = a.client(&bot).start().await;
        let timed = a.client(&bot).ask(&session, timed).await;
        a.kill();

        let bot = b.client(&bot);
        b.client(&alice).approve(&open).await;
        bot.post(&format!("{path}/complete"), json!({ "lease": lease })).await.done(200);
        take_and_complete(&bot, &open).await;
        let ended = soon("the deadline", bot.get(&format!("/v1/interactions/{timed}?wait=120"))).await;
        assert_eq!(ended.text("/status"), "expired");
    });
}

/// A client that got no reply in time retries on another node while its first attempt is still in progress.
#[test]
fn command_sent_to_both_nodes_at_once_is_carried_out_once() {
    on_postgres(async |deployment| {
        let Nodes { a, b, bot, alice } = Nodes::start(deployment).await;
        let both = async |key: &str, path: &str, body: Value, idempotency_key: &str| {
            let (a, b) = (a.client(key), b.client(key));
            soon("both replies", async {
                tokio::join!(
                    retry_until_definite(&a, path, &body, idempotency_key),
                    retry_until_definite(&b, path, &body, idempotency_key)
                )
            })
            .await
        };
        let session = a.client(&bot).start().await;
        for round in 0..50 {
            let path = format!("/v1/sessions/{session}/interactions");
            let body = json!({ "kind": "confirmation", "title": format!("round {round}") });
            let (here, there) = both(&bot, &path, body, &format!("ask {round}")).await;
            assert_eq!(here.done(201), there.clone().done(201));
            let path = format!("/v1/interactions/{}", there.text("/id"));
            let body = json!({ "effect": "approve" });
            let (here, there) = both(&alice, &format!("{path}/answer"), body, &format!("answer {round}")).await;
            assert_eq!(here.done(200), there.done(200));
            let (here, there) = both(&bot, &format!("{path}/delivery/take"), json!({}), &format!("take {round}")).await;
            assert_eq!(here.done(200), there.clone().done(200));
            let body = json!({ "lease": there.text("/lease") });
            let (here, there) = both(&bot, &format!("{path}/delivery/complete"), body, &format!("done {round}")).await;
            assert_eq!(here.done(200), there.done(200));
        }
    });
}

/// Sends a command until the reply is neither 503 nor a conflict.
async fn retry_until_definite(client: &Client, path: &str, body: &Value, idempotency_key: &str) -> Reply {
    loop {
        let request = client.request("POST", path).json(body).header("Idempotency-Key", idempotency_key);
        let reply = client.attempt(request).await.unwrap();
        if reply.status != 503 && reply.body["code"] != "conflict" {
            return reply;
        }
    }
}

#[test]
fn key_revoked_on_one_node_is_refused_on_the_other() {
    on_postgres(async |deployment| {
        let Nodes { a, b, .. } = Nodes::start(deployment).await;
        let admin = a.client(&deployment.key("admin", "root"));
        for _ in 0..3 {
            let made = admin.post("/v1/keys", json!({ "role": "viewer", "user": "visitor" })).await.done(201);
            let visitor = b.client(&made.text("/secret"));
            // This request may make the node cache the key as valid.
            visitor.get("/v1/sessions").await.done(200);
            let path = format!("/v1/keys/{}", made.text("/id"));
            assert_eq!(admin.attempt(admin.request("DELETE", &path)).await.unwrap().status, 204);
            visitor.get("/v1/sessions").await.problem(401, "unauthenticated");
        }
    });
}

#[test]
fn node_stops_and_cli_commands_end_while_another_node_is_busy() {
    on_postgres(async |deployment| {
        let Nodes { a, b, bot, .. } = Nodes::start(deployment).await;
        let mut load = JoinSet::new();
        for _ in 0..8 {
            let client = a.client(&bot);
            load.spawn(async move {
                loop {
                    client.ask_plainly("load").await;
                }
            });
        }
        let counted = deployment.key("viewer", "reader");
        until("load", async || {
            let stats = a.client(&counted).get("/v1/stats").await.done(200);
            stats.body["open"]["confirmation"].as_u64().filter(|open| *open > 50)
        })
        .await;
        let since = Instant::now();
        deployment.key("viewer", "another");
        assert!(soon("the node's end", tokio::task::spawn_blocking(move || b.stop())).await.unwrap().success());
        assert!(since.elapsed() < Duration::from_secs(10), "both took {:?}", since.elapsed());
        let third = deployment.launch().start().await;
        third.client(&bot).ask_plainly("still there").await;
        assert!(load.try_join_next().is_none(), "the load continues");
        load.shutdown().await;
    });
}

#[test]
fn node_that_starts_later_serves_existing_questions() {
    on_postgres(async |deployment| {
        let Nodes { a, b, bot, alice } = Nodes::start(deployment).await;
        let question = a.client(&bot).ask_plainly("asked on the first node").await;
        assert!(a.stop().success());
        assert!(b.stop().success());
        let third = deployment.launch().start().await;
        third.client(&alice).approve(&question).await;
        let ready = async || (third.client(&bot).get("/readyz").await.status == 200).then_some(());
        until("a third node", ready).await;
        take_and_complete(&third.client(&bot), &question).await;
    });
}

#[test]
fn question_handed_over_on_one_node_is_answered_on_another() {
    on_postgres(async |deployment| {
        let Nodes { a, b, bot, alice } = Nodes::start(deployment).await;
        let question = a.client(&bot).ask_plainly("may I").await;
        let path = format!("/v1/interactions/{question}");
        let body = json!({ "channel": "second-line", "note": "yours" });
        let first = a.client(&alice).post(&format!("{path}/handover"), body).await.done(200);
        let second = first.text("/handed_over/interaction");
        let session =
            b.client(&alice).get(&format!("/v1/sessions/{}", first.text("/handed_over/session"))).await.done(200);
        assert_eq!(session.text("/handed_from/interaction"), question);
        b.client(&alice)
            .answer(&question, json!({ "option": "confirm" }))
            .await
            .problem(409, "interaction_handed_over");
        let waiting = format!("{path}?wait=120");
        let bot_at_a = a.client(&bot);
        let answered = async {
            b.client(&alice)
                .post(&format!("/v1/interactions/{second}/abstain"), json!({ "note": "hm" }))
                .await
                .done(200);
            b.client(&alice).approve(&second).await
        };
        let (heard, said) = soon("the answer", async { tokio::join!(bot_at_a.get(&waiting), answered) }).await;
        assert_eq!(heard.done(200).body["resolution"], said.body["resolution"]);
        take_and_complete(&b.client(&bot), &question).await;
        // One node cancels the question while the other answers it: exactly one of them wins, and both questions end in
        // one state.
        for round in 0..10 {
            let question = a.client(&bot).ask_plainly(&format!("round {round}")).await;
            let path = format!("/v1/interactions/{question}");
            let first = a.client(&alice).post(&format!("{path}/handover"), json!({})).await.done(200);
            let second = first.text("/handed_over/interaction");
            let (bot_at_a, alice_at_b) = (a.client(&bot), b.client(&alice));
            let cancel = format!("{path}/cancel");
            let raced = async {
                tokio::join!(
                    bot_at_a.post(&cancel, json!({})),
                    alice_at_b.answer(&second, json!({ "option": "confirm" }))
                )
            };
            let (cancelled, answered) = soon("the race", raced).await;
            let won = [cancelled.status, answered.status].iter().filter(|status| **status == 200).count();
            assert_eq!(won, 1, "{} {}", cancelled.body, answered.body);
            let now = [&question, &second].map(|id| format!("/v1/interactions/{id}"));
            let (first, second) = (bot_at_a.get(&now[0]).await.done(200), bot_at_a.get(&now[1]).await.done(200));
            assert_eq!(first.text("/status"), second.text("/status"));
        }
    });
}
