//! Tests claiming and releasing a question.

use domain::interaction::Claim;
use domain::{Interaction, Refusal, Role, State, Status};
use serde_json::json;

use crate::engine::world::{World, refusal};

fn held_by(interaction: &Interaction) -> Option<String> {
    let State::Pending(pending) = &interaction.state else { return None };
    pending.claim.as_ref().map(|Claim { by, .. }| by.name.clone())
}

#[tokio::test]
async fn claim_excludes_other_people_until_it_is_released() {
    let world = World::new();
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({})).await.id;
    let claimed = world.engine.interaction_claim(&alice, id, None).await.unwrap();
    assert_eq!(held_by(&claimed).as_deref(), Some("alice"));
    let held = Refusal::ClaimedByOther { by: "alice".into() };
    assert_eq!(refusal(world.choose(&bob, id, "confirm").await), held);
    assert_eq!(refusal(world.engine.interaction_claim(&bob, id, None).await), held);
    assert_eq!(refusal(world.engine.interaction_release(&bob, id, None).await), Refusal::NotClaimed(id));
    let released = world.engine.interaction_release(&alice, id, None).await.unwrap();
    assert_eq!(held_by(&released), None);
    assert_eq!(world.choose(&bob, id, "confirm").await.unwrap().status(), Status::Answered);
}

#[tokio::test]
async fn claim_expires_with_one_event() {
    let world = World::new();
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({})).await.id;
    world.engine.interaction_claim(&alice, id, None).await.unwrap();
    world.pass(599);
    world.engine.fire_due().await.unwrap();
    assert_eq!(held_by(&world.now(&agent, id).await).as_deref(), Some("alice"));
    world.pass(1);
    world.engine.fire_due().await.unwrap();
    world.engine.fire_due().await.unwrap();
    assert_eq!(held_by(&world.now(&agent, id).await), None);
    let told = ["session.started", "interaction.asked", "interaction.claimed", "interaction.released"];
    assert_eq!(world.events(&agent, session.id).await, told);
    world.engine.interaction_claim(&bob, id, None).await.unwrap();
}

#[tokio::test]
async fn only_reviewers_may_claim_and_an_admin_may_release_for_them() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let (viewer, root) = (world.caller(Role::Viewer, "vera").await, world.caller(Role::Admin, "root").await);
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({})).await.id;
    assert_eq!(
        refusal(world.engine.interaction_claim(&agent, id, None).await),
        Refusal::RoleForbids { role: Role::Agent }
    );
    assert_eq!(
        refusal(world.engine.interaction_release(&agent, id, None).await),
        Refusal::RoleForbids { role: Role::Agent }
    );
    assert_eq!(refusal(world.engine.interaction_claim(&viewer, id, None).await), Refusal::NotInAudience);
    world.engine.interaction_claim(&alice, id, None).await.unwrap();
    let released = world.engine.interaction_release(&root, id, None).await.unwrap();
    assert_eq!(held_by(&released), None);
    let answered = world.choose(&alice, id, "confirm").await.unwrap();
    let resolved = Refusal::AlreadyResolved(Box::new(answered));
    assert_eq!(refusal(world.engine.interaction_claim(&alice, id, None).await), resolved);
    assert_eq!(refusal(world.engine.interaction_release(&alice, id, None).await), resolved);
}
