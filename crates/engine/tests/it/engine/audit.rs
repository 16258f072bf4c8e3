//! Tests the audit trail: the entries of each use case, and that exports verify.

use domain::audit::verify::{Demands, ExportFinding, Fault, Report, verify};
use domain::{AnswerDraft, Caller, Command, Credential, Effect, EntryPoint, KeyId, Role, Session, SignedDuration};
use holdpoint_engine::{AuditRecord, Export, ExportRange, Idempotency, NewKey, Settings};
use serde_json::{Value, json};
use store::{AuditFilter, Page};

use crate::engine::world::{World, choice, data, refusal};

const ALL: Page<u64> = Page { after: None, limit: 1000 };
const MARKER: &str = "hunter2-marker";

impl World {
    async fn trail(&self, filter: AuditFilter) -> Vec<AuditRecord> {
        let auditor = self.caller(Role::Admin, "auditor").await;
        self.engine.audit_list(&auditor, filter, ALL).await.unwrap().0
    }

    async fn trail_of(&self, session: &Session) -> Vec<AuditRecord> {
        self.trail(AuditFilter { session: Some(session.id), ..AuditFilter::default() }).await
    }

    /// Last entry of a session. Asserts its type.
    async fn last(&self, session: &Session, name: &str) -> domain::audit::Entry {
        let entry = self.trail_of(session).await.pop().unwrap().entry;
        assert_eq!(entry.name, name);
        entry
    }

    async fn exported(&self, by: &Caller, wanted: ExportRange) -> String {
        text(self.engine.audit_export(by, wanted).await.unwrap()).await
    }
}

fn key_of(caller: &Caller) -> KeyId {
    let Credential::Key(key) = caller.credential else { unreachable!("{caller:?} has no key") };
    key
}

async fn text(mut export: Export) -> String {
    let mut text = String::new();
    while let Some(lines) = export.next().await.unwrap() {
        text += &lines;
    }
    text
}

fn verified(text: &str) -> Result<Report, ExportFinding> {
    verify(text.split_inclusive('\n').map(|line| line.as_bytes().to_vec()), &Demands::default())
}

/// Verifies an export that need not begin at the first entry.
fn verified_part(text: &str) -> Result<Report, ExportFinding> {
    let partial = Demands { partial: true, ..Demands::default() };
    verify(text.split_inclusive('\n').map(|line| line.as_bytes().to_vec()), &partial)
}

fn action() -> Value {
    json!({ "kind": "approval", "action": { "tool": "deploy", "arguments": { "version": "1.4" } } })
}

/// A session with one of each use case has one audit entry for each event, and no other entries.
#[tokio::test]
async fn every_use_case_appends_one_audit_entry_for_each_event() {
    let world = World::new();
    let (agent, alice, root) =
        (world.agent().await, world.person("alice").await, world.caller(Role::Admin, "root").await);
    let session = world.session(&agent).await;
    let one = world.ask(&agent, &session, action()).await;
    world.engine.interaction_claim(&alice, one.id, None).await.unwrap();
    world.engine.interaction_release(&alice, one.id, None).await.unwrap();
    world.choose(&alice, one.id, "approve").await.unwrap();
    let taken = world.engine.delivery_take(&agent, one.id, Some(60), None).await.unwrap();
    world.engine.delivery_heartbeat(&agent, (one.id, taken.lease), Some(60), None).await.unwrap();
    world.engine.delivery_fail(&agent, (one.id, taken.lease), "not now".into(), true, None).await.unwrap();
    let taken = world.engine.delivery_take(&agent, one.id, Some(60), None).await.unwrap();
    world.engine.delivery_complete(&agent, (one.id, taken.lease), None).await.unwrap();
    let two = world.ask(&agent, &session, json!({ "audience": { "quorum": 2 } })).await;
    world.choose(&alice, two.id, "confirm").await.unwrap();
    world.engine.interaction_cancel(&agent, two.id, None, None).await.unwrap();
    let three = world.ask(&agent, &session, json!({})).await;
    world.engine.interaction_expire(&alice, three.id, None).await.unwrap();
    let four = world.ask(&agent, &session, json!({})).await;
    world
        .engine
        .interaction_auto(&root, four.id, domain::AutoSource::AutoPolicy, choice("confirm"), None)
        .await
        .unwrap();
    world.ask(&agent, &session, json!({ "deadline_seconds": 120, "fallback": "deny" })).await;
    world.pass(200);
    world.engine.fire_due().await.unwrap();
    world.control(&alice, session.id, Command::Pause).await.unwrap();
    world.control(&alice, session.id, Command::Resume).await.unwrap();
    world.ask(&agent, &session, json!({})).await;
    world.control(&alice, session.id, Command::Cancel).await.unwrap();

    let events = world.events(&agent, session.id).await;
    let trail = world.trail_of(&session).await;
    let told: Vec<_> = trail.iter().map(|audited| (audited.entry.event.unwrap(), audited.entry.name.clone())).collect();
    let happened: Vec<_> = (1..).zip(events).collect();
    assert_eq!(told, happened);
    assert!(happened.len() >= 20, "{happened:?}");
    assert!(trail.windows(2).all(|pair| pair[0].seq < pair[1].seq));
}

