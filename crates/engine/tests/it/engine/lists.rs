//! Tests lists with their filters, and stats.

use domain::{Effect, Interaction, InteractionId, Kind, Role, SignedDuration, Status};
use holdpoint_engine::{InteractionQuery, Start};
use serde_json::json;
use store::{InteractionFilter, Page, SessionFilter, Sort};

use crate::engine::world::World;

const ALL: Page<InteractionId> = Page { after: None, limit: 100 };

fn ids((questions, _next): (Vec<Interaction>, Option<InteractionId>)) -> Vec<InteractionId> {
    questions.into_iter().map(|question| question.id).collect()
}

#[tokio::test]
async fn questions_are_filtered_and_paged() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let start = Start { agent: Some("robot".into()), channel: Some("chat-7".into()), ..Start::default() };
    let session = world.engine.session_start(&agent, start, None).await.unwrap();
    let other = world.session(&agent).await;
    let late = world.ask(&agent, &session, json!({ "title": "Deploy API", "deadline_seconds": 900 })).await.id;
    let soon = world.ask(&agent, &session, json!({ "kind": "question", "deadline_seconds": 60 })).await.id;
    let done = world.ask(&agent, &other, json!({})).await.id;
    world.choose(&alice, done, "confirm").await.unwrap();
    let check = async |filter: InteractionFilter, expected: &[InteractionId]| {
        let query = InteractionQuery { filter: filter.clone(), ..InteractionQuery::default() };
        let found = world.engine.interaction_list(&alice, query, ALL).await.unwrap();
        assert_eq!(ids(found), expected, "{filter:?}");
    };
    let none = InteractionFilter::default;
    check(none(), &[late, soon, done]).await;
    check(InteractionFilter { sort: Sort::Newest, ..none() }, &[done, soon, late]).await;
    check(InteractionFilter { sort: Sort::Deadline, ..none() }, &[soon, late]).await;
    check(InteractionFilter { status: Some(Status::Pending), ..none() }, &[late, soon]).await;
    check(InteractionFilter { status: Some(Status::Answered), ..none() }, &[done]).await;
    check(InteractionFilter { kind: Some(Kind::Question), ..none() }, &[soon]).await;
    check(InteractionFilter { session: Some(other.id), ..none() }, &[done]).await;
    check(InteractionFilter { channel: Some("chat-7".into()), ..none() }, &[late, soon]).await;
    check(InteractionFilter { agent: Some("robot".into()), ..none() }, &[late, soon]).await;
    check(InteractionFilter { text: Some("deploy".into()), ..none() }, &[late]).await;
    let page = |after| Page { after, limit: 2 };
    let first = world.engine.interaction_list(&alice, InteractionQuery::default(), page(None)).await.unwrap();
    let second = world.engine.interaction_list(&alice, InteractionQuery::default(), page(Some(soon))).await.unwrap();
    assert_eq!((ids(first), ids(second)), (vec![late, soon], vec![done]));
}

#[tokio::test]
async fn mine_lists_the_questions_that_the_caller_may_answer() {
    let world = World::new();
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let viewer = world.stranger("default", Role::Viewer, "vera", &["ops"]).await;
    let session = world.session_of_agent(&alice).await;
    let everybody = world.ask(&agent, &session, json!({})).await.id;
    let four_eyes = world.ask(&agent, &session, json!({ "audience": { "quorum": 1, "four_eyes": true } })).await.id;
    let ops = json!({ "audience": { "quorum": 1, "named": { "groups": ["ops"] } } });
    let ops = world.ask(&agent, &session, ops).await.id;
    let asked_by_bob = world.ask(&bob, &session, json!({})).await.id;
    let mine = async |who| {
        let query = InteractionQuery { mine: true, ..InteractionQuery::default() };
        ids(world.engine.interaction_list(who, query, ALL).await.unwrap())
    };
    assert_eq!(mine(&alice).await, [everybody, asked_by_bob]);
    assert_eq!(mine(&bob).await, [everybody, four_eyes]);
    assert_eq!(mine(&viewer).await, [ops]);
    assert_eq!(mine(&agent).await, []);
}

#[tokio::test]
async fn overdue_lists_questions_past_their_deadline() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let held = world.ask(&agent, &session, json!({ "deadline_seconds": 60, "fallback": "hold" })).await.id;
    world.ask(&agent, &session, json!({ "deadline_seconds": 600 })).await;
    let query = InteractionQuery { overdue: true, ..InteractionQuery::default() };
    assert_eq!(ids(world.engine.interaction_list(&alice, query.clone(), ALL).await.unwrap()), []);
    world.pass(60);
    assert_eq!(ids(world.engine.interaction_list(&alice, query.clone(), ALL).await.unwrap()), [held]);
    world.engine.fire_due().await.unwrap();
    assert_eq!(
        ids(world.engine.interaction_list(&alice, query, ALL).await.unwrap()),
        [held],
        "the question stays open until it is answered"
    );
}

