//! Round trips: every type is read back as it was written.

use domain::interaction::Handover;
use domain::session::Note;
use domain::step::{StepEnd, StepEnding};
use domain::{
    ActorKind, AgentEnvironment, AnswerId, Command, EntryPoint, Event, EventId, Interaction, Key, KeyId, LeaseId, Role,
    Scope, SessionId, SessionInput, Step, StepId,
};
use serde_json::json;

use super::Fixture;
use super::world::{World, actor, agent, answered, asked, at, fresh, reviewer, session};
use crate::{IdempotencyRecord, KeyRecord, Page, StoreError};

/// A setting of the installation keeps its first value, and a scope its first ids.
pub fn settings_keep_their_first_value(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    assert_eq!(world.look(|reads| reads.setting("pepper")), None);
    assert_eq!(world.write(|tx| tx.setting_ensure("pepper", "first")).unwrap(), "first");
    assert_eq!(world.write(|tx| tx.setting_ensure("pepper", "second")).unwrap(), "first");
    assert_eq!(world.look(|reads| reads.setting("pepper")).as_deref(), Some("first"));
    let (here, elsewhere) = (world.here, world.elsewhere);
    assert_eq!(world.write(move |tx| tx.scope_ensure("here", "default", elsewhere)).unwrap(), here);
    let fresh = domain::Scope { project: domain::ProjectId::from_uuid(fresh()), ..elsewhere };
    let second = world.write(move |tx| tx.scope_ensure("here", "second", fresh)).unwrap();
    assert_eq!(second, domain::Scope { tenant: here.tenant, project: fresh.project });
    assert_eq!(world.look(|reads| reads.scope("here", "second")), Some(second));
    assert_eq!(world.look(|reads| reads.scope("here", "third")), None);
    let mut all = vec![here, elsewhere, second];
    all.sort_by_key(|scope| (scope.tenant, scope.project));
    assert_eq!(world.look(|reads| reads.scopes()), all);
}

/// A key without optional fields, and one with all of them.
fn bare_and_full(scope: Scope) -> (Key, Key) {
    let bare = Key {
        id: KeyId::from_uuid(fresh()),
        scope,
        role: Role::Agent,
        user: None,
        groups: Vec::new(),
        environment: AgentEnvironment::default(),
        created_at: at(0),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    };
    let full = Key {
        id: KeyId::from_uuid(fresh()),
        role: Role::Admin,
        user: Some("Zoë \"z\" O'Hara".into()),
        groups: vec!["ops".into(), "наука".into()],
        environment: AgentEnvironment {
            client: Some("claude-code".into()), root: Some("/srv/\"приложение\"".into())
        },
        expires_at: Some(at(1000)),
        ..bare.clone()
    };
    (bare, full)
}

/// Keys with and without optional fields.
pub fn keys_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (bare, full) = bare_and_full(world.here);
    let records = [(bare.clone(), [0_u8; 32]), (full.clone(), [255_u8; 32])].map(|(key, hash)| KeyRecord { key, hash });
    for record in records.clone() {
        world.write(move |tx| tx.key_insert(&record)).unwrap();
    }
    for record in records.clone() {
        assert_eq!(world.look(move |reads| reads.key(record.key.id)), Some(record.clone()));
    }
    let again = records[0].clone();
    assert_eq!(world.write(move |tx| tx.key_insert(&again)), Err(StoreError::Conflict));
    let (here, id) = (world.here, full.id);
    let bears = |name: &'static str| world.look(move |reads| reads.has_key_named(here.tenant, name));
    assert_eq!([bears("ZOë \"Z\" o'hara"), bears("Zoë"), bears("")], [true, false, false]);
    let of = |scope: Scope, name: &'static str| world.look(move |reads| reads.keys_named(&scope, name));
    assert_eq!(of(here, "ZOë \"Z\" o'hara"), std::slice::from_ref(&full));
    for (scope, name) in [(here, "Zoë"), (here, ""), (world.elsewhere, "Zoë \"z\" O'Hara")] {
        assert_eq!(of(scope, name), [], "{name}");
    }
    let of_people = |scope: Scope, second: i64, after: Option<KeyId>| {
        world.look(move |reads| reads.keys_of_people(&scope, at(second), Page { after, limit: 9 }))
    };
    assert_eq!(of_people(here, 999, None), std::slice::from_ref(&full), "a key of an agent is not a key of a person");
    assert_eq!(of_people(here, 1000, None), [], "the key has expired");
    assert_eq!(of_people(here, 999, Some(id)), []);
    assert_eq!(of_people(world.elsewhere, 999, None), []);
    world.write(move |tx| tx.key_mark_used(id, at(60))).unwrap();
    world.write(move |tx| tx.key_mark_used(id, at(30))).unwrap();
    assert!(world.write(move |tx| tx.key_revoke(&here, id, at(90))).unwrap());
    assert!(!world.write(move |tx| tx.key_revoke(&here, id, at(91))).unwrap());
    assert!(!bears("Zoë \"z\" O'Hara"), "the name of a revoked key is free again");
    assert_eq!(of(here, "Zoë \"z\" O'Hara"), [], "a revoked key is not found by its name");
    assert_eq!(of_people(here, 999, None), [], "a revoked key belongs to no person");
    let revoked = Key { last_used_at: Some(at(60)), revoked_at: Some(at(90)), ..full };
    assert_eq!(world.look(move |reads| reads.keys_page(&here, Page::first(9))), [revoked.clone(), bare.clone()]);
    let page = |scope: Scope, after: Option<KeyId>, limit: u32| {
        let page = world.look(move |reads| reads.keys_page(&scope, Page { after, limit }));
        (page.more, page.into_vec())
    };
    assert_eq!(page(here, None, 1), (true, vec![revoked.clone()]));
    assert_eq!(page(here, Some(id), 5), (false, vec![bare.clone()]));
    assert_eq!(page(here, Some(bare.id), 5), (false, vec![]));
    assert_eq!(page(world.elsewhere, None, 5), (false, vec![]));
    let count = |scope: Scope| world.look(move |reads| reads.key_count(&scope));
    assert_eq!([count(here), count(world.elsewhere)], [1, 0], "a revoked key is not counted");
    assert_eq!(world.look(|reads| reads.key(KeyId::from_uuid(fresh()))), None);
}