/// The audit entry of an edit names the person, the key and the address, and contains both versions of the arguments.
#[tokio::test]
async fn entry_of_an_edit_has_both_versions_of_the_arguments() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let alice = Caller { from: Some([10, 1, 2, 3].into()), ..alice };
    let session = world.session(&agent).await;
    let question = world.ask(&agent, &session, action()).await;
    let asked = world.last(&session, "interaction.asked").await;
    assert_eq!(asked.data["action"], json!({ "tool": "deploy", "arguments": { "version": "1.4" } }));
    assert_eq!(
        (asked.by.clone(), asked.how.entry_point, asked.how.key),
        (agent.actor.clone(), EntryPoint::Http, Some(key_of(&agent)))
    );
    let edit = AnswerDraft {
        effect: Some(Effect::Edit),
        arguments: Some(json!({ "version": "1.5" })),
        feedback: Some("1.4 is broken".into()),
        ..AnswerDraft::default()
    };
    world.engine.interaction_answer(&alice, question.id, edit, None).await.unwrap();
    let answered = world.last(&session, "interaction.answered").await;
    assert_eq!(answered.data["action"]["arguments"], json!({ "version": "1.4" }));
    assert_eq!(answered.data["answer"]["arguments"], json!({ "version": "1.5" }));
    assert_eq!(answered.data["answer"]["feedback"], json!("1.4 is broken"));
    assert_eq!(
        (answered.by, answered.how.key, answered.how.from),
        (alice.actor.clone(), Some(key_of(&alice)), alice.from)
    );
    assert_eq!((answered.interaction, answered.at), (Some(question.id), world.engine.now()));
}

/// The fallback at a deadline is recorded as Holdpoint's own; votes and form data are recorded as given.
#[tokio::test]
async fn automatic_resolutions_votes_and_form_data_are_recorded() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let form = json!({ "kind": "form", "schema": { "type": "object" }, "audience": { "quorum": 2 } });
    let question = world.ask(&agent, &session, form).await;
    world.engine.interaction_answer(&alice, question.id, data(json!({ "colour": "blue" })), None).await.unwrap();
    let voted = world.last(&session, "interaction.voted").await;
    assert_eq!((&voted.data["answer"]["data"], &voted.data["quorum"]), (&json!({ "colour": "blue" }), &json!(2)));
    world.engine.interaction_cancel(&agent, question.id, None, None).await.unwrap();

    world.ask(&agent, &session, json!({ "deadline_seconds": 10, "fallback": "deny" })).await;
    world.pass(11);
    world.engine.fire_due().await.unwrap();
    let resolved = world.last(&session, "interaction.auto_resolved").await;
    assert_eq!(
        (resolved.by.name.as_str(), resolved.how.entry_point, resolved.how.key),
        ("holdpoint", EntryPoint::Timer, None)
    );
    assert_eq!((&resolved.data["source"], &resolved.data["answer"]["effect"]), (&json!("system"), &json!("reject")));
}