#[tokio::test]
async fn sessions_are_listed_newest_first() {
    let world = World::new();
    let agent = world.agent().await;
    let first = world.session(&agent).await;
    let second = world.session(&agent).await;
    world.control(&agent, first.id, domain::Command::Complete).await.unwrap();
    let list = async |status| {
        let filter = SessionFilter { status, ..SessionFilter::default() };
        let found = world.engine.session_list(&agent, filter, Page { after: None, limit: 10 }).await.unwrap();
        found.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None).await, [second.id, first.id]);
    assert_eq!(list(Some(domain::SessionStatus::Completed)).await, [first.id]);
}

#[tokio::test]
async fn stats_count_open_and_closed_questions_and_waiting_times() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let oldest = world.engine.now();
    world.ask(&agent, &session, json!({})).await;
    let answered = world.ask(&agent, &session, json!({ "kind": "review" })).await.id;
    let cancelled = world.ask(&agent, &session, json!({ "kind": "notice" })).await.id;
    world.pass(40);
    world.choose(&alice, answered, "approve").await.unwrap();
    world.engine.interaction_cancel(&agent, cancelled, None, None).await.unwrap();
    let stats = world.engine.stats_get(&alice, SignedDuration::from_hours(1)).await.unwrap();
    assert_eq!(stats.open, [("confirmation".to_owned(), 1)].into());
    assert_eq!(stats.closed, [("answered".to_owned(), 1), ("cancelled".to_owned(), 1)].into());
    assert_eq!(stats.oldest_open_at, Some(oldest));
    assert_eq!((stats.wait_p50, stats.wait_p95), (Some(40_000_000), Some(40_000_000)));
    assert_eq!(stats.deliveries_waiting, 1);
    let counts = world.engine.open_counts().await.unwrap();
    assert_eq!(counts.iter().map(|open| (open.kind.as_str(), open.count)).collect::<Vec<_>>(), [("confirmation", 1)]);
    let stranger = world.stranger("other", Role::Viewer, "vera", &[]).await;
    let theirs = world.engine.stats_get(&stranger, SignedDuration::from_hours(1)).await.unwrap();
    assert_eq!(theirs, store::Stats::default());
}

#[tokio::test]
async fn detailed_stats_show_ages_people_and_kinds() {
    let world = World::new();
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let session = world.session(&agent).await;
    let asked = async |more| world.ask(&agent, &session, more).await.id;
    let old = asked(json!({})).await;
    world.pass(1800);
    let (one, two) = (asked(json!({ "kind": "review" })).await, asked(json!({ "audience": { "quorum": 2 } })).await);
    world.pass(30);
    world.choose(&alice, one, "approve").await.unwrap();
    world.choose(&alice, two, "confirm").await.unwrap();
    world.pass(10);
    world.choose(&bob, two, "confirm").await.unwrap();
    world.engine.interaction_cancel(&agent, asked(json!({ "kind": "notice" })).await, None, None).await.unwrap();

    let details = world.engine.stats_details(&alice, SignedDuration::from_hours(1), 2).await.unwrap();
    let ages = [(Some(60), 0), (Some(600), 0), (Some(3600), 1), (Some(86_400), 0), (None, 0)];
    assert_eq!(details.ages, ages, "{old} is half an hour old");
    let closed = details.times.iter().map(|(_, closed)| closed.values().sum::<u64>()).collect::<Vec<_>>();
    assert_eq!(closed, [0, 3]);
    let people: Vec<_> = details.people.iter().map(|(name, tally)| (name.as_str(), tally.wait_p95)).collect();
    assert_eq!(people, [("alice", Some(30_000_000)), ("bob", Some(40_000_000))]);
    assert_eq!(details.people[0].1.effects, [(Effect::Approve, 2)].into());
    let kinds: Vec<_> = details.kinds.iter().map(|(kind, tally)| (kind.as_str(), tally.closed.clone())).collect();
    let expected = [("confirmation", Status::Answered), ("notice", Status::Cancelled), ("review", Status::Answered)];
    assert_eq!(kinds, expected.map(|(kind, status)| (kind, [(status, 1)].into())));
    assert_eq!(details.rules, []);
    let stranger = world.stranger("other", Role::Viewer, "vera", &[]).await;
    let theirs = world.engine.stats_details(&stranger, SignedDuration::from_hours(1), 2).await.unwrap();
    assert!(theirs.kinds.is_empty() && theirs.people.is_empty() && theirs.ages.iter().all(|(_, open)| *open == 0));
}
