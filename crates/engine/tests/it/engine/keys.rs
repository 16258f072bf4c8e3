//! Tests creating, using, listing and revoking keys.

use domain::{AgentEnvironment, Call, Key, KeyId, Limit, Refusal, Role, SignedDuration, Verdict};
use holdpoint_engine::{Error, NewKey, Propose};
use serde_json::{Value, json};
use store::{KeyRecord, Page, StoreError};
use uuid::Uuid;

use crate::engine::world::{World, pointers, refusal};

fn new(role: Role) -> NewKey {
    NewKey { groups: vec!["ops".into()], ..NewKey::named(role, "alice") }
}

#[tokio::test]
async fn key_authenticates_its_caller() {
    let world = World::new();
    let root = world.caller(Role::Admin, "root").await;
    let (key, text) = world.engine.key_create(&root, new(Role::Operator), None).await.unwrap();
    let caller = world.engine.authenticate(&text).await.unwrap();
    assert_eq!(Some(caller.clone()), key.caller(world.engine.now()));
    assert_eq!(
        (caller.scope, caller.actor.name.as_str(), caller.groups),
        (root.scope, "alice", vec!["ops".to_owned()])
    );
    let listed = world.engine.key_list(&root, Page::first(200)).await.unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.contains(&key));
}

#[tokio::test]
async fn malformed_or_unknown_key_is_refused() {
    let world = World::new();
    let root = world.caller(Role::Admin, "root").await;
    let (_, text) = world.engine.key_create(&root, new(Role::Operator), None).await.unwrap();
    let other = format!("{}{}", &text[..text.len() - 1], if text.ends_with('0') { '1' } else { '0' });
    let unknown = format!("hp_{}_{}", "0".repeat(32), "0".repeat(64));
    for wrong in ["", "hp_", "hp_x_y", "alice", text.trim_start_matches("hp_"), &other, &unknown] {
        assert_eq!(world.engine.authenticate(wrong).await, Err(Error::Unauthenticated), "{wrong:?}");
    }
}

#[tokio::test]
async fn key_expires_to_the_second() {
    let world = World::new();
    let root = world.caller(Role::Admin, "root").await;
    let lifetime = Some(SignedDuration::from_secs(60));
    let (_, text) = world.engine.key_create(&root, NewKey { lifetime, ..new(Role::Viewer) }, None).await.unwrap();
    world.pass(59);
    world.engine.authenticate(&text).await.unwrap();
    world.pass(1);
    assert_eq!(world.engine.authenticate(&text).await, Err(Error::Unauthenticated));
}

#[tokio::test]
async fn revoked_key_is_refused_on_every_node_at_once() {
    let world = World::new();
    let other_node = world.another_engine([7; 32]);
    let root = world.caller(Role::Admin, "root").await;
    let (key, text) = world.engine.key_create(&root, new(Role::Operator), None).await.unwrap();
    world.engine.authenticate(&text).await.unwrap();
    other_node.authenticate(&text).await.unwrap();
    world.engine.key_revoke(&root, key.id).await.unwrap();
    assert_eq!(world.engine.authenticate(&text).await, Err(Error::Unauthenticated));
    assert_eq!(other_node.authenticate(&text).await, Err(Error::Unauthenticated));
    assert_eq!(refusal(world.engine.key_revoke(&root, key.id).await), Refusal::NotFound("key"));
}

#[tokio::test]
async fn last_use_of_a_key_is_recorded() {
    let world = World::new();
    let root = world.caller(Role::Admin, "root").await;
    let (key, text) = world.engine.key_create(&root, new(Role::Operator), None).await.unwrap();
    world.pass(90);
    world.engine.authenticate(&text).await.unwrap();
    world.engine.run_housekeeping_once().await.unwrap();
    let listed = world.engine.key_list(&root, Page::first(200)).await.unwrap();
    let used = listed.iter().find(|listed| listed.id == key.id).unwrap();
    assert_eq!(used.last_used_at, Some(world.engine.now()));
}