/// A refused command and a command repeated under its idempotency key add no entries.
#[tokio::test]
async fn refused_and_repeated_commands_append_no_entry() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let question = world.ask(&agent, &session, json!({})).await;
    let before = world.trail_of(&session).await.len();
    assert!(world.choose(&alice, question.id, "perhaps").await.is_err());
    assert!(world.choose(&agent, question.id, "confirm").await.is_err());
    assert_eq!(world.trail_of(&session).await.len(), before);
    for _ in 0..3 {
        let idempotency = Some(Idempotency::new("k".into(), "answer", b"body"));
        world.engine.interaction_answer(&alice, question.id, choice("confirm"), idempotency).await.unwrap();
    }
    assert!(world.choose(&alice, question.id, "confirm").await.is_err());
    assert_eq!(world.trail_of(&session).await.len(), before + 1);
}

/// The delivery of a secret is recorded by name; neither the value nor the agent's own state is recorded.
#[tokio::test]
async fn secrets_are_recorded_by_name_only() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let secret = json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }], "resume_point": { "at": MARKER } });
    let question = world.ask(&agent, &session, secret).await;
    world.engine.interaction_answer(&alice, question.id, data(json!({ "TOKEN": MARKER })), None).await.unwrap();
    world.engine.delivery_take(&agent, question.id, None, None).await.unwrap();
    let taken = world.last(&session, "delivery.taken").await;
    assert_eq!((taken.data["secrets"].clone(), taken.by), (json!(["TOKEN"]), agent.actor));
    let auditor = world.caller(Role::Admin, "auditor").await;
    let text = world.exported(&auditor, ExportRange::default()).await;
    assert!(text.contains("TOKEN") && !text.contains(MARKER), "{text}");
}

/// Keys created by the command line and through the API are recorded, and so is their revocation.
#[tokio::test]
async fn creation_and_revocation_of_keys_are_recorded() {
    let world = World::new();
    let root = world.caller(Role::Admin, "root").await;
    let new = NewKey { groups: vec!["night".into()], ..NewKey::named(Role::Viewer, "carol") };
    let (key, secret) = world.engine.key_create(&root, new, None).await.unwrap();
    world.engine.key_revoke(&root, key.id).await.unwrap();
    assert!(world.engine.key_revoke(&root, key.id).await.is_err());
    let by = |name: &str| AuditFilter { by: Some(name.into()), ..AuditFilter::default() };
    let trail = world.trail(by("root")).await;
    let names: Vec<&str> = trail.iter().map(|audited| audited.entry.name.as_str()).collect();
    assert_eq!(names, ["key.created", "key.revoked"]);
    let told = &trail[0].entry.data;
    assert_eq!((&told["key"], &told["role"], &told["user"]), (&json!(key.id), &json!("viewer"), &json!("carol")));
    assert_eq!(trail[1].entry.data["key"], json!(key.id));
    let installed = world.trail(by("holdpoint")).await;
    assert!(
        installed
            .iter()
            .all(|audited| audited.entry.how.entry_point == EntryPoint::Cli && audited.entry.name == "key.created")
    );
    let auditor = world.caller(Role::Admin, "auditor").await;
    let text = world.exported(&auditor, ExportRange::default()).await;
    assert!(!text.contains(secret.rsplit_once('_').unwrap().1), "the trail contains the secret of a key");
}

/// Only callers who may audit read the trail, page by page, and only the trail of their own project.
#[tokio::test]
async fn audit_trail_is_readable_by_auditors_of_its_project_only() {
    let world = World::new();
    let (agent, alice, root) =
        (world.agent().await, world.person("alice").await, world.caller(Role::Admin, "root").await);
    world.session(&agent).await;
    for caller in [&agent, &alice] {
        assert!(matches!(
            refusal(world.engine.audit_list(caller, AuditFilter::default(), ALL).await),
            domain::Refusal::RoleForbids { .. }
        ));
        assert!(world.engine.audit_export(caller, ExportRange::default()).await.is_err());
        assert!(world.engine.audit_key(caller).await.is_ok(), "every reader may have the public key");
    }
    let page = |after| Page { after, limit: 3 };
    let (first, next) = world.engine.audit_list(&root, AuditFilter::default(), page(None)).await.unwrap();
    assert_eq!((first.len(), next), (3, Some(3)));
    let (rest, next) = world.engine.audit_list(&root, AuditFilter::default(), page(next)).await.unwrap();
    assert_eq!((rest.iter().map(|audited| audited.seq).collect::<Vec<_>>(), next), (vec![4], None));
    let mallory = world.stranger("elsewhere", Role::Admin, "mallory", &[]).await;
    let theirs = world.engine.audit_list(&mallory, AuditFilter::default(), ALL).await.unwrap().0;
    assert_eq!(theirs.iter().map(|audited| audited.seq).collect::<Vec<_>>(), [1]);
    assert_ne!(world.engine.audit_key(&mallory).await.unwrap(), world.engine.audit_key(&root).await.unwrap());
}

