//! Tests secrets and resume points: sealed on arrival, given to the agent that asked, and then deleted.

use std::path::Path;

use domain::{AnswerDraft, AutoSource, Caller, Effect, Interaction, InteractionId, Role, Status};
use holdpoint_engine::Error;
use serde_json::json;
use store::{Cost, Reads, StoreError, Tx};

use crate::engine::world::{World, ask, data, pointers};

const MARKER: &str = "marker-5f0c2a";

/// Whether any file of a directory contains a text.
fn any_file_contains(directory: &Path, text: &str) -> bool {
    let mut files = std::fs::read_dir(directory).unwrap();
    files.any(|file| String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()).contains(text))
}

/// Asks a secret question and answers it.
async fn given(world: &World, by: &Caller) -> (Caller, InteractionId) {
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let secret =
        json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }], "resume_point": MARKER });
    let id = world.ask(&agent, &session, secret).await.id;
    let draft = data(json!({ "TOKEN": MARKER }));
    let answered = if by.role == Role::Admin {
        world.engine.interaction_auto(by, id, AutoSource::System, draft, None).await
    } else {
        world.engine.interaction_answer(by, id, draft, None).await
    };
    assert!(
        !format!("{:?}", answered.unwrap()).contains(MARKER),
        "the person who gave the secret does not see it again"
    );
    (agent, id)
}

/// A secret goes from a person or a service to the agent, and is stored nowhere in plain text.
async fn check(role: Role) {
    let world = World::new();
    let by = world.caller(role, "somebody").await;
    let (agent, id) = given(&world, &by).await;
    assert!(!any_file_contains(world.directory.path(), MARKER), "{role:?}: sealed before it is written");
    let shown = format!("{:?}", world.now(&agent, id).await);
    assert!(shown.contains("TOKEN") && !shown.contains(MARKER), "{role:?}: {shown}");
    let taken = world.engine.delivery_take(&agent, id, None, None).await.unwrap();
    assert_eq!(taken.secrets, Some(json!({ "TOKEN": MARKER })), "{role:?}");
    assert_eq!(taken.resume_point, Some(json!(MARKER)), "{role:?}");
    world.engine.delivery_complete(&agent, (id, taken.lease), None).await.unwrap();
    let left = move |reads: &mut dyn Reads| {
        Ok::<_, StoreError>((
            reads.sealed_value(&agent.scope, id, "secrets")?,
            reads.sealed_value(&agent.scope, id, "resume_point")?,
        ))
    };
    let left = store::read(world.store.as_ref(), Cost::Point, left).await.unwrap();
    assert_eq!(left, (None, None), "{role:?}: no sealed value is left");
    assert!(!any_file_contains(world.directory.path(), MARKER), "{role:?}: no file has the secret after delivery");
}

#[tokio::test]
async fn secret_value_is_visible_only_to_the_asking_agent() {
    check(Role::Operator).await;
    check(Role::Admin).await;
}

#[tokio::test]
async fn sealed_values_survive_a_restart() {
    let world = World::new();
    let alice = world.person("alice").await;
    let (agent, id) = given(&world, &alice).await;
    let world = world.restarted_after(domain::SignedDuration::from_secs(5));
    world.engine.check_master_key().await.unwrap();
    let taken = world.engine.delivery_take(&agent, id, None, None).await.unwrap();
    assert_eq!(taken.secrets, Some(json!({ "TOKEN": MARKER })));
}

#[tokio::test]
async fn wrong_master_key_is_refused() {
    let world = World::new();
    world.engine.check_master_key().await.unwrap();
    let alice = world.person("alice").await;
    let (agent, id) = given(&world, &alice).await;
    let wrong = world.another_engine([8; 32]);
    assert_eq!(wrong.check_master_key().await, Err(Error::Sealed));
    assert!(matches!(wrong.delivery_take(&agent, id, None, None).await, Err(Error::Sealed)));
    let right = world.another_engine([7; 32]);
    right.check_master_key().await.unwrap();
}

#[tokio::test]
async fn secrets_with_other_names_than_asked_for_are_refused() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let secret = json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }] });
    let id = world.ask(&agent, &session, secret).await.id;
    let missing = world.engine.interaction_answer(&alice, id, data(json!({ "PASSWORD": MARKER })), None).await;
    let told = format!("{missing:?}");
    assert!(!pointers(missing).is_empty());
    assert!(!told.contains(MARKER), "a refusal does not repeat a secret: {told}");
}