/// Sessions, their inputs and their steps, before and after changes.
pub fn sessions_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let session = session(here, "chat-1", None);
    let session_input = SessionInput {
        input: json!({ "nul": "\0", "big": 1e300, "text": "日本" }),
        metadata: json!([1, null]),
        agents: [("plan".to_owned(), "2".to_owned())].into(),
        entry_point: Some(EntryPoint::Approvals),
    };
    let (kept, with) = (session.clone(), session_input.clone());
    world.write(move |tx| tx.session_insert(&kept, &with)).unwrap();
    let id = session.id;
    assert_eq!(world.look(move |reads| reads.session(&here, id)), Some(session.clone()));
    assert_eq!(world.look(move |reads| reads.session_input(&here, id)), Some(session_input));
    let twice = session.clone();
    assert_eq!(world.write(move |tx| tx.session_insert(&twice, &SessionInput::default())), Err(StoreError::Conflict));

    let steps = [1, 2].map(|second| Step::begin(StepId::from_uuid(fresh()), id, Some("a".into()), at(second)));
    let both = steps.clone();
    world.write(move |tx| both.iter().try_for_each(|step| tx.step_insert(&here, step))).unwrap();
    let ended = steps[0].clone().end(StepEnd::because(StepEnding::Failed, "it broke".into()), at(3));
    let saved = ended.clone();
    world.write(move |tx| tx.step_save(&here, &saved)).unwrap();
    assert_eq!(world.look(move |reads| reads.steps(&here, id)), [ended, steps[1].clone()]);

    let note = Note { by: actor(ActorKind::User, "alice"), at: at(5), reason: Some("lunch".into()) };
    let mut paused = session.control(Command::Pause, note.clone()).unwrap().0;
    (paused.open, paused.waiting_on, paused.last_seq) = (3, 2, 9);
    let cancelled = paused.clone().control(Command::Cancel, note).unwrap().0;
    for changed in [paused.clone(), cancelled] {
        let saved = changed.clone();
        let locked = world.write(move |tx| {
            tx.session_lock(&here, id)?;
            tx.session_save(&saved)?;
            tx.session_lock(&here, id)
        });
        assert_eq!(locked.unwrap(), Some(changed));
    }
    let backwards = domain::Session { last_seq: 8, ..paused };
    assert_eq!(world.write(move |tx| tx.session_save(&backwards)), Err(StoreError::Conflict));
}

/// Questions in every state.
pub fn questions_in_every_state_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let session = world.session();
    for (name, revisions) in lives(&session) {
        for (index, revision) in revisions.iter().enumerate() {
            world.keep(&[revision]);
            assert_eq!(world.kept(revision.id).as_ref(), Some(revision), "{name}, revision {}", index + 1);
        }
    }
    let resolved = Interaction { revision: 1, ..answered(&asked(&session, json!({})), "alice", at(2)) };
    world.keep(&[&resolved]);
    assert_eq!(world.kept(resolved.id), Some(resolved.clone()));
    let here = world.here;
    let waiting = world.look(move |reads| reads.deliveries(&here, "deployer", Page { after: None, limit: 100 }));
    assert!(waiting.contains(&resolved), "a question inserted as resolved is delivered");
}