/// An export verifies as a whole, from a sequence number on, by time range, and where other projects' entries appear as digests only.
#[tokio::test]
async fn exports_verify() {
    let world = World::new();
    let (agent, root) = (world.agent().await, world.caller(Role::Admin, "root").await);
    for _ in 0..150 {
        world.session(&agent).await;
    }
    world.pass(100);
    let new = NewKey::named(Role::Admin, "neighbour");
    let (key, _) = world.engine.key_install("default", "another", new).await.unwrap();
    let neighbour = key.caller(world.engine.now()).unwrap();

    let whole = world.exported(&root, ExportRange::default()).await;
    let report = verified(&whole).unwrap();
    assert_eq!((report.entries, report.digests_only, report.checkpoints), (153, 1, 1));
    assert_eq!(report.public_key, world.engine.audit_key(&root).await.unwrap().to_string());
    assert_eq!(world.exported(&root, ExportRange::default()).await, whole, "a second export is equal");
    let theirs = world.exported(&neighbour, ExportRange::default()).await;
    assert_eq!(verified(&theirs).unwrap().digests_only, 152);
    assert!(theirs.contains("neighbour") && !theirs.contains("deployer"));
    let all = text(world.engine.audit_export_all("default", ExportRange::default()).await.unwrap()).await;
    let report = verified(&all).unwrap();
    assert_eq!((report.digests_only, report.shown.as_str(), report.at), (0, "all", world.engine.now().to_string()));

    let after = ExportRange { after: 150, ..ExportRange::default() };
    let part = world.exported(&root, after).await;
    let report = verified_part(&part).unwrap();
    assert_eq!((report.first, report.entries, report.shown), (151, 3, root.scope.project.to_string()));
    assert_eq!(verified(&part).unwrap_err().fault, Fault::Partial { upto: 150 });
    let late = ExportRange { since: Some(world.engine.now()), ..ExportRange::default() };
    let report = verified(&world.exported(&neighbour, late).await).unwrap();
    assert_eq!((report.entries, report.digests_only), (153, 152));
    let early = ExportRange { until: Some(world.engine.now()), ..ExportRange::default() };
    assert_eq!(verified(&world.exported(&neighbour, early).await).unwrap().digests_only, 153);
    assert!(world.engine.audit_export(&root, ExportRange { after: 154, ..ExportRange::default() }).await.is_err());
    assert!(world.engine.audit_export_all("nobody", ExportRange::default()).await.is_err());
}

/// Checkpoints are signed with the first entries, after many entries, and after some time; the signing key is unchanged after a restart.
#[tokio::test]
async fn checkpoints_are_signed_by_entry_count_and_by_time() {
    let world = World::new();
    let agent = world.agent().await;
    let signed = async |world: &World| {
        world.engine.chain_audit().await.unwrap();
        world.engine.sign_due().await.unwrap();
        let tenant = agent.scope.tenant;
        let page = Page { after: None, limit: 100 };
        let found = store::read(&*world.store, store::Cost::Point, move |reads| reads.audit_checkpoints(tenant, page));
        let found: Result<_, store::StoreError> = found.await;
        found.unwrap().into_iter().map(|checkpoint| (checkpoint.previous, checkpoint.seq)).collect::<Vec<_>>()
    };
    assert_eq!(signed(&world).await, [(0, 1)]);
    world.session(&agent).await;
    assert_eq!(signed(&world).await, [(0, 1)], "not yet");
    for _ in 0..300 {
        world.session(&agent).await;
    }
    assert_eq!(signed(&world).await, [(0, 1), (1, 258)]);
    world.pass(61);
    assert_eq!(signed(&world).await, [(0, 1), (1, 258), (258, 302)]);
    assert_eq!(signed(&world).await.len(), 3, "no new entry needs a signature");
    let key = world.engine.audit_key(&agent).await.unwrap();
    let world = world.restarted_after(SignedDuration::from_secs(5));
    assert_eq!(world.engine.audit_key(&agent).await.unwrap(), key);
    let root = world.caller(Role::Admin, "root").await;
    assert_eq!(verified(&world.exported(&root, ExportRange::default()).await).unwrap().checkpoints, 4);
    assert!(world.another_engine([8; 32]).audit_key(&agent).await.is_err(), "signing needs the master key");
}

