//! Tests signing in and out, members of a project, links and passwords.

use std::net::IpAddr;

use domain::{Caller, Credential, Limit, ProjectId, Refusal, Role, SignedDuration, User, UserId};
use holdpoint_engine::{Error, Identity, Me, NewUser, Password, PasswordState, UserChange};
use serde_json::{Value, json};
use store::{AuditFilter, Page};
use uuid::Uuid;

use crate::engine::world::{World, pointers, refusal};

const SECRET: &str = "correct horse battery";
const FROM: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(10, 1, 2, 3)));

fn new(name: &str, role: Role) -> NewUser {
    NewUser { name: name.into(), display: None, role, groups: vec!["ops".into()], join_keys: false }
}

fn password(text: &str) -> Password {
    Password::from(text.to_owned())
}

fn identity(name: &str, subject: &str, role: Role) -> Identity {
    let project = ("default".to_owned(), "default".to_owned());
    Identity { subject: subject.into(), name: name.into(), display: Some("Olga".into()), role, project }
}

impl World {
    async fn root(&self) -> Caller {
        self.caller(Role::Admin, "root").await
    }

    async fn add_user(&self, name: &str, role: Role) -> User {
        self.engine.user_create(&self.root().await, new(name, role), None).await.unwrap().user
    }

    async fn by_link(&self, name: &str) -> Result<String, Error> {
        let (link, _) = self.engine.user_link(&self.root().await, name, None).await.unwrap();
        self.engine.sign_in_link(&link, FROM).await
    }

    async fn by_password(&self, name: &str, text: &str) -> Result<String, Error> {
        self.engine.sign_in_password(("default", name), password(text), FROM).await
    }

    /// Signs in a new person who sets a password.
    async fn sign_in_with_new_password(&self, name: &str, role: Role) -> String {
        self.add_user(name, role).await;
        let visit = self.by_link(name).await.unwrap();
        self.engine.me_password(&self.visitor(&visit).await, None, password(SECRET)).await.unwrap();
        visit
    }

    /// Signs in by a link a person who was added to a further project, and sets the password again.
    async fn sign_in_and_set_password_again(&self, name: &str) -> String {
        let link = self.engine.user_link_install("default", "default", name).await.unwrap();
        let visit = self.engine.sign_in_link(&link, FROM).await.unwrap();
        self.engine.me_password(&self.visitor(&visit).await, None, password(SECRET)).await.unwrap();
        visit
    }

    async fn visitor(&self, visit: &str) -> Caller {
        self.engine.authenticate_visit(visit).await.unwrap()
    }

    async fn signed_out(&self, visit: &str) -> bool {
        self.engine.authenticate_visit(visit).await == Err(Error::Unauthenticated)
    }

    /// Type, actor and data of the audit entries about people.
    async fn audit_entries_about_people(&self) -> Vec<(String, String, Value)> {
        let page = Page { after: None, limit: 1000 };
        let trail = self.engine.audit_list(&self.root().await, AuditFilter::default(), page).await.unwrap().0;
        let people = trail.into_iter().map(|audited| audited.entry).filter(|entry| entry.name.starts_with("user."));
        people.map(|entry| (entry.name, entry.by.name, entry.data)).collect()
    }
}

#[tokio::test]
async fn person_signs_in_by_a_single_use_link_and_later_by_password() {
    let world = World::new();
    let user = world.add_user("alice", Role::Operator).await;
    let (link, expires_at) = world.engine.user_link(&world.root().await, "alice", None).await.unwrap();
    assert_eq!(expires_at, world.engine.now() + SignedDuration::from_mins(15));
    assert_eq!(world.by_password("alice", SECRET).await, Err(Error::SignInFailed), "the account has no password yet");
    let visit = world.engine.sign_in_link(&link, FROM).await.unwrap();
    assert_eq!(world.engine.sign_in_link(&link, FROM).await, Err(Error::SignInFailed), "the link was used");
    let alice = world.visitor(&visit).await;
    assert_eq!(
        (alice.actor.clone(), alice.role, alice.groups.clone()),
        (user.actor(), Role::Operator, vec!["ops".into()])
    );

    world.engine.me_password(&alice, None, password(SECRET)).await.unwrap();
    let again = world.engine.me_password(&alice, None, password("another long one")).await;
    assert_eq!(pointers(again), ["/old"], "once");
    let second = world.by_password("alice", SECRET).await.unwrap();
    let wrong = world.engine.me_password(&alice, Some(password("no")), password("another long one")).await;
    assert_eq!(refusal(wrong), Refusal::PasswordWrong);
    let short = world.engine.me_password(&alice, Some(password(SECRET)), password("short")).await;
    assert_eq!(pointers(short), ["/new"]);
    world.engine.me_password(&alice, Some(password(SECRET)), password("another long one")).await.unwrap();
    assert!(world.signed_out(&second).await, "other browsers are signed out");
    assert!(!world.signed_out(&visit).await);
    assert_eq!(world.by_password("alice", SECRET).await, Err(Error::SignInFailed));
    world.by_password("alice", "another long one").await.unwrap();
}

