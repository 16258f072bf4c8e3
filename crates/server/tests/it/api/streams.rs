//! Lessons: streams and screens, as far as they are the API's.

use serde_json::{Value, json};

use server_testkit::client::{confirmation, ids, text};
use server_testkit::world::World;

/// Events carry a sequence number and replay from the last one seen: a reader that comes back misses nothing and repeats
/// nothing.
#[tokio::test]
async fn a_reader_that_comes_back_in_the_middle_misses_and_repeats_nothing() {
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
        // The answer comes while nobody reads, or is on its way to a reader that is gone: either way the next gets it.
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

/// The project's stream goes by a cursor, from now on or from the last one seen.
#[tokio::test]
async fn the_project_stream_goes_on_from_its_cursor() {
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

/// A stream goes on at another server where it ended at the first.
#[tokio::test]
async fn a_stream_goes_on_after_a_restart() {
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

/// Reconnecting showed answered requests as open. State comes from the store.
#[tokio::test]
async fn what_was_answered_is_not_listed_as_open() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let (first, second) = (world.asks(confirmation()).await, world.asks(confirmation()).await);
    alice.answers(&first, json!({ "option": "confirm" })).await.done();
    let open = alice.get("/v1/interactions?status=pending").await.done();
    assert_eq!(ids(&open["interactions"]), [second.id]);
    let closed = alice.get("/v1/interactions?status=answered").await.done();
    assert_eq!(ids(&closed["interactions"]), [first.id]);
}

/// The asked event was sent only after the wait was over, or with a placeholder id, or twice.
#[tokio::test]
async fn the_asked_event_comes_first_once_and_with_the_real_id() {
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

/// Sequence numbers restarted in every round.
#[tokio::test]
async fn numbers_do_not_restart() {
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

/// A second open request was never shown. All open requests are listed, oldest first, each answerable alone.
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

/// History needs paging; "all of it" is not a page.
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

/// What happened to one question is found however much has happened since.
#[tokio::test]
async fn the_events_of_one_question_are_listed_by_themselves() {
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

/// Events are paged by their numbers.
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
