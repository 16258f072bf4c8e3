//! Tests the lessons about streams and screens, as far as they concern the API.

use serde_json::{Value, json};

use server_testkit::client::{confirmation, ids, text};
use server_testkit::world::World;

/// Events have sequence numbers and are replayed from the last one seen: a reader that reconnects misses and repeats
/// nothing.
#[tokio::test]
async fn reconnecting_reader_misses_and_repeats_no_event() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let path = format!("/v1/sessions/{session}/events/stream");
    let mut seen = Vec::new();
    for _ in 0..5 {
        let last = seen.last().map(|(id, _): &(String, String)| id.clone());
        let mut stream = agent.follows(&path, last.as_deref()).await;
        let question = agent.asks_in(&session, confirmation()).await;
        seen.extend(stream.events(if last.is_none() { 2 } else { 1 }).await);
        // The answer arrives while nobody reads, or on its way to a closed reader; in both cases the next reader
        // receives it.
        drop(stream);
        alice.answers(&question, json!({ "option": "confirm" })).await.done();
        let last = seen.last().unwrap().0.clone();
        seen.extend(agent.follows(&path, Some(&last)).await.events(1).await);
    }
    let numbers: Vec<String> = seen.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(numbers, (1..=11).map(|number| number.to_string()).collect::<Vec<_>>());
    let names: Vec<String> = seen.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, agent.events(&session).await);
}

/// The stream of the project starts now, or at the cursor of the last event seen.
#[tokio::test]
async fn project_stream_continues_from_its_cursor() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    agent.opens(json!({})).await;
    let mut from_now_on = alice.follows("/v1/events/stream", None).await;
    let question = world.asks(confirmation()).await;
    let (first, started) = from_now_on.event().await;
    assert_eq!((&started["type"], &started["session"]), (&json!("session.started"), &json!(question.session)));
    drop(from_now_on);
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let mut again = alice.follows("/v1/events/stream", Some(&first)).await;
    let names: Vec<String> = again.events(2).await.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["interaction.asked", "interaction.answered"]);
    let mut by_query = alice.follows(&format!("/v1/events/stream?after={first}"), None).await;
    assert_eq!(by_query.event().await.1["type"], "interaction.asked");
}

/// A stream continues on a restarted server at the last event seen.
#[tokio::test]
async fn stream_continues_after_a_restart() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = world.asks(confirmation()).await;
    let path = format!("/v1/sessions/{}/events/stream", question.session);
    let mut stream = alice.follows(&path, None).await;
    let (last, _) = stream.events(2).await.pop().unwrap();
    let world = world.restarts().await;
    let alice = alice.at(&world);
    let mut stream = alice.follows(&path, Some(&last)).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let (id, event) = stream.event().await;
    assert_eq!((id.as_str(), &event["type"]), ("3", &json!("interaction.answered")));
}

/// Lists are read from the store. Regression test: reconnecting showed answered requests as open.
#[tokio::test]
async fn answered_question_is_not_listed_as_open() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let (first, second) = (world.asks(confirmation()).await, world.asks(confirmation()).await);
    alice.answers(&first, json!({ "option": "confirm" })).await.done();
    let open = alice.get("/v1/interactions?status=pending").await.done();
    assert_eq!(ids(&open["interactions"]), [second.id]);
    let closed = alice.get("/v1/interactions?status=answered").await.done();
    assert_eq!(ids(&closed["interactions"]), [first.id]);
}

/// Regression test: the asked event was sent only after the wait was over, or with a placeholder id, or twice.
#[tokio::test]
async fn asked_event_comes_first_once_and_with_the_final_id() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let mut stream = alice.follows(&format!("/v1/sessions/{session}/events/stream"), Some("1")).await;
    let question = agent.asks_in(&session, confirmation()).await;
    let (id, asked) = stream.event().await;
    assert_eq!(id, "2");
    assert_eq!(asked["interaction"], question.id);
    assert_eq!(asked["data"]["title"], "Delete the file?");
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let (_, answered) = stream.event().await;
    assert_eq!(answered["interaction"], question.id);
    let expected = json!({ "by": { "kind": "user", "name": "alice" }, "effect": "approve", "options": ["confirm"] });
    assert_eq!(answered["data"], expected);
}

