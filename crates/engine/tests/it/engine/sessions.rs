//! Tests starting and steering sessions.

use domain::session::Note;
use domain::{Command, Refusal, Resolution, Role, SessionStatus, State, Status};
use holdpoint_engine::{Settings, Start};
use serde_json::json;

use crate::engine::world::{World, pointers, refusal};

#[tokio::test]
async fn session_starts_with_one_step_and_one_event() {
    let world = World::new();
    let agent = world.agent().await;
    let start = Start { title: Some("Release 1.2".into()), channel: Some("chat-7".into()), ..Start::default() };
    let session = world.engine.session_start(&agent, start, None).await.unwrap();
    assert_eq!(session.status(), SessionStatus::Running);
    assert_eq!(session.head.channel, "chat-7");
    let (kept, _, steps) = world.engine.session(&agent, session.id).await.unwrap();
    assert_eq!(kept, session);
    assert_eq!(steps.iter().map(|step| step.id).collect::<Vec<_>>(), [session.step]);
    assert_eq!(world.events(&agent, session.id).await, ["session.started"]);
}

#[tokio::test]
async fn forbidden_or_invalid_start_of_a_session_is_refused() {
    let world = World::new();
    let (agent, viewer) = (world.agent().await, world.caller(Role::Viewer, "vera").await);
    let refused = world.engine.session_start(&viewer, Start::default(), None).await;
    assert_eq!(refusal(refused), Refusal::RoleForbids { role: Role::Viewer });
    let bad = Start { title: Some("two\nlines".into()), channel: Some("with space".into()), ..Start::default() };
    assert_eq!(pointers(world.engine.session_start(&agent, bad, None).await), ["/channel", "/title"]);
}

/// Asserts the result of a command on a new session, by a caller with this role.
async fn check(role: Role, command: Command, expected: Result<SessionStatus, Refusal>) {
    let world = World::new();
    let (starter, other) = (world.person("starter").await, world.caller(role, "somebody").await);
    let session = world.session(&starter).await;
    let result = world.control(&other, session.id, command).await;
    let result = result.map(|session| session.status());
    assert_eq!(result.map_err(|error| refusal::<()>(Err(error))), expected, "{role:?} {command:?}");
}

#[tokio::test]
async fn each_role_may_send_its_session_commands_only() {
    let forbidden = |role| Err(Refusal::RoleForbids { role });
    check(Role::Operator, Command::Pause, Ok(SessionStatus::Paused)).await;
    check(Role::Operator, Command::Cancel, Ok(SessionStatus::Cancelled)).await;
    check(Role::Operator, Command::Complete, forbidden(Role::Operator)).await;
    check(Role::Admin, Command::Complete, Ok(SessionStatus::Completed)).await;
    check(Role::Admin, Command::Fail, Ok(SessionStatus::Failed)).await;
    check(Role::Viewer, Command::Pause, forbidden(Role::Viewer)).await;
    check(Role::Agent, Command::Pause, Err(Refusal::NotFound("session"))).await;
}

#[tokio::test]
async fn agent_completes_its_own_session_and_an_ended_one_stays_ended() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let completed = world.control(&agent, session.id, Command::Complete).await.unwrap();
    assert_eq!(completed.status(), SessionStatus::Completed);
    let ended = Refusal::SessionEnded { session: session.id, status: "completed" };
    assert_eq!(refusal(world.control(&agent, session.id, Command::Pause).await), ended);
    assert_eq!(refusal(world.try_ask(&agent, &session, json!({})).await), ended);
}

#[tokio::test]
async fn paused_and_waiting_are_independent() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let question = world.ask(&agent, &session, json!({})).await;
    world.control(&alice, session.id, Command::Pause).await.unwrap();
    assert_eq!(refusal(world.control(&alice, session.id, Command::Pause).await), Refusal::AlreadyPaused(session.id));
    world.choose(&alice, question.id, "confirm").await.unwrap();
    let now = world.session_now(&agent, session.id).await;
    assert_eq!((now.status(), now.waiting_on), (SessionStatus::Paused, 0), "the answer does not end the pause");
    assert_eq!(
        world.engine.delivery_list(&agent, store::Page::first(10), std::time::Duration::ZERO).await.unwrap(),
        []
    );
    assert_eq!(
        refusal(world.engine.delivery_take(&agent, question.id, None, None).await),
        Refusal::SessionPaused(session.id)
    );
    let resumed = world.control(&alice, session.id, Command::Resume).await.unwrap();
    assert_eq!(resumed.status(), SessionStatus::Running);
    assert_eq!(refusal(world.control(&alice, session.id, Command::Resume).await), Refusal::NotPaused(session.id));
    world.engine.delivery_take(&agent, question.id, None, None).await.unwrap();
}

