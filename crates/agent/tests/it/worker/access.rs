//! Access to the actions and questions of a worker: the worker and its client have it, a key with the agent's name
//! does not.

use std::time::Duration;

use domain::{AnswerDraft, Call, Delivery, Effect, Outcome, Refusal, Role, SignedDuration};
use engine::{Error, Propose, Settings};
use serde_json::{Value, json};

use crate::worker::world::{World, results};

fn propose(call_id: &str) -> Propose {
    let call = Call { tool: "write_file".into(), arguments: json!({ "path": "a" }) };
    Propose {
        call_id: call_id.into(),
        call,
        context: Value::Null,
        expected_content: None,
        traceparent: None,
        repeatable: false,
        client: false,
        deadline_seconds: None,
    }
}

#[tokio::test]
async fn call_names_of_the_worker_are_reserved_in_hosted_sessions() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let session = world.opens(&alice, Some("guide"), None, Value::Null).await;
    let refused = world.engine.action_propose(&alice, session.id, propose("s1t2c0"), None).await;
    assert!(matches!(&refused, Err(Error::Refused(Refusal::CallReserved(call))) if call == "s1t2c0"), "{refused:?}");
    world.engine.action_propose(&alice, session.id, propose("mine"), None).await.unwrap();
    // In a session that is not hosted, these names are not reserved.
    let foreign = world.opens(&alice, None, None, Value::Null).await;
    world.engine.action_propose(&alice, foreign.id, propose("s1t2c0"), None).await.unwrap();
}

#[tokio::test]
async fn key_with_the_name_of_a_hosted_agent_has_no_access() {
    let mut world = World::new(json!([]));
    let alice = world.person("alice").await;
    let namesake = world.key("guide", Role::Agent).await;
    world.says("Both.", &[("write_file", json!({ "path": "a" })), ("ask_user_clarify", json!({ "question": "Why?" }))]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.open(&alice, 2).await;
    world.stop().await;
    let (write, why) =
        if asked[0].question.call_id.is_some() { (&asked[0], &asked[1]) } else { (&asked[1], &asked[0]) };
    let call = write.question.call_id.clone().unwrap();
    world.answers(&alice, write.id, Effect::Approve, AnswerDraft::default()).await;
    let answered = world
        .answers(&alice, why.id, Effect::Provide, AnswerDraft { data: json!("so"), ..AnswerDraft::default() })
        .await;
    assert_eq!(answered.delivery(), Some(&Delivery::Waiting { attempt: 0 }));

    let engine = &world.engine;
    assert_eq!(engine.delivery_list(&namesake, store::Page::first(10), Duration::ZERO).await.unwrap(), []);
    let taken = engine.delivery_take(&namesake, why.id, None, None).await;
    assert!(matches!(taken, Err(Error::Refused(Refusal::NotFound("interaction")))), "{taken:?}");
    // The key of an agent does not see sessions that others opened.
    let absent = |error: Error| assert!(matches!(error, Error::Refused(Refusal::NotFound("session"))), "{error:?}");
    absent(engine.action_get(&namesake, session.id, call.clone(), Duration::ZERO).await.unwrap_err());
    let acted = engine.action_get(&alice, session.id, call.clone(), Duration::ZERO).await.unwrap();
    assert_eq!(acted.permit, None);
    let again = Propose { call: acted.action.call.clone(), ..propose(&call) };
    absent(engine.action_propose(&namesake, session.id, again, None).await.unwrap_err());
    absent(engine.action_propose(&namesake, session.id, propose("mine"), None).await.unwrap_err());
    absent(engine.action_start(&namesake, (session.id, call.clone()), "x.y".into(), None, None).await.unwrap_err());

    world.says("Done.", &[]);
    world.work();
    world.ended(&alice, session.id).await;
    assert_eq!(world.runs().len(), 1);
    let outcome = Outcome::Done { result: Value::Null };
    absent(world.engine.action_outcome(&namesake, (session.id, call), outcome, None, None).await.unwrap_err());
}

#[tokio::test]
async fn cancelled_session_has_no_waiting_delivery() {
    for answered in [false, true] {
        let mut world = World::new(json!([]));
        let alice = world.person("alice").await;
        world.says("Why?", &[("ask_user_clarify", json!({ "question": "Why?" }))]);
        let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
        let asked = world.asked(&alice).await;
        world.stop().await;
        if answered {
            world
                .answers(&alice, asked.id, Effect::Provide, AnswerDraft { data: json!("so"), ..AnswerDraft::default() })
                .await;
        }
        world.engine.session_control(&alice, session.id, domain::Command::Cancel, None, None).await.unwrap();
        let left = world.engine.interaction_get(&alice, asked.id, Duration::ZERO).await.unwrap();
        assert_eq!(left.delivery(), Some(&Delivery::NotNeeded), "answered: {answered}");
        let stats = world.engine.stats_get(&alice, SignedDuration::from_hours(1)).await.unwrap();
        assert_eq!(stats.deliveries_waiting, 0);
    }
}

#[tokio::test]
async fn client_tool_that_is_not_started_in_time_fails() {
    let settings = Settings { permit: SignedDuration::from_millis(400), ..Settings::default() };
    let world = World::settled(json!([]), settings);
    let alice = world.person("alice").await;
    world.says("Open it.", &[("open_editor", json!({ "line": 1 }))]);
    world.says("Then not.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    world.ended(&alice, session.id).await;
    let told = results(&world.shown());
    assert!(told[0].0.contains("not started in time") && told[0].1, "{told:?}");
}

#[tokio::test]
async fn invalid_arguments_never_reach_a_client_tool() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("Open it.", &[("open_editor", json!({ "line": "first" }))]);
    world.says("Open it.", &[("open_editor", json!({ "line": 1 }))]);
    world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    assert_eq!(asked.question.call.as_ref().unwrap().arguments, json!({ "line": 1 }));
    let told = results(&world.shown());
    assert!(told[0].0.contains("/line") && told[0].1, "{told:?}");
    // Arguments that a person edits are checked as well.
    let draft = AnswerDraft {
        arguments: Some(json!({ "line": "last" })),
        effect: Some(Effect::Edit),
        ..AnswerDraft::default()
    };
    let edited = world.engine.interaction_answer(&alice, asked.id, draft, None).await;
    let Err(Error::Refused(Refusal::AnswerInvalid(problems))) = edited else { unreachable!("{edited:?}") };
    assert_eq!(problems[0].pointer, "/arguments/line");
}
