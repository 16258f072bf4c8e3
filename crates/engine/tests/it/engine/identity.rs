//! Tests identity, roles and groups at the moment of a change, on both stores.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::{Caller, Credential, Refusal, Role};
use holdpoint_engine::{Error, Idempotency, Identity, NewKey, NewUser, Password, UserChange};
use serde_json::{Value, json};
use store::{AuditFilter, Page, Store};
use store_postgres::{PostgresOptions, PostgresStore};
use testkit::postgres::TestPostgres;

use crate::engine::world::{SOON, World, choice, pointers, refusal};

const SECRET: &str = "correct horse battery";
const FROM: Option<IpAddr> = None;

fn new(name: &str, role: Role, groups: &[&str]) -> NewUser {
    let groups = groups.iter().map(|group| (*group).to_owned()).collect();
    NewUser { name: name.into(), display: None, role, groups, join_keys: false }
}

fn identity(name: &str, role: Role) -> Identity {
    let project = ("default".to_owned(), "default".to_owned());
    Identity { subject: format!("https://id#{}", name.to_lowercase()), name: name.into(), display: None, role, project }
}

fn groups(groups: &[&str]) -> UserChange {
    let groups = groups.iter().map(|group| (*group).to_owned()).collect();
    UserChange { groups: Some(groups), ..UserChange::default() }
}

impl World {
    async fn admin(&self) -> Caller {
        self.caller(Role::Admin, "root").await
    }

    /// A person of the default project who has signed in by a link and set a password.
    async fn signed_in_user(&self, name: &str, role: Role, groups: &[&str]) -> Caller {
        self.engine.user_install("default", "default", new(name, role, groups)).await.unwrap();
        let link = self.engine.user_link_install("default", "default", name).await.unwrap();
        let visit = self.engine.sign_in_link(&link, FROM).await.unwrap();
        let caller = self.engine.authenticate_visit(&visit).await.unwrap();
        self.engine.me_password(&caller, None, Password::from(SECRET.to_owned())).await.unwrap();
        caller
    }

    /// A key of a person who has an account.
    async fn key_of(&self, name: &str, role: Role, groups: &[&str]) -> Caller {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        let new = NewKey { groups, join_account: true, ..NewKey::named(role, name) };
        let (key, _) = self.engine.key_install("default", "default", new).await.unwrap();
        key.caller(self.engine.now()).unwrap()
    }