#[tokio::test]
async fn unknown_users_and_wrong_passwords_are_indistinguishable() {
    let world = World::new();
    world.sign_in_with_new_password("alice", Role::Operator).await;
    let tries = [
        ("default", "alice", "wrong password"),
        ("default", "nobody", SECRET),
        ("elsewhere", "alice", SECRET),
        ("default", "a\0b", SECRET),
        ("default", "", SECRET),
    ];
    for (tenant, name, text) in tries {
        let tried = world.engine.sign_in_password((tenant, name), password(text), FROM).await;
        assert_eq!(tried, Err(Error::SignInFailed), "{name} of {tenant}");
    }
    let failed: Vec<_> = world
        .audit_entries_about_people()
        .await
        .into_iter()
        .filter(|(name, ..)| name == "user.sign_in_failed")
        .collect();
    let tried = |user: Value| json!({ "user": user, "way": "password" });
    assert_eq!(
        failed,
        [
            ("user.sign_in_failed".into(), "holdpoint".into(), tried(json!("alice"))),
            ("user.sign_in_failed".into(), "holdpoint".into(), tried(Value::Null)),
        ],
        "a name without an account is not recorded, and an unknown tenant has no trail"
    );
}

#[tokio::test]
async fn malformed_or_unknown_browser_credential_is_refused() {
    let world = World::new();
    let visit = world.sign_in_with_new_password("alice", Role::Operator).await;
    let other = format!("{}{}", &visit[..visit.len() - 1], if visit.ends_with('0') { '1' } else { '0' });
    let unknown = format!("hpv_{}_{}", "0".repeat(32), "0".repeat(64));
    for wrong in ["", "hpv_", &visit[1..], &other, &unknown, &visit.replace("hpv_", "hp_")] {
        assert_eq!(world.engine.authenticate_visit(wrong).await, Err(Error::Unauthenticated), "{wrong}");
        assert_eq!(world.engine.sign_in_link(wrong, None).await, Err(Error::SignInFailed), "{wrong}");
    }
    assert_eq!(world.engine.authenticate(&visit).await, Err(Error::Unauthenticated), "a visit is not a key");
}

#[tokio::test]
async fn browser_session_ends_when_unused_and_after_a_week() {
    let world = World::new();
    let (used, unused) = (
        world.sign_in_with_new_password("alice", Role::Viewer).await,
        world.by_password("alice", SECRET).await.unwrap(),
    );
    for _ in 0..15 {
        world.pass(11 * 3600);
        world.visitor(&used).await;
        world.engine.run_housekeeping_once().await.unwrap();
    }
    assert!(world.signed_out(&unused).await);
    world.pass(3 * 3600);
    assert!(world.signed_out(&used).await, "after 168 hours");
}

#[tokio::test]
async fn sign_in_link_expires() {
    let world = World::new();
    world.add_user("alice", Role::Viewer).await;
    let (link, _) = world.engine.user_link(&world.root().await, "alice", None).await.unwrap();
    world.pass(15 * 60);
    assert_eq!(world.engine.sign_in_link(&link, FROM).await, Err(Error::SignInFailed));
}