/// Name of a life of a question, and its revisions.
type Life = (&'static str, Vec<Interaction>);

/// Returns the revisions of questions in every state.
fn lives(session: &domain::Session) -> Vec<Life> {
    [open_lives(session), answered_lives(session), closed_lives(session)].concat()
}

/// Asks a question with a deadline and a warning before it.
fn dated(session: &domain::Session) -> Interaction {
    asked(session, json!({ "deadline": at(60), "warn_at": at(30) }))
}

fn open_lives(session: &domain::Session) -> Vec<Life> {
    let claimed = dated(session);
    let claim = claimed.clone().claim(&reviewer(&claimed, "alice"), at(2), at(20)).unwrap().0;
    let warned = dated(session);
    let warning = warned.clone().tick(answer_id(), at(30)).unwrap().0;
    let held = asked(session, json!({ "deadline": at(60), "fallback": "hold" }));
    let overdue = held.clone().tick(answer_id(), at(60)).unwrap().0;
    let avoided = dated(session);
    let abstained =
        avoided.clone().abstain(&reviewer(&avoided, "alice"), Some("not mine".into()), &[], at(2)).unwrap().0;
    let strange = asked(
        session,
        json!({
            "kind": { "custom": "vote" }, "title": "¿Löschen? 'x' \"y\" \\ %", "message": "a\n\tb",
            "context": { "nul": "\0", "deep": [[[{}]]], "number": 12_345_678_901_234_567_u64, "float": 0.1 },
        }),
    );
    vec![
        ("claimed", vec![claimed, claim]),
        ("warned", vec![warned, warning]),
        ("overdue", vec![held, overdue]),
        ("abstained", vec![avoided, abstained]),
        ("strange", vec![strange]),
    ]
}

fn answered_lives(session: &domain::Session) -> Vec<Life> {
    let quorum = asked(session, json!({ "audience": { "quorum": 2 } }));
    let voted = answered(&quorum, "alice", at(2));
    let agreed = answered(&voted, "bob", at(3));
    let eyes = json!({ "quorum": 2, "four_eyes": true });
    let several = asked(session, json!({ "audience": eyes, "requirements": [{ "quorum": 1 }, eyes] }));
    let halfway = answered(&several, "alice", at(2));
    let all_agreed = answered(&halfway, "bob", at(3));
    let taken = dated(session);
    let mine = LeaseId::from_uuid(fresh());
    let waiting = answered(&taken, "alice", at(3));
    let processing = waiting.clone().take(&agent(), mine, at(4), at(40)).unwrap().0;
    let completed = processing.clone().complete(mine, at(6)).unwrap().0;
    let failed = dated(session);
    let first = answered(&failed, "alice", at(3));
    let failing = first.clone().take(&agent(), mine, at(4), at(40)).unwrap().0;
    let offered = failing.clone().fail(mine, "no luck".into(), true, at(5)).unwrap().0;
    let given_up = failing.clone().fail(mine, "no luck".into(), false, at(5)).unwrap().0;
    let other = domain::InteractionId::from_uuid(fresh());
    let renamed = [&failed, &first, &failing, &given_up].map(|revision| Interaction { id: other, ..revision.clone() });
    vec![
        ("voted", vec![quorum, voted, agreed]),
        ("several requirements", vec![several, halfway, all_agreed]),
        ("completed", vec![taken, waiting, processing, completed]),
        ("offered again", vec![failed, first, failing, offered]),
        ("given up", renamed.to_vec()),
    ]
}

fn closed_lives(session: &domain::Session) -> Vec<Life> {
    let denied = asked(session, json!({ "deadline": at(60), "fallback": "deny" }));
    let fallen = denied.clone().tick(answer_id(), at(60)).unwrap().0;
    let expired = dated(session);
    let over = expired.clone().tick(answer_id(), at(60)).unwrap().0;
    let withdrawn = dated(session);
    let cancelled = withdrawn.clone().cancel(agent(), "no need".into(), at(2)).unwrap().0;
    let went = dated(session);
    let handed = handed_over(session, &went);
    let second = answered(&handed.second.0, "alice", at(3));
    let followed = handed.first.0.clone().follow(&second).unwrap().0;
    vec![
        ("fallback", vec![denied, fallen]),
        ("expired", vec![expired, over]),
        ("cancelled", vec![withdrawn, cancelled]),
        ("handed over", vec![went, handed.first.0, followed]),
    ]
}

fn answer_id() -> AnswerId {
    AnswerId::from_uuid(fresh())
}

/// Creates a question with a channel of its own.
fn handed_over(session: &domain::Session, question: &Interaction) -> Handover {
    let mut to = session.clone();
    (to.id, to.head.channel) = (SessionId::from_uuid(fresh()), "chat-elsewhere".into());
    let id = domain::InteractionId::from_uuid(fresh());
    question.clone().hand_over(&reviewer(question, "alice"), (&to, id), Some("yours".into()), at(2)).unwrap()
}

/// A session that was opened for a handed-over question, and the question in it.
pub fn handed_over_questions_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, first) = (world.here, world.session());
    let question = asked(&first, json!({}));
    world.keep(&[&question]);
    let Handover { first: (first, _), second: (second, _) } = handed_over(&first, &question);
    let to = session(here, "chat-elsewhere", Some("deployer"));
    let to = domain::Session { id: second.origin.session, handed_from: second.origin.handed_from.clone(), ..to };
    let to = world.keep_session(to);
    world.keep(&[&first]);
    world.keep(&[&second]);
    assert_eq!(world.kept(first.id), Some(first));
    assert_eq!(world.kept(second.id), Some(second));
    let id = to.id;
    assert_eq!(world.look(move |reads| reads.session(&here, id)), Some(to));
}