#[tokio::test]
async fn resumed_session_with_an_open_question_waits_again() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    world.ask(&agent, &session, json!({})).await;
    world.control(&alice, session.id, Command::Pause).await.unwrap();
    let resumed = world.control(&alice, session.id, Command::Resume).await.unwrap();
    assert_eq!(resumed.status(), SessionStatus::WaitingUserInput);
}

#[tokio::test]
async fn cancelling_a_session_closes_its_open_questions_with_the_reason() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let first = world.ask(&agent, &session, json!({})).await;
    let second = world.ask(&agent, &session, json!({ "kind": "notice" })).await;
    let answered = world.ask(&agent, &session, json!({})).await;
    world.choose(&alice, answered.id, "confirm").await.unwrap();
    let cancelled = world.control(&alice, session.id, Command::Cancel).await.unwrap();
    let note = Note { by: alice.actor.clone(), at: world.engine.now(), reason: Some("because".into()) };
    assert_eq!(cancelled.ended.map(|(_, note)| note), Some(note));
    assert_eq!((cancelled.open, cancelled.waiting_on), (0, 0));
    for id in [first.id, second.id] {
        let State::Resolved { resolution, .. } = world.now(&agent, id).await.state else { unreachable!() };
        assert_eq!(resolution, Resolution::Cancelled { by: alice.actor.clone(), reason: "because".into() });
    }
    assert_eq!(world.now(&agent, answered.id).await.status(), Status::Answered, "an answered question stays answered");
    let (_, _, steps) = world.engine.session(&agent, session.id).await.unwrap();
    assert_eq!(steps[0].status(0), domain::StepStatus::Cancelled);
}

#[tokio::test]
async fn terminate_ends_the_session_and_closes_its_other_questions() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let action = json!({ "kind": "approval", "action": { "tool": "deploy", "arguments": {} } });
    let asked = world.ask(&agent, &session, action).await;
    let other = world.ask(&agent, &session, json!({})).await;
    let answered = world.choose(&alice, asked.id, "terminate").await.unwrap();
    assert_eq!(answered.status(), Status::Answered);
    assert_eq!(world.now(&agent, other.id).await.status(), Status::Cancelled);
    assert_eq!(world.session_now(&agent, session.id).await.status(), SessionStatus::Cancelled);
    let told = world.engine.delivery_list(&agent, store::Page::first(10), std::time::Duration::ZERO).await.unwrap();
    assert_eq!(told.len(), 2, "the agent receives both events");
}

#[tokio::test]
async fn open_questions_of_a_session_are_limited() {
    let world = World::with(Settings { most_open: 2, ..Settings::default() });
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    world.ask(&agent, &session, json!({})).await;
    world.ask(&agent, &session, json!({})).await;
    assert_eq!(refusal(world.try_ask(&agent, &session, json!({})).await), Refusal::TooManyOpen { most: 2 });
}

#[tokio::test]
async fn session_of_another_tenant_is_not_found() {
    let world = World::new();
    let (agent, stranger) = (world.agent().await, world.stranger("other", Role::Admin, "alice", &[]).await);
    let session = world.session(&agent).await;
    let absent = Refusal::NotFound("session");
    assert_eq!(refusal(world.engine.session(&stranger, session.id).await), absent);
    assert_eq!(refusal(world.control(&stranger, session.id, Command::Cancel).await), absent);
    assert_eq!(refusal(world.try_ask(&stranger, &session, json!({})).await), absent);
    let wait = std::time::Duration::ZERO;
    assert_eq!(refusal(world.engine.event_list(&stranger, session.id, 0, 10, wait).await), absent);
}
