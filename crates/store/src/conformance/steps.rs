//! Hosted steps, their journals, and definitions.

use domain::{ActorKind, AgentVersion, Definition, DefinitionKind, KindName, Session, Step, StepEnd, StepId};
use serde_json::{Value, json};

use super::world::{Fixture, World, actor, at, fresh, session};
use crate::{AnswerSource, DueStep, JournalEntry, Page, StepCounts, StepState, StoreError};

/// Inserts a hosted session with one step that is due at a second.
fn hosted_step(world: &World, second: i64) -> (Session, Step) {
    let scope = world.here;
    let kept = Session { hosted: true, ..session(scope, "chat", Some("guide")) };
    let step = Step::hosted(kept.step, kept.id, at(0), at(second));
    let (session, first) = (kept.clone(), step.clone());
    world
        .write(move |tx| {
            tx.session_insert(&session, &domain::SessionInput::default())?;
            tx.step_insert(&scope, &first)
        })
        .unwrap();
    (kept, step)
}

/// Due steps are returned earliest first; sleeping steps are not.
pub fn steps_are_found_when_they_are_due(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let scope = world.here;
    assert_eq!(world.look(|reads| reads.next_step_due()), None);
    let (late, late_step) = hosted_step(&world, 20);
    let (early, early_step) = hosted_step(&world, 10);
    let due = |session: &Session, step: &Step| DueStep { scope, session: session.id, step: step.id };
    assert_eq!(world.look(|reads| reads.steps_due(at(9), 10)), []);
    assert_eq!(world.look(|reads| reads.steps_due(at(20), 10)), [due(&early, &early_step), due(&late, &late_step)]);
    assert_eq!(world.look(|reads| reads.steps_due(at(20), 1)), [due(&early, &early_step)]);
    assert_eq!(world.look(|reads| reads.next_step_due()), Some(at(10)));

    let claimed = early_step.claim("worker", at(10), at(40)).unwrap();
    let saved = claimed.clone();
    world.write(move |tx| tx.step_save(&scope, &saved)).unwrap();
    assert_eq!(world.look(move |reads| reads.step(&scope, early.step)), Some(claimed.clone()));
    assert_eq!(world.look(|reads| reads.next_step_due()), Some(at(20)));
    for quiet in [claimed.clone().release(None), claimed.end(StepEnd::completed(json!({ "text": "日本" })), at(11))] {
        let saved = quiet.clone();
        world.write(move |tx| tx.step_save(&scope, &saved)).unwrap();
        assert_eq!(world.look(move |reads| reads.step(&scope, early.step)), Some(quiet));
        assert_eq!(world.look(|reads| reads.steps_due(at(99), 10)), [due(&late, &late_step)]);
    }
}

/// Steps are counted by state: running, due, resting and waiting.
pub fn steps_are_counted_by_state(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let scope = world.here;
    assert_eq!(world.look(|reads| reads.step_counts(at(10))), StepCounts::default());
    let save = |step: Step| world.write(move |tx| tx.step_save(&scope, &step)).unwrap();
    let (_, held) = hosted_step(&world, 0);
    let held = Step { shared: json!({ "nul": "\0" }), ..held.claim("worker-1", at(5), at(40)).unwrap() };
    save(held.clone());
    hosted_step(&world, 9);
    let (_, resting) = hosted_step(&world, 0);
    let resting = resting.claim("worker-2", at(5), at(40)).unwrap().record_trouble("no tools".into(), at(30));
    save(Step { shared: json!({ "worker": "bee" }), ..resting });
    let (mut waits, asleep) = hosted_step(&world, 0);
    save(asleep.claim("worker-3", at(5), at(40)).unwrap().sleep(None));
    waits.waiting_on = 2;
    world.write(move |tx| tx.session_save(&waits)).unwrap();
    let counted = StepCounts { running: 1, due: 1, resting: 1, waiting: 1 };
    assert_eq!(world.look(|reads| reads.step_counts(at(10))), counted);
    // A step with an expired lease has no worker.
    let counted = StepCounts { running: 0, due: 3, resting: 0, waiting: 1 };
    assert_eq!(world.look(|reads| reads.step_counts(at(40))), counted);
    save(held.end(StepEnd::completed(Value::Null), at(11)));
    assert_eq!(world.look(|reads| reads.step_counts(at(40))).due, 2);
}

