//! Tests rotation: new master and data keys while all nodes run, interrupted at any step, without loss.

use std::sync::Arc;

use domain::{AnswerDraft, Caller, EntryPoint, InteractionId, Role};
use holdpoint_engine::{Engine, Error, Idempotency, Ids, MasterKey, NewKey, RotationReport, Settings, Vault};
use parking_lot::Mutex;
use serde_json::json;
use store::{AuditFilter, Page, Store};
use testkit::{CrashStore, JobEnd, Random, UseCase, side_by_side};

use crate::engine::world::{World, ask, data};

const OLD: u8 = 7;
const NEW: u8 = 8;

/// File of master keys, the newest first.
#[derive(Clone)]
struct KeyFile(Arc<Mutex<Vec<u8>>>);

impl KeyFile {
    fn of(keys: &[u8]) -> Self {
        Self(Arc::new(Mutex::new(keys.to_vec())))
    }

    fn becomes(&self, keys: &[u8]) {
        *self.0.lock() = keys.to_vec();
    }

    fn read(&self) -> Vec<MasterKey> {
        self.0.lock().iter().map(|byte| MasterKey::from_bytes([*byte; 32])).collect()
    }

    /// A node that has read the file, and reads it again when it has to.
    fn node(&self, world: &World, store: Arc<dyn Store>) -> Engine {
        let again = self.clone();
        let vault = Vault::over(self.read(), Box::new(move || again.read()));
        Engine::new(store, Arc::new(world.clock.clone()), Ids::default(), vault, Settings::default())
    }
}

/// Asks a secret question with a resume point and answers it. The answer is not taken yet.
async fn given(node: &Engine, agent: &Caller, alice: &Caller, value: &str, keep: bool) -> InteractionId {
    let session = node.session_start(agent, holdpoint_engine::Start::default(), None).await.unwrap();
    let secret = json!({
        "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }], "fresh": true, "resume_point": value
    });
    let id = node.interaction_ask(agent, session.id, ask(secret), None).await.unwrap().id;
    let draft = AnswerDraft { keep, ..data(json!({ "TOKEN": value })) };
    node.interaction_answer(alice, id, draft, None).await.unwrap();
    id
}

/// Takes the answer, and asserts its secret and its resume point.
async fn takes(node: &Engine, agent: &Caller, id: InteractionId, value: &str) {
    let taken = node.delivery_take(agent, id, None, None).await.unwrap();
    assert_eq!((taken.secrets, taken.resume_point), (Some(json!({ "TOKEN": value })), Some(json!(value))));
    node.delivery_complete(agent, (id, taken.lease), None).await.unwrap();
}

/// Asks for the kept secret, and asserts that it answers the question.
async fn assert_kept_secret_answers(node: &Engine, agent: &Caller, value: &str) {
    let session = node.session_start(agent, holdpoint_engine::Start::default(), None).await.unwrap();
    let secret = json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }] });
    let id = node.interaction_ask(agent, session.id, ask(secret), None).await.unwrap().id;
    let taken = node.delivery_take(agent, id, None, None).await.unwrap();
    assert_eq!(taken.secrets, Some(json!({ "TOKEN": value })));
}

#[tokio::test]
async fn every_node_keeps_working_during_a_key_rotation() {
    let (world, file) = (World::new(), KeyFile::of(&[OLD]));
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let running = file.node(&world, Arc::clone(&world.store));
    running.check_master_key().await.unwrap();
    let before = given(&running, &agent, &alice, "before", true).await;

    file.becomes(&[NEW, OLD]);
    let rotating = file.node(&world, Arc::clone(&world.store));
    rotating.check_master_key().await.unwrap();
    let rotated = rotating.rotate_master_key().await.unwrap();
    assert_eq!(rotated, RotationReport { tenants: 1, values: 3, forgotten: 1 });
    file.becomes(&[NEW]);

    // The running node has not read the file since; the first data key of a new tenant needs the new master key.
    takes(&running, &agent, before, "before").await;
    let after = given(&running, &agent, &alice, "after", false).await;
    let (bot, bob) = (
        world.stranger("elsewhere", Role::Agent, "bot", &[]).await,
        world.stranger("elsewhere", Role::Operator, "bob", &[]).await,
    );
    let elsewhere = given(&running, &bot, &bob, "elsewhere", false).await;

    let started = file.node(&world, Arc::clone(&world.store));
    started.check_master_key().await.unwrap();
    takes(&started, &agent, after, "after").await;
    takes(&started, &bot, elsewhere, "elsewhere").await;
    assert_kept_secret_answers(&started, &agent, "before").await;
    let outdated = KeyFile::of(&[OLD]).node(&world, Arc::clone(&world.store));
    assert_eq!(outdated.check_master_key().await, Err(Error::Sealed));
    assert_eq!(
        outdated.rotate_master_key().await,
        Err(Error::Sealed),
        "a key that nobody knows is not put in force over another"
    );
}