/// Sealed values are read back byte for byte.
pub fn sealed_values_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let interaction = world.ask(&world.session(), json!({}));
    let id = interaction.id;
    let sealed = world.sealed(&(0..=255).collect::<Vec<u8>>());
    let (empty, second) = (world.sealed(&[]), world.sealed(&[1]));
    for (name, sealed) in [("secrets", sealed.clone()), ("resume_point", empty.clone())] {
        world.write(move |tx| tx.sealed_value_insert(&here, id, name, &sealed)).unwrap();
    }
    assert_eq!(world.look(move |reads| reads.sealed_value(&here, id, "secrets")), Some(sealed));
    assert_eq!(world.look(move |reads| reads.sealed_value(&here, id, "resume_point")), Some(empty));
    assert_eq!(world.look(move |reads| reads.sealed_value(&here, id, "other")), None);
    assert_eq!(world.write(move |tx| tx.sealed_value_insert(&here, id, "secrets", &second)), Err(StoreError::Conflict));
    world.write(move |tx| tx.sealed_values_delete(&here, id)).unwrap();
    assert_eq!(world.look(move |reads| reads.sealed_value(&here, id, "secrets")), None);
}

/// The first record of an idempotency key stays.
pub fn idempotency_keys_keep_their_first_record(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let idempotency = IdempotencyRecord { digest: "sha256:1".into(), result: "{\"a\":\"\\u0000\"}".into() };
    let (kept, second) = (idempotency.clone(), IdempotencyRecord { digest: "sha256:2".into(), result: "2".into() });
    world.write(move |tx| tx.idempotency_insert(&here, "alice", "key", &kept)).unwrap();
    assert_eq!(world.write(move |tx| tx.idempotency_insert(&here, "alice", "key", &second)), Err(StoreError::Conflict));
    assert_eq!(world.look(move |reads| reads.idempotency_record(&here, "alice", "key")), Some(idempotency));
    world.write(move |tx| tx.idempotency_result_save(&here, "alice", "key", "filled")).unwrap();
    let filled = world.look(move |reads| reads.idempotency_record(&here, "alice", "key"));
    assert_eq!(filled.map(|idempotency| idempotency.result), Some("filled".to_owned()));
    assert_eq!(
        world.write(move |tx| tx.idempotency_result_save(&here, "bob", "key", "filled")),
        Err(StoreError::Conflict)
    );
    assert_eq!(world.look(move |reads| reads.idempotency_record(&here, "bob", "key")), None);
}

/// Events with and without optional fields.
pub fn events_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, session) = (world.here, world.session());
    let bare = Event {
        id: EventId::from_uuid(fresh()),
        session: session.id,
        seq: 1,
        name: "test.bare".into(),
        at: at(1),
        step: None,
        interaction: None,
        data: serde_json::Value::Null,
    };
    let full = Event {
        id: EventId::from_uuid(fresh()),
        seq: 2,
        step: Some(session.step),
        interaction: Some(domain::InteractionId::from_uuid(fresh())),
        data: json!({ "text": "a\0b 日本", "number": 0.1 }),
        ..bare.clone()
    };
    let both = [bare.clone(), full.clone()];
    world.write(move |tx| both.iter().try_for_each(|event| tx.event_append(&here, event))).unwrap();
    let id = session.id;
    assert_eq!(world.look(move |reads| reads.events(&here, id, 0, 10)), [bare.clone(), full.clone()]);
    assert_eq!(world.look(move |reads| reads.events(&here, id, 1, 10)), std::slice::from_ref(&full));
    assert_eq!(world.look(move |reads| reads.events(&here, id, 0, 1)), [bare]);
    assert_eq!(world.look(move |reads| reads.events(&here, id, 2, 10)), []);
    let same_number = Event { id: EventId::from_uuid(fresh()), ..full };
    assert_eq!(world.write(move |tx| tx.event_append(&here, &same_number)), Err(StoreError::Conflict));
}