/// Asks a secret question that needs people of distinct groups, as earlier versions allowed: a value can be a vote.
async fn ask_secret_of_groups(world: &World, agent: &Caller) -> InteractionId {
    let session = world.session(agent).await;
    let audience = json!({ "quorum": 1, "named": { "users": ["alice"], "groups": ["sec"] } });
    let fields = json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }], "audience": audience });
    let mut question = ask(fields).question.admit().unwrap();
    question.audience.distinct_groups = true;
    let (scope, by, session) = (agent.scope, agent.actor.clone(), session.id);
    let asking = move |tx: &mut dyn Tx| {
        let mut session = tx.session_lock(&scope, session)?.unwrap();
        session.count_opened(true, 10).unwrap();
        let id = InteractionId::from_uuid(session.id.uuid());
        let (asked, _) = Interaction::ask(id, &session, by.clone(), question.clone(), tx.now()?);
        tx.interaction_insert(&asked)?;
        tx.session_save(&session)?;
        Ok::<_, StoreError>(id)
    };
    store::transact(world.store.as_ref(), asking).await.unwrap()
}

/// The value of a vote is handed out only if the question ended with it.
#[tokio::test]
async fn secret_of_a_vote_that_did_not_end_the_question_is_not_delivered() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let bob = world.stranger("default", Role::Operator, "bob", &["sec"]).await;
    let gives = |by, id, value: &str| world.engine.interaction_answer(by, id, data(json!({ "TOKEN": value })), None);
    for bob_gives in [false, true] {
        let id = ask_secret_of_groups(&world, &agent).await;
        let voted = gives(&alice, id, "of-alice").await.unwrap();
        assert_eq!(voted.status(), Status::Pending, "alice belongs to no group of the audience");
        if bob_gives {
            gives(&bob, id, "of-bob").await.unwrap();
        } else {
            let no =
                AnswerDraft { effect: Some(Effect::Reject), feedback: Some("no".into()), ..AnswerDraft::default() };
            world.engine.interaction_answer(&bob, id, no, None).await.unwrap();
        }
        let taken = world.engine.delivery_take(&agent, id, None, None).await.unwrap();
        assert_eq!(taken.secrets, bob_gives.then(|| json!({ "TOKEN": "of-bob" })));
    }
}

/// A vote that an earlier version sealed is not handed out, and is replaced by the value with which the question ends.
#[tokio::test]
async fn sealed_vote_of_an_earlier_version_is_not_delivered() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let bob = world.stranger("default", Role::Operator, "bob", &["sec"]).await;
    let (_, elsewhere) = given(&world, &alice).await;
    for bob_gives in [false, true] {
        let (id, scope) = (ask_secret_of_groups(&world, &agent).await, agent.scope);
        let sealing = move |tx: &mut dyn Tx| {
            let sealed = tx.sealed_value(&scope, elsewhere, "secrets")?.unwrap();
            tx.sealed_value_insert(&scope, id, "secrets", &sealed)
        };
        store::transact::<_, StoreError, _>(world.store.as_ref(), sealing).await.unwrap();
        let effect = if bob_gives { None } else { Some(Effect::Reject) };
        let value = if bob_gives { json!({ "TOKEN": "of-bob" }) } else { json!(null) };
        world
            .engine
            .interaction_answer(&bob, id, AnswerDraft { effect, data: value, ..AnswerDraft::default() }, None)
            .await
            .unwrap();
        let taken = world.engine.delivery_take(&agent, id, None, None).await.unwrap();
        assert_eq!(taken.secrets, bob_gives.then(|| json!({ "TOKEN": "of-bob" })));
    }
}

#[tokio::test]
async fn secret_question_cannot_require_several_people() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let ask = |audience: serde_json::Value| {
        let fields =
            json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }], "audience": audience });
        world.try_ask(&agent, &session, fields)
    };
    let named = json!({ "groups": ["sec", "ops"] });
    let two = ask(json!({ "quorum": 2, "named": named })).await;
    assert_eq!(pointers(two), ["/audience/quorum"]);
    let distinct = ask(json!({ "quorum": 1, "named": named, "distinct_groups": true })).await;
    assert_eq!(pointers(distinct), ["/audience/distinct_groups"]);
}
