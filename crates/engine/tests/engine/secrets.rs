//! Secrets and resume points: sealed when they arrive, given to the agent that asked, and then gone.

use std::path::Path;

use domain::{AutoSource, Caller, InteractionId, Role};
use holdpoint_engine::Error;
use serde_json::json;
use store::{Cost, Reads, StoreError};

use crate::world::{World, data, pointers};

const MARKER: &str = "marker-5f0c2a";

/// Whether a text is in any file of a directory.
fn anywhere(directory: &Path, text: &str) -> bool {
    let mut files = std::fs::read_dir(directory).unwrap();
    files.any(|file| String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()).contains(text))
}

/// A secret question that somebody has answered.
async fn given(world: &World, by: &Caller) -> (Caller, InteractionId) {
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let secret =
        json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }], "resume_point": MARKER });
    let id = world.ask(&agent, &session, secret).await.id;
    let draft = data(json!({ "TOKEN": MARKER }));
    let answered = if by.role == Role::Admin {
        world.engine.auto(by, id, AutoSource::System, draft, None).await
    } else {
        world.engine.answer(by, id, draft, None).await
    };
    assert!(!format!("{:?}", answered.unwrap()).contains(MARKER), "whoever gives a secret is not shown it again");
    (agent, id)
}

/// A secret goes from a person, or a service, to the agent and is nowhere else.
async fn check(role: Role) {
    let world = World::new();
    let by = world.caller(role, "somebody").await;
    let (agent, id) = given(&world, &by).await;
    assert!(!anywhere(world.directory.path(), MARKER), "{role:?}: sealed before it is written");
    let shown = format!("{:?}", world.now(&agent, id).await);
    assert!(shown.contains("TOKEN") && !shown.contains(MARKER), "{role:?}: {shown}");
    let taken = world.engine.take(&agent, id, None, None).await.unwrap();
    assert_eq!(taken.secrets, Some(json!({ "TOKEN": MARKER })), "{role:?}");
    assert_eq!(taken.resume_point, Some(json!(MARKER)), "{role:?}");
    world.engine.complete(&agent, (id, taken.lease), None).await.unwrap();
    let left = move |reads: &mut dyn Reads| {
        Ok::<_, StoreError>((
            reads.sealed(&agent.scope, id, "secrets")?,
            reads.sealed(&agent.scope, id, "resume_point")?,
        ))
    };
    let left = store::read(world.store.as_ref(), Cost::Point, left).await.unwrap();
    assert_eq!(left, (None, None), "{role:?}: nothing is sealed for it any more");
    assert!(!anywhere(world.directory.path(), MARKER), "{role:?}: nowhere after delivery");
}

#[tokio::test]
async fn a_secret_is_nowhere_but_in_the_hands_of_the_agent_that_asked() {
    check(Role::Operator).await;
    check(Role::Admin).await;
}

#[tokio::test]
async fn sealed_values_survive_a_restart() {
    let world = World::new();
    let alice = world.person("alice").await;
    let (agent, id) = given(&world, &alice).await;
    let world = world.restarted_after(domain::SignedDuration::from_secs(5));
    world.engine.unlock().await.unwrap();
    let taken = world.engine.take(&agent, id, None, None).await.unwrap();
    assert_eq!(taken.secrets, Some(json!({ "TOKEN": MARKER })));
}

#[tokio::test]
async fn a_wrong_master_key_is_refused() {
    let world = World::new();
    world.engine.unlock().await.unwrap();
    let alice = world.person("alice").await;
    let (agent, id) = given(&world, &alice).await;
    let wrong = world.another_engine([8; 32]);
    assert_eq!(wrong.unlock().await, Err(Error::Sealed));
    assert!(matches!(wrong.take(&agent, id, None, None).await, Err(Error::Sealed)));
    let right = world.another_engine([7; 32]);
    right.unlock().await.unwrap();
}

#[tokio::test]
async fn only_the_names_that_were_asked_for_are_taken() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let secret = json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }] });
    let id = world.ask(&agent, &session, secret).await.id;
    let missing = world.engine.answer(&alice, id, data(json!({ "PASSWORD": MARKER })), None).await;
    let told = format!("{missing:?}");
    assert!(!pointers(missing).is_empty());
    assert!(!told.contains(MARKER), "a refusal does not repeat a secret: {told}");
}