/// API keys and idempotency records do not depend on the master key in force.
#[tokio::test]
async fn api_keys_and_idempotency_records_survive_a_key_rotation() {
    let (world, file) = (World::new(), KeyFile::of(&[OLD]));
    let root = world.caller(Role::Admin, "root").await;
    let node = file.node(&world, Arc::clone(&world.store));
    let idempotency = || Some(Idempotency::new("k".into(), "POST /v1/keys", b"{}"));
    let new = || NewKey::named(Role::Viewer, "dora");
    let made = node.key_create(&root, new(), idempotency()).await.unwrap();
    file.becomes(&[NEW, OLD]);
    file.node(&world, Arc::clone(&world.store)).rotate_master_key().await.unwrap();
    file.becomes(&[NEW]);
    for node in [node, file.node(&world, Arc::clone(&world.store))] {
        assert_eq!(
            node.key_create(&root, new(), idempotency()).await.unwrap(),
            made,
            "a repeated command returns the same key"
        );
        assert_eq!(node.authenticate(&made.1).await.unwrap().actor.name, "dora");
    }
}

#[tokio::test]
async fn key_rotations_can_be_repeated() {
    let (world, file) = (World::new(), KeyFile::of(&[OLD]));
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let node = file.node(&world, Arc::clone(&world.store));
    let id = given(&node, &agent, &alice, "first", true).await;
    for round in 1..=3 {
        file.becomes(&[OLD + round, OLD + round - 1]);
        let rotated = file.node(&world, Arc::clone(&world.store)).rotate_master_key().await.unwrap();
        assert_eq!(rotated, RotationReport { tenants: 1, values: 3, forgotten: 1 }, "round {round}");
        let again = file.node(&world, Arc::clone(&world.store)).rotate_master_key().await.unwrap();
        assert_eq!(again, RotationReport::default(), "round {round}: nothing is left to do");
    }
    takes(&node, &agent, id, "first").await;
    assert_eq!(rotations(&world, "default").await, [2, 3, 4], "the trail has each rotation once");
}

/// Numbers of the data keys in the rotation entries of a tenant's audit trail.
async fn rotations(world: &World, tenant: &str) -> Vec<u64> {
    let root = world.stranger(tenant, Role::Admin, "root", &[]).await;
    let filter = AuditFilter { name: Some("secrets.rotated".into()), ..AuditFilter::default() };
    let found = world.engine.audit_list(&root, filter, Page { after: None, limit: 100 }).await.unwrap().0;
    let told = found.iter().map(|audited| {
        let entry = &audited.entry;
        assert_eq!((entry.how.entry_point, entry.by.name.as_str()), (EntryPoint::Cli, "holdpoint"));
        assert!(entry.data["data_key"].is_string() && entry.data["master_key"].is_string(), "{entry:?}");
        entry.data["number"].as_u64().unwrap()
    });
    told.collect()
}

/// Interrupts a rotation at the `nth` step in the way that `end` says. Returns whether it was interrupted.
async fn rotation_is_interrupted(end: JobEnd, nth: usize) -> bool {
    let (world, file) = (World::new(), KeyFile::of(&[OLD]));
    let people = [
        (world.agent().await, world.person("alice").await),
        (
            world.stranger("elsewhere", Role::Agent, "bot", &[]).await,
            world.stranger("elsewhere", Role::Operator, "bob", &[]).await,
        ),
    ];
    let running = file.node(&world, Arc::clone(&world.store));
    running.check_master_key().await.unwrap();
    let mut waiting = Vec::new();
    for (agent, person) in &people {
        let first = given(&running, agent, person, "first", true).await;
        waiting.push((first, given(&running, agent, person, "second", false).await));
    }

    file.becomes(&[NEW, OLD]);
    let crashing = Arc::new(CrashStore::new(Arc::clone(&world.store)));
    let dying = file.node(&world, Arc::clone(&crashing) as Arc<dyn Store>);
    let mut steps = 0;
    let mut fated = |_: &mut Random| {
        steps += 1;
        if steps == nth { end } else { JobEnd::Done }
    };
    let doing = UseCase { future: Box::pin(dying.rotate_master_key()), sleeps: false };
    let ended = side_by_side(&crashing, vec![doing], &mut Random::seeded(1), &mut fated).await;
    let died = !matches!(ended.as_slice(), [Some(Ok(_))]);

    // Halfway through a rotation, both the running node and a new node can read everything.
    let started = file.node(&world, Arc::clone(&world.store));
    started.check_master_key().await.unwrap();
    takes(&running, &people[0].0, waiting[0].0, "first").await;
    takes(&started, &people[1].0, waiting[1].0, "first").await;
    assert_kept_secret_answers(&started, &people[0].0, "first").await;
    // A second run finishes the rotation, so that the old key can be given up.
    file.node(&world, Arc::clone(&world.store)).rotate_master_key().await.unwrap();
    file.becomes(&[NEW]);
    let started = file.node(&world, Arc::clone(&world.store));
    for ((agent, _), (_, second)) in people.iter().zip(&waiting) {
        takes(&started, agent, *second, "second").await;
        assert_kept_secret_answers(&started, agent, "first").await;
    }
    for tenant in ["default", "elsewhere"] {
        assert_eq!(rotations(&world, tenant).await, [2], "the trail has the rotation once, interrupted or not");
    }
    died
}

#[tokio::test]
async fn key_rotation_interrupted_at_any_step_loses_nothing() {
    for end in [JobEnd::DiesBeforeCall(1), JobEnd::DiesBeforeCall(4), JobEnd::DiesBeforeCommit, JobEnd::DiesBeforeReply]
    {
        let mut nth = 1;
        while rotation_is_interrupted(end, nth).await {
            nth += 1;
        }
        assert!(nth > 10, "{end:?}: a rotation has more than {nth} steps");
    }
}