/// A journal has no gaps; the snapshot of the step is stored beside it.
pub fn journals_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (scope, elsewhere) = (world.here, world.elsewhere);
    let (_, step) = hosted_step(&world, 0);
    let id = step.id;
    let entry = |seq: u64| JournalEntry { seq, at: at(1), body: json!({ "input": seq, "nul": "\0" }) };
    let append = |seq| world.write(move |tx| tx.journal_append(&scope, id, &entry(seq)));
    assert_eq!(append(2), Err(StoreError::Conflict));
    for seq in 1..=3 {
        append(seq).unwrap();
    }
    assert_eq!(append(3), Err(StoreError::Conflict));
    assert_eq!(world.write(move |tx| tx.journal_append(&elsewhere, id, &entry(4))), Err(StoreError::Conflict));
    assert_eq!(world.look(move |reads| reads.journal(&scope, id, Page::first(10))), [entry(1), entry(2), entry(3)]);
    assert_eq!(world.look(move |reads| reads.journal(&scope, id, Page { after: Some(1), limit: 1 })), [entry(2)]);
    assert_eq!(world.look(move |reads| reads.journal(&elsewhere, id, Page::first(10))), []);

    assert_eq!(world.look(move |reads| reads.step_state(&scope, id)), None);
    for upto in [2, 3] {
        let state = StepState { upto, body: json!({ "version": 1, "turn": upto }) };
        let saved = state.clone();
        world.write(move |tx| tx.step_state_save(&scope, id, &saved)).unwrap();
        assert_eq!(world.look(move |reads| reads.step_state(&scope, id)), Some(state));
    }
    let state = StepState { upto: 9, body: Value::Null };
    assert_eq!(world.write(move |tx| tx.step_state_save(&elsewhere, id, &state)), Err(StoreError::Conflict));
    assert_eq!(world.look(move |reads| reads.step_state(&elsewhere, id)), None);
    let unknown = StepId::from_uuid(fresh());
    assert_eq!(world.look(move |reads| reads.step(&scope, unknown)), None);
    assert_eq!(world.look(move |reads| reads.step(&elsewhere, id)), None);
}

fn agent(version: &str, second: i64) -> Definition {
    let body = json!({ "name": "guide", "version": version, "model": { "provider": "scripted" } });
    let agent: AgentVersion = serde_json::from_value(body).unwrap();
    Definition::of_agent(&agent, actor(ActorKind::User, "alice"), at(second))
}

/// A version is inserted once and never replaced; a retired version is found, but is not the newest.
pub fn definitions_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (scope, elsewhere) = (world.here, world.elsewhere);
    let insert = |definition: Definition| world.write(move |tx| tx.definition_insert(&scope, &definition)).unwrap();
    let newest = || world.look(move |reads| reads.definition_newest(&scope, DefinitionKind::Agent, "guide"));
    assert_eq!(newest(), None);
    let (first, second) = (agent("10", 1), agent("2", 2));
    assert!(insert(first.clone()));
    assert!(insert(second.clone()));
    assert!(!insert(Definition { body: Value::Null, ..first.clone() }));
    assert_eq!(newest(), Some(second.clone()));
    let found = |version: &'static str| {
        world.look(move |reads| reads.definition(&scope, DefinitionKind::Agent, "guide", version))
    };
    assert_eq!(found("10"), Some(first.clone()));
    let page = |after: Option<(String, String)>, limit| {
        world.look(move |reads| reads.definitions(&scope, DefinitionKind::Agent, Page { after: after.clone(), limit }))
    };
    assert_eq!(page(None, 10), [first.clone(), second.clone()]);
    assert_eq!(page(Some(("guide".into(), "10".into())), 10), std::slice::from_ref(&second));

    let retire =
        || world.write(move |tx| tx.definition_retire(&scope, DefinitionKind::Agent, ("guide", "2"), at(3))).unwrap();
    assert!(retire());
    assert!(!retire());
    assert_eq!(newest(), Some(first));
    assert_eq!(found("2"), Some(Definition { retired_at: Some(at(3)), ..second }));
    assert_eq!(world.look(move |reads| reads.definition_newest(&scope, DefinitionKind::Flow, "guide")), None);
    assert_eq!(world.look(move |reads| reads.definition(&elsewhere, DefinitionKind::Agent, "guide", "10")), None);
}

/// Equal answers of a group are counted; the most frequent come first.
pub fn equal_answers_are_counted(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (scope, elsewhere) = (world.here, world.elsewhere);
    let place = AnswerSource { place: "release/plan".into(), kind: KindName::Choice };
    let other = AnswerSource { kind: KindName::Form, ..place.clone() };
    for (second, digest) in ["a", "b", "b", "c"].into_iter().enumerate() {
        let place = place.clone();
        let now = at(i64::try_from(second).unwrap());
        world
            .write(move |tx| tx.answer_count_increment(&scope, &place, digest, &json!({ "option": digest }), now))
            .unwrap();
    }
    let frequent =
        |scope, place: AnswerSource, limit| world.look(move |reads| reads.frequent_answers(&scope, &place, limit));
    let expected = [(json!({ "option": "b" }), 2), (json!({ "option": "c" }), 1)];
    assert_eq!(frequent(scope, place.clone(), 2), expected);
    assert_eq!(frequent(scope, other, 2), []);
    assert_eq!(frequent(elsewhere, place, 2), []);
}