#[tokio::test]
async fn only_an_admin_of_the_same_project_manages_keys() {
    let world = World::new();
    let (alice, root) = (world.person("alice").await, world.caller(Role::Admin, "root").await);
    let forbidden = Refusal::RoleForbids { role: Role::Operator };
    let (key, _) = world.engine.key_create(&root, new(Role::Operator), None).await.unwrap();
    assert_eq!(refusal(world.engine.key_create(&alice, new(Role::Admin), None).await), forbidden);
    assert_eq!(refusal(world.engine.key_list(&alice, Page::first(200)).await), forbidden);
    assert_eq!(refusal(world.engine.key_revoke(&alice, key.id).await), forbidden);
    let stranger = world.stranger("other", Role::Admin, "root", &[]).await;
    assert_eq!(refusal(world.engine.key_revoke(&stranger, key.id).await), Refusal::NotFound("key"));
    assert_eq!(world.engine.key_list(&stranger, Page::first(200)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn keys_are_installed_by_name_and_invalid_names_are_refused() {
    let world = World::new();
    let (key, text) = world.engine.key_install("acme", "web", new(Role::Admin)).await.unwrap();
    assert_eq!(world.engine.authenticate(&text).await.unwrap().scope, key.scope);
    assert_eq!(world.engine.list_installed_keys("acme", "web").await.unwrap(), std::slice::from_ref(&key));
    assert_eq!(world.engine.list_installed_keys("acme", "other").await.unwrap(), []);
    assert_eq!(refusal(world.engine.key_uninstall("acme", "other", key.id).await), Refusal::NotFound("key"));
    world.engine.key_uninstall("acme", "web", key.id).await.unwrap();
    let bad = NewKey { user: Some("with space".into()), lifetime: Some(SignedDuration::ZERO), ..new(Role::Admin) };
    assert_eq!(pointers(world.engine.key_install("acme", "web", bad).await), ["/user", "/expires_in_seconds"]);
    let nobodys = NewKey { user: None, join_account: true, ..new(Role::Admin) };
    assert_eq!(pointers(world.engine.key_install("acme", "web", nobodys).await), ["/join_account"]);
    assert_eq!(pointers(world.engine.key_install("", "a b", new(Role::Admin)).await), ["/tenant", "/project"]);
}

/// A project has room for 10,000 keys, and a revoked key makes room. The list of all keys for the command line contains every page.
#[tokio::test]
async fn keys_of_a_project_are_limited() {
    let world = World::new();
    let root = world.caller(Role::Admin, "root").await;
    let (first, _) = world.engine.key_create(&root, new(Role::Agent), None).await.unwrap();
    let template = first.clone();
    let fill = move |tx: &mut dyn store::Tx| {
        (0..9_998_u128).try_for_each(|number| {
            let key = Key { id: KeyId::from_uuid(Uuid::from_u128(number)), ..template.clone() };
            tx.key_insert(&KeyRecord { key, hash: [0; 32] })
        })
    };
    store::transact::<_, StoreError, _>(world.store.as_ref(), fill).await.unwrap();
    let full = Refusal::LimitReached { limit: Limit::ProjectKeys, max: 10_000 };
    assert_eq!(refusal(world.engine.key_create(&root, new(Role::Agent), None).await), full);
    assert_eq!(refusal(world.engine.key_install("default", "default", new(Role::Agent)).await), full);
    world.engine.key_install("other", "default", new(Role::Agent)).await.unwrap();
    world.engine.key_revoke(&root, first.id).await.unwrap();
    world.engine.key_create(&root, new(Role::Agent), None).await.unwrap();
    let listed = world.engine.list_installed_keys("default", "default").await.unwrap();
    assert_eq!(listed.len(), 10_001);
    assert!(listed.is_sorted_by(|one, next| one.id > next.id), "every key is listed once, newest first");
}

/// The policy knows the tools of the client that a key names, and the root of its relative patterns. The agent of another key cannot claim either.
#[tokio::test]
async fn client_and_root_of_a_key_decide_how_its_calls_are_read() {
    const POLICY: &str = "version = 1\n[[rule]]\nname = \"look\"\ntools = [\"Bash\"]\ncommands = [\"git status\"]\nverdict = \"allow\"\n\
                          [[rule]]\nname = \"edit\"\ntools = [\"Edit\"]\nwrites = [\"src/**\"]\nverdict = \"allow\"\n";
    let world = World::new();
    let admin = world.caller(Role::Admin, "root").await;
    world.engine.policy_put(&admin, POLICY.into(), (None, None), None).await.unwrap();
    let environment = AgentEnvironment { client: Some("claude-code".into()), root: Some("/srv/app".into()) };
    let known = NewKey { environment: environment.clone(), ..NewKey::named(Role::Agent, "coder") };
    let (key, text) = world.engine.key_create(&admin, known, None).await.unwrap();
    assert_eq!(key.environment, environment);
    let coder = world.engine.authenticate(&text).await.unwrap();
    let stranger = world.caller(Role::Agent, "stranger").await;
    let edit = |path: &str| json!({ "file_path": path, "old_string": "a", "new_string": "b" });
    let cases = [
        ("Bash", json!({ "command": "git status 2>&1 | cat" }), Verdict::Ask, Verdict::Ask),
        ("Bash", json!({ "command": "[ 1 = 1 ] ; git status" }), Verdict::Ask, Verdict::Ask),
        ("Bash", json!({ "command": "git status" }), Verdict::Allow, Verdict::Allow),
        ("Bash", json!({ "command": "git status # all\n" }), Verdict::Allow, Verdict::Ask),
        ("Edit", edit("/srv/app/src/main.rs"), Verdict::Allow, Verdict::Ask),
        ("Edit", edit("/srv/other/src/main.rs"), Verdict::Ask, Verdict::Ask),
    ];
    for (tool, arguments, of_known, of_stranger) in cases {
        for (caller, expected) in [(&coder, of_known), (&stranger, of_stranger)] {
            let session = world.session(caller).await.id;
            let propose = Propose {
                call_id: "c".into(),
                call: Call { tool: tool.into(), arguments: arguments.clone() },
                context: Value::Null,
                expected_content: None,
                traceparent: None,
                deadline_seconds: None,
                repeatable: false,
                client: false,
            };
            let reply = world.engine.action_propose(caller, session, propose, None).await.unwrap();
            assert_eq!(reply.action.ruling.verdict, expected, "{tool} {arguments} by {}", caller.actor.name);
            assert_eq!(reply.action.environment, caller.environment);
        }
    }
}

/// An unknown client, a root that is not a plain absolute path, and either of them on the key of a person are refused.
#[tokio::test]
async fn unfit_environment_of_a_key_is_refused() {
    let world = World::new();
    let admin = world.caller(Role::Admin, "root").await;
    for (role, client, root, pointer) in [
        (Role::Agent, Some("Claude"), None, "/client"),
        (Role::Agent, None, Some("app"), "/root"),
        (Role::Agent, None, Some("/"), "/root"),
        (Role::Agent, None, Some("/srv/../etc"), "/root"),
        (Role::Operator, Some("claude-code"), None, "/role"),
    ] {
        let environment = AgentEnvironment { client: client.map(Into::into), root: root.map(Into::into) };
        let new = NewKey { environment, ..NewKey::named(role, "coder") };
        assert_eq!(pointers(world.engine.key_create(&admin, new, None).await), [pointer]);
    }
}