/// Changes to the database without the master key are detected.
#[tokio::test]
async fn tampering_with_the_database_is_detected() {
    let world = World::new();
    let (agent, root) = (world.agent().await, world.caller(Role::Admin, "root").await);
    for _ in 0..5 {
        world.session(&agent).await;
    }
    world.engine.chain_audit().await.unwrap();
    let database = rusqlite::Connection::open(world.directory.path().join("holdpoint.db")).unwrap();
    let edit = "update audit set text = replace(text, 'deployer', 'somebody') where position = 4";
    assert_eq!(database.execute(edit, []).unwrap(), 1);
    let found = verified(&world.exported(&root, ExportRange::default()).await).unwrap_err();
    assert_eq!(found.to_string(), "line 5: entry 4 was changed");
    assert_eq!(database.execute("delete from audit_chain where seq = 3", []).unwrap(), 1);
    let found = verified(&world.exported(&root, ExportRange::default()).await).unwrap_err();
    assert_eq!(found.to_string(), "line 4: entry 3 was removed");
}

/// The columns beside an entry's text are outside the chain. An entry that was moved to another project, or whose columns were changed, is not
/// listed, and an export reports it.
#[tokio::test]
async fn entry_with_changed_columns_is_detected() {
    let edits = [
        ("update audit set project = ?1 where position = 4", true),
        ("update audit_chain set project = ?1 where seq = 4", false),
        ("update audit set at = at - 1 where position = 4 and ?1 is not null", true),
        ("update audit set by = 'somebody' where position = 4 and ?1 is not null", true),
        ("update audit set type = 'key.created' where position = 4 and ?1 is not null", true),
        ("update audit set session = ?1 where position = 4", true),
    ];
    for (edit, listed) in edits {
        let world = World::new();
        let (agent, root) = (world.agent().await, world.caller(Role::Admin, "root").await);
        for _ in 0..3 {
            world.session(&agent).await;
        }
        let new = NewKey::named(Role::Admin, "neighbour");
        let (key, _) = world.engine.key_install("default", "another", new).await.unwrap();
        let neighbour = key.caller(world.engine.now()).unwrap();
        world.engine.chain_audit().await.unwrap();
        let database = rusqlite::Connection::open(world.directory.path().join("holdpoint.db")).unwrap();
        assert_eq!(database.execute(edit, [neighbour.scope.project.uuid()]).unwrap(), 1, "{edit}");
        for by in [&root, &neighbour] {
            let found = verified(&world.exported(by, ExportRange::default()).await).unwrap_err();
            assert_eq!(found.to_string(), "line 5: entry 4 was changed", "{edit}");
        }
        let (told, blind) = if listed { (&root, &neighbour) } else { (&neighbour, &root) };
        assert!(world.engine.audit_list(told, AuditFilter::default(), ALL).await.is_err(), "{edit}");
        let seen = world.engine.audit_list(blind, AuditFilter::default(), ALL).await.unwrap().0;
        assert!(seen.iter().all(|audited| audited.seq != 4), "{edit}");
    }
}

/// Entries of an archived question stay in the trail.
#[tokio::test]
async fn audit_entries_of_an_archived_question_remain() {
    let world = World::with(Settings { retention: SignedDuration::from_secs(10), ..Settings::default() });
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let question = world.ask(&agent, &session, json!({})).await;
    world.choose(&alice, question.id, "confirm").await.unwrap();
    let taken = world.engine.delivery_take(&agent, question.id, None, None).await.unwrap();
    world.engine.delivery_complete(&agent, (question.id, taken.lease), None).await.unwrap();
    world.pass(3600);
    world.engine.run_housekeeping_once().await.unwrap();
    let filter = AuditFilter { interaction: Some(question.id), ..AuditFilter::default() };
    let names: Vec<String> = world.trail(filter).await.into_iter().map(|audited| audited.entry.name).collect();
    assert_eq!(names, ["interaction.asked", "interaction.answered", "delivery.taken", "delivery.completed"]);
}