#[tokio::test]
async fn signing_out_ends_one_browser_session() {
    let world = World::new();
    let (first, second) = (
        world.sign_in_with_new_password("alice", Role::Viewer).await,
        world.by_password("alice", SECRET).await.unwrap(),
    );
    let alice = world.visitor(&first).await;
    world.engine.sign_out(&alice).await.unwrap();
    assert!(world.signed_out(&first).await && !world.signed_out(&second).await);
    assert_eq!(world.engine.sign_out(&alice).await, Err(Error::Unauthenticated));
    assert_eq!(world.engine.recheck_caller(&alice).await, Err(Error::Unauthenticated), "a stream ends as well");
    assert_eq!(refusal(world.engine.sign_out(&world.root().await).await), Refusal::NeedsSignIn);
}

#[tokio::test]
async fn disabled_user_is_signed_out_at_once_and_needs_a_new_link() {
    let world = World::new();
    let visit = world.sign_in_with_new_password("alice", Role::Operator).await;
    let (alice, root) = (world.visitor(&visit).await, world.root().await);
    let (link, _) = world.engine.user_link(&root, "alice", None).await.unwrap();
    world.engine.user_disable(&root, "alice").await.unwrap();
    assert!(world.signed_out(&visit).await);
    assert_eq!(world.engine.recheck_caller(&alice).await, Err(Error::Unauthenticated));
    assert_eq!(world.by_password("alice", SECRET).await, Err(Error::SignInFailed));
    assert_eq!(world.engine.sign_in_link(&link, FROM).await, Err(Error::SignInFailed));
    assert_eq!(refusal(world.engine.user_disable(&root, "alice").await), Refusal::NotFound("user"));
    assert_eq!(refusal(world.engine.user_link(&root, "alice", None).await), Refusal::NotFound("user"));
    let listed = world.engine.user_list(&root, None, 200).await.unwrap();
    assert_eq!(listed[0].memberships[0].disabled_at, Some(world.engine.now()));

    world.add_user("alice", Role::Viewer).await;
    assert_eq!(world.by_password("alice", SECRET).await, Err(Error::SignInFailed), "the old password is void");
    let back = world.visitor(&world.by_link("alice").await.unwrap()).await;
    assert_eq!(back.role, Role::Viewer);
}

#[tokio::test]
async fn only_an_admin_of_the_project_manages_its_people() {
    let world = World::new();
    world.add_user("alice", Role::Operator).await;
    let (bob, root) = (world.person("bob").await, world.root().await);
    let forbidden = Refusal::RoleForbids { role: Role::Operator };
    assert_eq!(refusal(world.engine.user_create(&bob, new("eve", Role::Admin), None).await), forbidden);
    assert_eq!(refusal(world.engine.user_list(&bob, None, 200).await), forbidden);
    assert_eq!(refusal(world.engine.user_disable(&bob, "alice").await), forbidden);
    assert_eq!(refusal(world.engine.user_link(&bob, "alice", None).await), forbidden);
    let stranger = world.stranger("other", Role::Admin, "root", &[]).await;
    for name in ["alice", "nobody", "a\0b"] {
        assert_eq!(refusal(world.engine.user_disable(&stranger, name).await), Refusal::NotFound("user"));
        assert_eq!(refusal(world.engine.user_link(&stranger, name, None).await), Refusal::NotFound("user"));
    }
    assert_eq!(world.engine.user_list(&stranger, None, 200).await.unwrap(), []);
    let twice = world.engine.user_create(&root, new("alice", Role::Admin), None).await;
    assert_eq!(refusal(twice), Refusal::UserExists("alice".into()));
    let namesake = world.engine.user_create(&stranger, new("alice", Role::Admin), None).await.unwrap();
    assert_eq!(world.engine.user_list(&stranger, None, 200).await.unwrap(), [namesake.user]);
    let bad = NewUser { display: Some("\u{202E}".into()), ..new("holdpoint", Role::Agent) };
    assert_eq!(pointers(world.engine.user_create(&root, bad, None).await), ["/name", "/display", "/role"]);
}

