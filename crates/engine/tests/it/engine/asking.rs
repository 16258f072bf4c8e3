//! Tests of asking questions.

use domain::{Refusal, Role, SessionStatus, SignedDuration, Status};
use holdpoint_engine::{Error, Settings};
use serde_json::{Value, json};

use crate::engine::world::{World, pointers, refusal};

#[tokio::test]
async fn question_makes_the_session_wait_and_a_notice_does_not() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    world.ask(&agent, &session, json!({ "kind": "notice" })).await;
    assert_eq!(world.session_now(&agent, session.id).await.status(), SessionStatus::Running);
    let asked = world.ask(&agent, &session, json!({})).await;
    let now = world.session_now(&agent, session.id).await;
    assert_eq!((now.status(), now.open, now.waiting_on), (SessionStatus::WaitingUserInput, 2, 1));
    assert_eq!(world.now(&agent, asked.id).await, asked);
    let told = ["session.started", "interaction.asked", "interaction.asked"];
    assert_eq!(world.events(&agent, session.id).await, told);
}

/// Asserts the JSON pointers of the problems with which a question is refused.
async fn check(fields: Value, expected: &[&str]) {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let result = world.try_ask(&agent, &session, fields.clone()).await;
    assert_eq!(pointers(result), expected, "{fields}");
    assert_eq!(world.session_now(&agent, session.id).await, session, "a refused question changes nothing");
}

#[tokio::test]
async fn contradictory_questions_are_refused_with_a_pointer() {
    check(json!({ "title": "" }), &["/title"]).await;
    check(json!({ "kind": "choice" }), &["/options"]).await;
    check(json!({ "kind": "form" }), &["/schema"]).await;
    check(json!({ "kind": "secret" }), &["/secrets"]).await;
    check(json!({ "audience": { "quorum": 0 } }), &["/audience/quorum"]).await;
    check(json!({ "fallback": "deny" }), &["/fallback"]).await;
    check(json!({ "fallback": { "option": "maybe" }, "deadline_seconds": 60 }), &["/fallback/option"]).await;
    check(json!({ "deadline_seconds": 0 }), &["/deadline_seconds"]).await;
    check(json!({ "deadline_seconds": 40_000_000 }), &["/deadline_seconds"]).await;
    let schema = json!({ "type": "object", "required": ["n"] });
    let form = json!({ "kind": "form", "schema": schema, "deadline_seconds": 60, "fallback": { "value": {} } });
    check(form, &["/fallback/value/n"]).await;
}

#[tokio::test]
async fn invalid_schema_is_refused_with_a_pointer() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let schema = json!({ "type": "object", "properties": { "n": { "type": "whole number" } } });
    let result = world.try_ask(&agent, &session, json!({ "kind": "form", "schema": schema })).await;
    let Err(Error::SchemaInvalid(problems)) = result else { unreachable!("{result:?}") };
    assert!(problems[0].pointer.starts_with("/schema/properties/n"), "{problems:?}");
}

#[tokio::test]
async fn viewer_cannot_ask() {
    let world = World::new();
    let (agent, viewer) = (world.agent().await, world.caller(Role::Viewer, "vera").await);
    let session = world.session(&agent).await;
    assert_eq!(refusal(world.try_ask(&viewer, &session, json!({})).await), Refusal::RoleForbids { role: Role::Viewer });
}

#[tokio::test]
async fn deadline_comes_from_the_question_or_else_from_the_settings() {
    let hour = SignedDuration::from_hours(1);
    let world = World::with(Settings { deadlines: [("confirmation".into(), hour)].into(), ..Settings::default() });
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let now = world.engine.now();
    let own = world.ask(&agent, &session, json!({ "deadline_seconds": 90 })).await.question;
    assert_eq!(own.deadline, Some(now + SignedDuration::from_secs(90)));
    assert_eq!(own.warn_at, Some(now + SignedDuration::from_secs(30)), "people are warned a minute before");
    let short = world.ask(&agent, &session, json!({ "deadline_seconds": 30 })).await.question;
    assert_eq!(short.warn_at, None, "the deadline is too near for a warning");
    let by_kind = world.ask(&agent, &session, json!({})).await.question;
    assert_eq!(by_kind.deadline, Some(now + hour));
    let none = world.ask(&agent, &session, json!({ "kind": "question" })).await;
    assert_eq!((none.question.deadline, none.status()), (None, Status::Pending));
}

#[tokio::test]
async fn resume_point_over_the_size_limit_is_refused() {
    let world = World::with(Settings { resume_point_bytes: 100, ..Settings::default() });
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let large = json!({ "resume_point": "x".repeat(101) });
    assert_eq!(pointers(world.try_ask(&agent, &session, large).await), ["/resume_point"]);
    world.ask(&agent, &session, json!({ "resume_point": "x".repeat(90) })).await;
}