/// Regression test: sequence numbers restarted in every round.
#[tokio::test]
async fn event_numbers_of_a_session_do_not_restart() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    for round in 0..3 {
        let question = agent.asks_in(&session, confirmation()).await;
        alice.answers(&question, json!({ "option": "confirm" })).await.done();
        let lease = agent.takes(&question).await.done()["lease"].clone();
        agent.completes(&question, &lease).await.done();
        assert_eq!(agent.events(&session).await.len(), 1 + 4 * (round + 1));
    }
    let (alice, agent) = (alice.clone(), agent.clone());
    let world = world.restarts().await;
    let (alice, agent) = (alice.at(&world), agent.at(&world));
    let question = agent.asks_in(&session, confirmation()).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    assert_eq!(agent.events(&session).await.len(), 15);
    assert_eq!(agent.session(&session).await["last_seq"], 15);
}

/// All open questions are listed, oldest first, and each can be answered separately. Regression test: a second open
/// request was never shown.
#[tokio::test]
async fn every_open_question_is_listed_oldest_first_and_answerable_alone() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({ "channel": "chat-7" })).await;
    let mut asked = Vec::new();
    for _ in 0..4 {
        asked.push(agent.asks_in(&session, confirmation()).await);
    }
    let expected: Vec<String> = asked.iter().map(|question| question.id.clone()).collect();
    let listed =
        async |filter: &str| ids(&alice.get(&format!("/v1/interactions?{filter}")).await.done()["interactions"]);
    assert_eq!(listed("status=pending").await, expected);
    assert_eq!(listed("channel=chat-7").await, expected);
    assert_eq!(listed(&format!("session={session}")).await, expected);
    let newest: Vec<String> = expected.iter().rev().cloned().collect();
    assert_eq!(listed("sort=newest").await, newest);
    alice.answers(&asked[2], json!({ "option": "confirm" })).await.done();
    assert_eq!(listed("status=pending").await, [&expected[..2], &expected[3..]].concat());
}

/// The lists of sessions and questions are paged.
#[tokio::test]
async fn history_is_paged() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let mut expected = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let session = agent.opens(json!({})).await;
        expected.1.push(agent.asks_in(&session, confirmation()).await.id);
        expected.0.insert(0, session);
    }
    for (list, expected) in [("sessions", expected.0), ("interactions", expected.1)] {
        let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = alice.get(&format!("/v1/{list}?limit=3{cursor}")).await.done();
            seen.extend(ids(&page[list]));
            pages += 1;
            let Some(next) = page.get("next") else { break };
            cursor = format!("&cursor={}", text(next));
        }
        assert_eq!((pages, seen), (3, expected));
    }
}

/// The events of one question are found, however many other events the session has.
#[tokio::test]
async fn events_can_be_filtered_by_question() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    agent.asks_in(&session, confirmation()).await;
    let question = agent.asks_in(&session, confirmation()).await;
    agent.asks_in(&session, confirmation()).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let events = format!("/v1/sessions/{session}/events?interaction={}", question.id);
    let seqs = async |more: &str| -> Vec<Value> {
        let page = alice.get(&format!("{events}{more}")).await.done();
        page["events"].as_array().unwrap().iter().map(|event| json!([event["seq"], event["type"]])).collect()
    };
    let [asked, answered] = [json!([3, "interaction.asked"]), json!([5, "interaction.answered"])];
    assert_eq!(seqs("").await[..2], [asked.clone(), answered.clone()]);
    assert_eq!(seqs("&limit=1").await, [asked]);
    assert_eq!(seqs("&after=3&limit=1").await, [answered]);
    alice.get(&format!("{events}&wait=1")).await.refused(400, "query_invalid");
    alice.get(&format!("/v1/sessions/{session}/events?interaction=x")).await.refused(400, "query_invalid");
    let stranger = world.stranger().await;
    stranger.get(&events).await.refused(404, "not_found");
}

/// Events are paged by their sequence numbers.
#[tokio::test]
async fn events_are_paged() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    for _ in 0..4 {
        agent.asks_in(&session, confirmation()).await;
    }
    let page = async |after: u64| -> (Vec<Value>, Value) {
        let page = alice.get(&format!("/v1/sessions/{session}/events?limit=2&after={after}")).await.done();
        (page["events"].as_array().unwrap().iter().map(|event| event["seq"].clone()).collect(), page["next"].clone())
    };
    assert_eq!(page(0).await, (vec![json!(1), json!(2)], json!(2)));
    assert_eq!(page(2).await, (vec![json!(3), json!(4)], json!(4)));
    assert_eq!(page(4).await, (vec![json!(5)], json!(5)));
    assert_eq!(page(5).await, (vec![], json!(5)));
}