/// A link signs its holder in as the person in all projects, so an admin of one project must not become an admin of another by it.
#[tokio::test]
async fn only_an_admin_of_all_projects_of_a_person_creates_a_link() {
    let world = World::new();
    let root = world.root().await;
    world.sign_in_with_new_password("carol", Role::Admin).await;
    world.engine.user_install("default", "web", new("carol", Role::Admin)).await.unwrap();
    world.engine.user_install("default", "web", new("dave", Role::Admin)).await.unwrap();
    let carol = world.sign_in_and_set_password_again("carol").await;
    assert_eq!(refusal(world.engine.user_link(&root, "carol", None).await), Refusal::UserElsewhere("carol".into()));
    let dave = world.engine.user_link_install("default", "web", "dave").await.unwrap();
    let dave = world.visitor(&world.engine.sign_in_link(&dave, None).await.unwrap()).await;
    assert_eq!(refusal(world.engine.user_link(&dave, "carol", None).await), Refusal::UserElsewhere("carol".into()));
    world.engine.user_link(&world.visitor(&carol).await, "carol", None).await.unwrap();

    world.engine.user_disable(&dave, "carol").await.unwrap();
    assert!(!world.signed_out(&carol).await, "she stays signed in for the other project");
    world.by_password("carol", SECRET).await.unwrap();
}

#[tokio::test]
async fn browser_session_belongs_to_one_project_at_a_time() {
    let world = World::new();
    world.sign_in_with_new_password("alice", Role::Operator).await;
    let there = world.engine.user_install("default", "web", new("alice", Role::Viewer)).await.unwrap();
    let project = there.user.memberships[0].project;
    let visit = world.sign_in_and_set_password_again("alice").await;
    let alice = world.visitor(&visit).await;
    let elsewhere = world.stranger("other", Role::Admin, "root", &[]).await.scope.project;
    for unknown in [elsewhere, ProjectId::from_uuid(uuid::Uuid::nil())] {
        let moved = world.engine.me_project(&alice, unknown).await;
        assert_eq!(refusal(moved), Refusal::NotFound("project"));
    }
    world.engine.me_project(&alice, project).await.unwrap();
    let moved = world.visitor(&visit).await;
    assert_eq!((moved.scope.project, moved.role), (project, Role::Viewer));
    world.engine.recheck_caller(&alice).await.unwrap();
    let Me { tenant, projects, password, user } = world.engine.me_get(&moved).await.unwrap();
    let places: Vec<_> = projects.iter().map(|project| (project.name.as_str(), project.role)).collect();
    assert_eq!((tenant.as_str(), places), ("default", vec![("default", Role::Operator), ("web", Role::Viewer)]));
    assert_eq!((password, user.map(|user| user.name)), (Some(PasswordState::Known), Some("alice".into())));
    let key = world.engine.me_get(&world.root().await).await.unwrap();
    assert_eq!((key.user, key.projects.len(), key.password), (None, 1, None));
    assert_eq!(refusal(world.engine.me_project(&world.root().await, project).await), Refusal::NeedsSignIn);
}

#[tokio::test]
async fn first_link_signs_in_the_first_admin_until_someone_has_signed_in() {
    let world = World::new();
    let first = world.engine.create_first_link().await.unwrap().unwrap();
    let second = world.engine.create_first_link().await.unwrap().unwrap();
    assert_eq!(
        world.engine.sign_in_link(&first, None).await,
        Err(Error::SignInFailed),
        "only the newest link is valid"
    );
    let admin = world.visitor(&world.engine.sign_in_link(&second, None).await.unwrap()).await;
    assert_eq!((admin.actor.name.as_str(), admin.role), ("admin", Role::Admin));
    assert_eq!(world.engine.create_first_link().await, Ok(None));
}

#[tokio::test]
async fn provider_signs_in_a_person_but_cannot_take_a_name_in_use() {
    let world = World::new();
    world.add_user("alice", Role::Viewer).await;
    let stolen = world.engine.sign_in_external(identity("alice", "https://id#1", Role::Admin), FROM).await;
    assert_eq!(refusal(stolen), Refusal::NameTaken("alice".into()));
    let olga = world.engine.sign_in_external(identity("olga", "https://id#1", Role::Operator), FROM).await.unwrap();
    assert_eq!(world.visitor(&olga).await.role, Role::Operator);
    let renamed = world.engine.sign_in_external(identity("alice", "https://id#1", Role::Viewer), FROM).await.unwrap();
    let renamed = world.visitor(&renamed).await;
    assert_eq!((renamed.actor.name.as_str(), renamed.role), ("olga", Role::Viewer), "the same person, another role");
    assert_eq!(pointers(world.engine.me_password(&renamed, None, password(SECRET)).await), ["/new", "/old"]);
    world.engine.user_disable(&world.root().await, "olga").await.unwrap();
    let out = world.engine.sign_in_external(identity("olga", "https://id#1", Role::Admin), FROM).await;
    assert_eq!(out, Err(Error::SignInFailed));
}