    /// Reads the types and data of the audit trail until `so` holds: PostgreSQL shows an entry only when no older transaction is running.
    async fn audit_trail_once(&self, by: &Caller, so: impl Fn(&[(String, Value)]) -> bool) -> Vec<(String, Value)> {
        let looking = async {
            loop {
                let page = Page { after: None, limit: 1000 };
                let trail = self.engine.audit_list(by, AuditFilter::default(), page).await.unwrap().0;
                let told: Vec<_> = trail.into_iter().map(|one| (one.entry.name, one.entry.data)).collect();
                if so(&told) {
                    return told;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(SOON, looking).await.unwrap()
    }

    async fn sign_in_through_provider(&self, name: &str, role: Role) -> Result<Caller, Error> {
        let visit = self.engine.sign_in_external(identity(name, role), FROM).await?;
        self.engine.authenticate_visit(&visit).await
    }
}

/// Runs a test on a fresh SQLite database and on a fresh PostgreSQL database.
fn on_both(story: impl AsyncFn(World)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(story(World::new()));
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let store = Arc::new(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    runtime.block_on(story(World::over(Arc::clone(&store) as Arc<dyn Store>)));
    store.close();
}

/// A caller authenticated before the key was revoked changes nothing afterwards, and does not see the result stored under an idempotency key.
async fn change_by_a_revoked_key(world: World) {
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let asked = world.ask(&agent, &session, json!({})).await;
    let idempotency = || Some(Idempotency::new("k".into(), "claim", b"{}"));
    world.engine.interaction_claim(&alice, asked.id, idempotency()).await.unwrap();
    let Credential::Key(key) = alice.credential else { unreachable!() };
    world.engine.key_uninstall("default", "default", key).await.unwrap();
    let out = Err(Error::Unauthenticated);
    assert_eq!(world.choose(&alice, asked.id, "confirm").await, out);
    assert_eq!(
        world.engine.interaction_claim(&alice, asked.id, idempotency()).await,
        out,
        "the earlier result is not shown either"
    );
    assert_eq!(world.engine.interaction_cancel(&alice, asked.id, None, None).await, out);
    assert_eq!(
        world.engine.session_start(&alice, holdpoint_engine::Start::default(), None).await.map(drop),
        Err(Error::Unauthenticated)
    );
    let unknown = domain::InteractionId::from_uuid(uuid::Uuid::nil());
    assert_eq!(world.choose(&alice, unknown, "confirm").await, out, "the refusal does not show what exists");
    assert_eq!(world.now(&agent, asked.id).await.revision, 2, "the question is unchanged");
}

#[test]
fn revoked_key_cannot_change_anything() {
    on_both(change_by_a_revoked_key);
}

/// Groups and memberships are read at the moment of the answer, not of the sign-in.
async fn groups_changed_after_sign_in(world: World) {
    let (root, agent) = (world.admin().await, world.agent().await);
    let bob = world.signed_in_user("bob", Role::Operator, &["security"]).await;
    let session = world.session(&agent).await;
    let for_security = json!({ "audience": { "quorum": 1, "named": { "groups": ["security"] } } });
    let asked = world.ask(&agent, &session, for_security).await;
    world.engine.user_change(&root, "bob", groups(&[])).await.unwrap();
    assert_eq!(bob.groups, ["security"], "the caller was authenticated before the change");
    assert_eq!(refusal(world.choose(&bob, asked.id, "confirm").await), Refusal::NotInAudience);
    let now = world.engine.recheck_caller(&bob).await.unwrap();
    assert_eq!((now.groups.len(), now.role, now.scope), (0, Role::Operator, bob.scope));
    world.engine.user_change(&root, "bob", groups(&["security", "ops"])).await.unwrap();
    world.engine.interaction_claim(&now, asked.id, None).await.unwrap();
    world.engine.user_disable(&root, "bob").await.unwrap();
    assert_eq!(world.choose(&bob, asked.id, "confirm").await, Err(Error::Unauthenticated));
}

#[test]
fn groups_are_read_at_the_moment_of_the_answer() {
    on_both(groups_changed_after_sign_in);
}

/// A key in a person's name is revoked if it has a group that the person has lost; a key that may do no more than the person stays.
async fn key_with_a_removed_group(world: World) {
    let root = world.admin().await;
    world.signed_in_user("carl", Role::Operator, &["security", "ops"]).await;
    let strong = world.key_of("Carl", Role::Operator, &["security"]).await;
    let weak = world.key_of("carl", Role::Viewer, &["ops"]).await;
    let other = world.stranger("default", Role::Operator, "carla", &["security"]).await;
    world.engine.user_change(&root, "carl", groups(&["ops"])).await.unwrap();
    assert_eq!(world.engine.recheck_caller(&strong).await, Err(Error::Unauthenticated));
    world.engine.recheck_caller(&weak).await.unwrap();
    world.engine.recheck_caller(&other).await.unwrap();
}

#[test]
fn key_of_a_person_is_revoked_when_the_person_loses_its_group() {
    on_both(key_with_a_removed_group);
}

/// When an identity provider lowers a role, keys and open browsers with the old role end.
async fn role_lowered_by_the_provider(world: World) {
    let olga = world.sign_in_through_provider("olga", Role::Operator).await.unwrap();
    let key = world.key_of("olga", Role::Operator, &[]).await;
    let again = world.sign_in_through_provider("olga", Role::Operator).await.unwrap();
    world.engine.recheck_caller(&olga).await.unwrap();
    world.engine.recheck_caller(&key).await.unwrap();
    let fallen = world.sign_in_through_provider("olga", Role::Viewer).await.unwrap();
    for gone in [olga, again, key] {
        assert_eq!(world.engine.recheck_caller(&gone).await, Err(Error::Unauthenticated));
    }
    assert_eq!(world.engine.recheck_caller(&fallen).await.unwrap().role, Role::Viewer);
    let root = world.admin().await;
    world.audit_trail_once(&root, |trail| trail.iter().any(|(name, _)| name == "user.changed")).await;
    world.audit_trail_once(&root, |trail| trail.iter().any(|(name, _)| name == "key.revoked")).await;
}

#[test]
fn role_lowered_by_the_provider_ends_keys_and_browser_sessions() {
    on_both(role_lowered_by_the_provider);
}

/// An admin who adds an account to a further project does not let in a person who controls that account in the first project.
async fn account_added_to_a_further_project(world: World) {
    let carol = world.signed_in_user("carol", Role::Viewer, &[]).await;
    let link = world.engine.user_link_install("default", "default", "carol").await.unwrap();
    let key = NewKey::named(Role::Admin, "boss");
    let boss = world.engine.key_install("default", "b", key).await.unwrap().0.caller(world.engine.now()).unwrap();
    let added = world.engine.user_create(&boss, new("Carol", Role::Admin, &[]), None).await.unwrap();
    assert_eq!(
        (added.existing, added.user.name.as_str()),
        (true, "carol"),
        "the admin learns that the account existed"
    );
    assert_eq!(world.engine.recheck_caller(&carol).await, Err(Error::Unauthenticated));
    let by_password =
        world.engine.sign_in_password(("default", "carol"), Password::from(SECRET.to_owned()), FROM).await;
    assert_eq!(by_password, Err(Error::SignInFailed));
    assert_eq!(world.engine.sign_in_link(&link, FROM).await, Err(Error::SignInFailed));
    for admin in [&boss, &world.admin().await] {
        let elsewhere = Refusal::UserElsewhere("carol".into());
        assert_eq!(refusal(world.engine.user_link(admin, "carol", None).await), elsewhere);
    }
    let link = world.engine.user_link_install("default", "b", "carol").await.unwrap();
    world.engine.sign_in_link(&link, FROM).await.unwrap();
    assert!(!world.engine.user_create(&boss, new("dora", Role::Viewer, &[]), None).await.unwrap().existing);

    // A visit that began while the person was disabled in the project ends when the person is enabled again.
    world.signed_in_user("erin", Role::Viewer, &[]).await;
    world.engine.user_create(&boss, new("erin", Role::Viewer, &[]), None).await.unwrap();
    world.engine.user_disable(&boss, "erin").await.unwrap();
    let (link, _) = world.engine.user_link(&world.admin().await, "erin", None).await.unwrap();
    let visit = world.engine.sign_in_link(&link, FROM).await.unwrap();
    let back = UserChange { disabled: Some(false), ..UserChange::default() };
    world.engine.user_change(&boss, "erin", back).await.unwrap();
    assert_eq!(world.engine.authenticate_visit(&visit).await, Err(Error::Unauthenticated));

    // An admin of one project cannot sign an admin of another out.
    world.signed_in_user("dave", Role::Admin, &[]).await;
    let taken = world.engine.user_create(&boss, new("dave", Role::Viewer, &[]), None).await;
    assert_eq!(refusal(taken), Refusal::UserElsewhere("dave".into()));
    let by_password = world.engine.sign_in_password(("default", "dave"), Password::from(SECRET.to_owned()), FROM).await;
    by_password.unwrap();
}

#[test]
fn joining_a_further_project_ends_links_passwords_and_sessions() {
    on_both(account_added_to_a_further_project);
}

/// A name belongs to its first owner: an identity provider's person does not get the name of a key or of another account, in any case.
async fn names(world: World) {
    world.person("alice").await;
    let agent = world.caller(Role::Agent, "release-bot").await;
    for name in ["alice", "ALICE", "Release-Bot"] {
        assert_eq!(refusal(world.sign_in_through_provider(name, Role::Viewer).await), Refusal::NameTaken(name.into()));
    }
    let Credential::Key(key) = agent.credential else { unreachable!() };
    world.engine.key_uninstall("default", "default", key).await.unwrap();
    let bot = world.sign_in_through_provider("Release-Bot", Role::Viewer).await.unwrap();
    assert_eq!(bot.actor.name, "Release-Bot", "the name of a revoked key is free again");

    let root = world.admin().await;
    let taken = world.engine.user_create(&root, new("Alice", Role::Operator, &[]), None).await;
    assert_eq!(refusal(taken), Refusal::NameTaken("Alice".into()));
    let joined = NewUser { join_keys: true, ..new("alice", Role::Operator, &[]) };
    world.engine.user_create(&root, joined, None).await.unwrap();
    let twice = world.engine.user_create(&root, new("ALICE", Role::Operator, &[]), None).await;
    assert_eq!(refusal(twice), Refusal::UserExists("ALICE".into()));
    assert_eq!(
        refusal(world.sign_in_through_provider("aLiCe", Role::Viewer).await),
        Refusal::NameTaken("aLiCe".into())
    );

    // A key gets the name of an account only with `join_account`, and the audit trail records the account.
    let unsaid = world.engine.key_create(&root, NewKey::named(Role::Operator, "Alice"), None).await;
    assert_eq!(refusal(unsaid), Refusal::NameOfAccount("Alice".into()));
    world.key_of("Alice", Role::Operator, &[]).await;
    let of_alice =
        |told: &&(String, Value)| told.0 == "key.created" && told.1["user"].as_str().unwrap().starts_with(['a', 'A']);
    let trail = world.audit_trail_once(&root, |trail| trail.iter().filter(of_alice).count() == 2).await;
    let joined: Vec<bool> = trail.iter().filter(of_alice).map(|(_, data)| data["account"].is_string()).collect();
    assert_eq!(joined, [false, true]);
}

#[test]
fn name_in_use_cannot_be_given_to_another_identity() {
    on_both(names);
}

/// An admin creates keys only for people of the project. The command line creates them for any person of the tenant, with
/// `join_account` as well.
async fn keys_named_after_people(world: World) {
    let root = world.admin().await;
    world.engine.user_install("default", "web", new("carol", Role::Viewer, &[])).await.unwrap();
    let bare = NewKey::named(Role::Viewer, "Carol");
    let joined = NewKey { join_account: true, ..bare.clone() };
    for key in [&bare, &joined] {
        let made = world.engine.key_create(&root, key.clone(), None).await;
        assert_eq!(refusal(made), Refusal::NameOutside("Carol".into()));
    }
    let installed = world.engine.key_install("default", "default", bare.clone()).await;
    assert_eq!(refusal(installed), Refusal::NameOfAccount("Carol".into()));
    assert_eq!(world.engine.list_installed_keys("default", "default").await.unwrap().len(), 1, "the chief's alone");
    world.engine.key_install("elsewhere", "default", bare.clone()).await.unwrap();
    assert_eq!(pointers(world.engine.key_install("elsewhere", "default", joined.clone()).await), ["/join_account"]);

    world.engine.key_install("default", "default", joined.clone()).await.unwrap();
    let member = NewUser { join_keys: true, ..new("carol", Role::Viewer, &[]) };
    world.engine.user_create(&root, member, None).await.unwrap();
    world.engine.key_create(&root, joined.clone(), None).await.unwrap();
    world.engine.user_disable(&root, "carol").await.unwrap();
    let out = world.engine.key_create(&root, joined, None).await;
    assert_eq!(refusal(out), Refusal::NameOutside("Carol".into()), "a disabled member gets no new key");
}

#[test]
fn keys_can_be_joined_to_people_of_the_project_only() {
    on_both(keys_named_after_people);
}

/// Of a key and an account created at one moment, only one gets the name. A key created while its person is disabled is not valid afterwards.
async fn names_requested_concurrently(world: World) {
    let root = world.admin().await;
    for round in 0..20 {
        let name = format!("racer-{round}");
        let (key, user) = tokio::join!(
            world.engine.key_create(&root, NewKey::named(Role::Viewer, name.as_str()), None),
            world.engine.user_create(&root, new(&name, Role::Viewer, &[]), None),
        );
        let became = (key.map(drop), user.map(drop));
        let key_was_first = (Ok(()), Err(Refusal::NameTaken(name.clone()).into()));
        let account_was_first = (Err(Refusal::NameOfAccount(name).into()), Ok(()));
        assert!(became == key_was_first || became == account_was_first, "{became:?}");
    }
    for round in 0..5 {
        let name = format!("leaver-{round}");
        world.engine.user_create(&root, new(&name, Role::Viewer, &[]), None).await.unwrap();
        let joined = NewKey { join_account: true, ..NewKey::named(Role::Viewer, name.as_str()) };
        let (key, out) =
            tokio::join!(world.engine.key_create(&root, joined, None), world.engine.user_disable(&root, &name));
        out.unwrap();
        match key {
            Ok((_, text)) => assert_eq!(world.engine.authenticate(&text).await, Err(Error::Unauthenticated)),
            Err(refused) => assert_eq!(refused, Refusal::NameOutside(name).into()),
        }
    }
}

#[test]
fn name_requested_concurrently_is_given_once() {
    on_both(names_requested_concurrently);
}

/// Words that mean Holdpoint itself in the records are refused as names.
#[tokio::test]
async fn reserved_names_are_refused() {
    let world = World::new();
    let root = world.admin().await;
    for word in ["system", "Scheduler", "HOLDPOINT", "policy", "worker", "timer", "Key_1"] {
        assert_eq!(pointers(world.engine.user_create(&root, new(word, Role::Viewer, &[]), None).await), ["/name"]);
        let key = NewKey::named(Role::Viewer, word);
        assert_eq!(pointers(world.engine.key_create(&root, key, None).await), ["/user"], "{word}");
        assert_eq!(pointers(world.sign_in_through_provider(word, Role::Viewer).await), ["/name"], "{word}");
    }
}

/// `alice` and `Alice` are one person: for a quorum, four eyes, the asker, claims, audiences and abstentions.
#[tokio::test]
async fn names_that_differ_only_in_case_are_one_person() {
    let world = World::new();
    let (agent, bob) = (world.agent().await, world.person("bob").await);
    let (alice, shouting) = (world.person("alice").await, world.person("Alice").await);
    let session = world.session_of_agent(&alice).await;
    let ask = async |by: &Caller, fields| world.ask(by, &session, fields).await.id;

    let two = ask(&agent, json!({ "audience": { "quorum": 2 } })).await;
    world.choose(&alice, two, "confirm").await.unwrap();
    assert_eq!(refusal(world.choose(&shouting, two, "confirm").await), Refusal::AlreadyVoted(two));

    let eyes = ask(&agent, json!({ "audience": { "quorum": 1, "four_eyes": true } })).await;
    assert_eq!(refusal(world.choose(&shouting, eyes, "confirm").await), Refusal::FourEyes);
    let own = ask(&alice, json!({})).await;
    assert_eq!(refusal(world.choose(&shouting, own, "confirm").await), Refusal::AskerCannotAnswer);
    let named = ask(&agent, json!({ "audience": { "quorum": 1, "named": { "users": ["ALICE"] } } })).await;
    assert_eq!(refusal(world.choose(&bob, named, "confirm").await), Refusal::NotInAudience);
    world.engine.interaction_claim(&alice, named, None).await.unwrap();
    world.choose(&shouting, named, "confirm").await.unwrap();

    let declined = ask(&agent, json!({})).await;
    world.engine.interaction_abstain(&alice, declined, None, None).await.unwrap();
    let again = world.engine.interaction_abstain(&shouting, declined, None, None).await;
    assert_eq!(refusal(again), Refusal::AlreadyAbstained(declined));
    let twice = json!({ "audience": { "quorum": 2, "named": { "users": ["alice", "Alice"] } } });
    assert_eq!(pointers(world.try_ask(&agent, &session, twice).await), ["/audience/users/1"]);
}

/// Ending a question early counts as an answer where the fallback approves, so it needs the right to answer.
#[tokio::test]
async fn expiring_to_an_approving_fallback_requires_the_right_to_answer() {
    let world = World::new();
    let (agent, outsider, root) = (world.agent().await, world.person("outsider").await, world.admin().await);
    let member = world.stranger("default", Role::Operator, "member", &["sec"]).await;
    let session = world.session(&agent).await;
    let ask = async |quorum: u32, fallback: Value| {
        let audience = json!({ "quorum": quorum, "named": { "groups": ["sec"] } });
        let fields = json!({ "audience": audience, "deadline_seconds": 60, "fallback": fallback });
        world.ask(&agent, &session, fields).await.id
    };
    let one = ask(1, json!({ "option": "confirm" })).await;
    let auto =
        |by, id, option| world.engine.interaction_auto(by, id, domain::AutoSource::AutoPolicy, choice(option), None);
    assert_eq!(refusal(world.engine.interaction_expire(&outsider, one, None).await), Refusal::NotInAudience);
    assert_eq!(refusal(world.engine.interaction_expire(&root, one, None).await), Refusal::NotInAudience);
    assert_eq!(refusal(auto(&root, one, "confirm").await), Refusal::NotInAudience);
    world.engine.interaction_expire(&member, one, None).await.unwrap();

    let two = ask(2, json!({ "option": "confirm" })).await;
    assert_eq!(refusal(world.engine.interaction_expire(&member, two, None).await), Refusal::NeedsOthers(two));
    let chief = world.stranger("default", Role::Admin, "chief", &["sec"]).await;
    assert_eq!(refusal(auto(&chief, two, "confirm").await), Refusal::NeedsOthers(two));
    auto(&root, two, "cancel").await.unwrap();

    let denied = ask(2, json!("deny")).await;
    world.engine.interaction_expire(&outsider, denied, None).await.unwrap();
    let timed = ask(2, json!({ "option": "confirm" })).await;
    world.pass(61);
    world.engine.fire_due().await.unwrap();
    assert_eq!(
        world.now(&agent, timed).await.status(),
        domain::Status::AutoResolved,
        "the timers need no right to answer"
    );
}
