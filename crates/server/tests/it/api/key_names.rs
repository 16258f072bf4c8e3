//! Tests that names are unique: a key gets the name of an account only if an admin joins it to that account.

use domain::{Refusal, Role};
use engine::{NewKey, NewUser};
use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::client::{ApiClient, reply, text};
use server_testkit::world::World;

/// Returns the accounts to which the keys of a name were joined, newest first.
async fn accounts(root: &ApiClient, name: &str) -> Vec<Value> {
    let trail = root.get("/v1/audit?limit=200").await.done();
    let entries = trail["entries"].as_array().unwrap();
    let of_keys = entries.iter().filter(|entry| entry["type"] == "key.created");
    of_keys
        .map(|entry| &entry["data"])
        .filter(|data| data["user"] == name)
        .map(|data| data["account"].clone())
        .collect()
}

/// The name of an account is refused in any letter case, unless `join_account` is true. The join works with idempotency
/// keys.
#[tokio::test]
async fn a_key_is_joined_to_an_account_only_on_request() {
    let world = World::new().await;
    let root = world.admin().await;
    root.post("/v1/users", json!({ "name": "alice", "role": "operator" })).await.done();
    let before = world.everything().await;
    for name in ["alice", "Alice", "ALICE"] {
        for unsaid in [
            json!({ "role": "viewer", "user": name }),
            json!({ "role": "viewer", "user": name, "join_account": false }),
        ] {
            let refused = root.post_once("k", "/v1/keys", unsaid).await;
            let refused = refused.refused_at(409, "name_taken", &["/join_account"]);
            assert!(text(&refused["title"]).contains("`join_account: true`"), "{refused}");
        }
    }
    assert_eq!(world.everything().await, before);

    let joined = json!({ "role": "operator", "user": "Alice", "join_account": true });
    let made = root.post_once("k", "/v1/keys", joined.clone()).await.done();
    assert_eq!((&made["user"], &made["role"]), (&json!("Alice"), &json!("operator")));
    assert_eq!(root.post_once("k", "/v1/keys", joined).await.done(), made);
    let listed = root.get("/v1/keys").await.done();
    let of_alice = listed["keys"].as_array().unwrap().iter().filter(|key| key["user"] == "Alice").count();
    assert_eq!(of_alice, 1, "{listed}");
    let accounts = accounts(&root, "Alice").await;
    assert!(accounts.len() == 1 && text(&accounts[0]).starts_with("usr_"), "{accounts:?}");
}

/// A join to an account that does not exist is refused, so that a misspelt name creates no key.
#[tokio::test]
async fn key_cannot_be_joined_to_an_absent_account() {
    let world = World::new().await;
    let root = world.admin().await;
    root.post("/v1/users", json!({ "name": "alice", "role": "operator" })).await.done();
    let before = world.everything().await;
    for body in [
        json!({ "role": "operator", "user": "alcie", "join_account": true }),
        json!({ "role": "operator", "join_account": true }),
    ] {
        root.post("/v1/keys", body).await.refused_at(422, "body_invalid", &["/join_account"]);
    }
    assert_eq!(world.everything().await, before);
}

/// An admin cannot join a key to a person of another project, nor to a person who was removed from the project.
#[tokio::test]
async fn key_cannot_be_joined_to_a_person_outside_the_project() {
    let world = World::new().await;
    let root = world.admin().await;
    let carol = NewUser { name: "carol".into(), display: None, role: Role::Viewer, groups: vec![], join_keys: false };
    world.engine.user_install("default", "web", carol).await.unwrap();
    let before = world.everything().await;
    let keys = [
        json!({ "role": "viewer", "user": "Carol" }),
        json!({ "role": "viewer", "user": "Carol", "join_account": true }),
    ];
    for body in &keys {
        let refused = root.post("/v1/keys", body.clone()).await.refused(409, "name_taken");
        assert_eq!(refused.get("errors"), None, "no field can make the request acceptable");
    }
    assert_eq!(world.everything().await, before);

    root.post("/v1/users", json!({ "name": "carol", "role": "viewer" })).await.done();
    root.post("/v1/keys", keys[1].clone()).await.done();
    assert_eq!(reply(root.request(Method::DELETE, "/v1/users/carol")).await.status, 204);
    let before = world.everything().await;
    for body in keys {
        root.post("/v1/keys", body).await.refused(409, "name_taken");
    }
    assert_eq!(world.everything().await, before);
}

/// A joined key may not exceed the role and groups of its person, because it would be revoked as soon as the person is
/// changed.
#[tokio::test]
async fn joined_key_cannot_exceed_the_rights_of_its_person() {
    let world = World::new().await;
    let root = world.admin().await;
    root.post("/v1/users", json!({ "name": "alice", "role": "operator", "groups": ["ops"] })).await.done();
    let before = world.everything().await;
    let joined =
        |role: &str, groups: &[&str]| json!({ "role": role, "user": "Alice", "groups": groups, "join_account": true });
    let check = async |role: Role, groups: &[&str], pointers: &[&str]| {
        root.post("/v1/keys", joined(role.name(), groups)).await.refused_at(422, "body_invalid", pointers);
        let groups = groups.iter().map(ToString::to_string).collect();
        let new = NewKey { groups, join_account: true, ..NewKey::named(role, "alice") };
        let installed = world.engine.key_install("default", "default", new).await;
        let Err(engine::Error::Refused(Refusal::QuestionInvalid(problems))) = installed else {
            panic!("{installed:?}")
        };
        assert_eq!(problems.iter().map(|problem| problem.pointer.as_str()).collect::<Vec<_>>(), pointers);
    };
    check(Role::Admin, &[], &["/role"]).await;
    check(Role::Operator, &["ops", "security"], &["/groups"]).await;
    check(Role::Admin, &["security"], &["/role", "/groups"]).await;
    assert_eq!(world.everything().await, before);
    for (role, groups) in [("operator", &["ops"][..]), ("operator", &[]), ("viewer", &["ops"]), ("agent", &[])] {
        root.post("/v1/keys", joined(role, groups)).await.done();
    }
}