#[tokio::test]
async fn sign_in_events_are_in_the_audit_trail() {
    let world = World::new();
    let visit = world.sign_in_with_new_password("alice", Role::Operator).await;
    let alice = world.visitor(&visit).await;
    assert_eq!(world.by_password("alice", "wrong").await, Err(Error::SignInFailed));
    world.engine.sign_out(&alice).await.unwrap();
    world.engine.user_disable(&world.root().await, "alice").await.unwrap();
    let told: Vec<_> = world.audit_entries_about_people().await.into_iter().map(|(name, by, _)| (name, by)).collect();
    let expected = [
        ("user.added", "root"),
        ("user.link_made", "root"),
        ("user.signed_in", "alice"),
        ("user.password_changed", "alice"),
        ("user.sign_in_failed", "holdpoint"),
        ("user.signed_out", "alice"),
        ("user.disabled", "root"),
    ];
    assert_eq!(told, expected.map(|(name, by)| (name.to_owned(), by.to_owned())));
    let page = Page { after: None, limit: 1000 };
    let trail = world.engine.audit_list(&world.root().await, AuditFilter::default(), page).await.unwrap().0;
    let signed_in = trail.iter().find(|audited| audited.entry.name == "user.signed_in").unwrap();
    let Credential::Visit(id) = alice.credential else { unreachable!() };
    assert_eq!((signed_in.entry.how.visit, signed_in.entry.how.from), (Some(id), FROM));
    let text = format!("{trail:?}");
    assert!(!text.contains(SECRET) && !text.contains("argon2") && !text.contains("hpl_"), "{text}");
}

#[tokio::test]
async fn repeated_command_creates_one_person_and_one_link() {
    let world = World::new();
    let root = world.root().await;
    let idempotency = |name: &str| Some(holdpoint_engine::Idempotency::new(name.into(), "POST /v1/users", b"{}"));
    let first = world.engine.user_create(&root, new("alice", Role::Viewer), idempotency("a")).await.unwrap();
    assert_eq!(world.engine.user_create(&root, new("alice", Role::Viewer), idempotency("a")).await, Ok(first));
    let link = world.engine.user_link(&root, "alice", idempotency("b")).await.unwrap();
    assert_eq!(world.engine.user_link(&root, "alice", idempotency("b")).await, Ok(link.clone()));
    world.engine.sign_in_link(&link.0, None).await.unwrap();
}

/// A project has room for 10,000 people. A disabled person makes room, and is enabled again only where there is room.
#[tokio::test]
async fn people_of_a_project_are_limited() {
    let world = World::new();
    let (root, alice) = (world.root().await, world.add_user("alice", Role::Viewer).await);
    let (scope, template) = (root.scope, alice);
    let fill = move |tx: &mut dyn store::Tx| {
        (0..9_999_u128).try_for_each(|number| {
            let id = UserId::from_uuid(Uuid::from_u128(number));
            tx.user_insert(&User { id, name: format!("person-{number}"), ..template.clone() })?;
            tx.membership_save(&scope, id, &template.memberships[0])
        })
    };
    store::transact::<_, store::StoreError, _>(world.store.as_ref(), fill).await.unwrap();
    let full = Refusal::LimitReached { limit: Limit::ProjectPeople, max: 10_000 };
    assert_eq!(refusal(world.engine.user_create(&root, new("bob", Role::Viewer), None).await), full);
    world.engine.user_disable(&root, "alice").await.unwrap();
    world.engine.user_create(&root, new("bob", Role::Viewer), None).await.unwrap();
    let back = UserChange { disabled: Some(false), ..UserChange::default() };
    assert_eq!(refusal(world.engine.user_change(&root, "alice", back).await), full);
}
