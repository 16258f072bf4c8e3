//! Open questions are counted exactly by asker and by tenant, also under concurrency.

use serde_json::json;

use super::world::{Fixture, World, answered, asked, at, session};
use crate::{OpenTotal, StoreError};

/// Returns the totals of a project: the counters, and the totals computed from its questions.
fn open(world: &World) -> Vec<(String, OpenTotal)> {
    let here = world.here;
    let (counted, found) = world.look(move |reads| Ok((reads.open_totals(&here)?, reads.open_totals_computed(&here)?)));
    assert_eq!(counted, found, "the counters equal the computed totals");
    counted
}

/// Opening adds to the totals, closing subtracts the same, and a rolled-back transaction changes nothing.
pub fn open_questions_are_counted(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, of) = (world.here, world.session());
    let (first, second) = (asked(&of, json!({})), asked(&of, json!({ "message": "x".repeat(5000) })));
    let both = (first.clone(), second.clone());
    let totals = world.write(move |tx| {
        tx.interaction_insert(&both.0)?;
        tx.interaction_insert(&both.1)?;
        tx.interaction_add_bytes(&here, both.1.id, 1000)?;
        tx.open_totals_update(&here, &[both.0.id, both.1.id], &[])
    });
    let totals = totals.unwrap();
    assert_eq!(totals.askers.len(), 1);
    assert_eq!((totals.askers[0].0.as_str(), totals.askers[0].1.questions), ("agent:deployer", 2));
    assert!(totals.askers[0].1.bytes > 6000, "{totals:?}");
    assert_eq!(totals.tenant, totals.askers[0].1);
    assert_eq!(open(&world), totals.askers);

    let third = asked(&of, json!({}));
    let undone = world.write(move |tx| {
        tx.interaction_insert(&third)?;
        tx.open_totals_update(&here, &[third.id], &[])?;
        Err::<(), _>(StoreError::Conflict)
    });
    assert_eq!(undone, Err(StoreError::Conflict));
    assert_eq!(open(&world), totals.askers);

    let closed = answered(&second, "alice", at(5));
    let fleeting = asked(&of, json!({}));
    let gone = answered(&fleeting, "alice", at(5));
    let left = world.write(move |tx| {
        tx.interaction_save(&closed)?;
        tx.interaction_insert(&fleeting)?;
        tx.interaction_save(&gone)?;
        tx.open_totals_update(&here, &[fleeting.id], &[closed.id, gone.id])
    });
    let left = left.unwrap();
    assert_eq!(left.askers[0].1.questions, 1);
    assert!(left.askers[0].1.bytes < 5000, "closing the second question subtracts its bytes");
    assert_eq!(open(&world), left.askers);

    let last = answered(&first, "alice", at(6));
    world
        .write(move |tx| {
            tx.interaction_save(&last)?;
            tx.open_totals_update(&here, &[], &[last.id])
        })
        .unwrap();
    assert_eq!(open(&world), []);
}

/// Askers and tenants have separate totals; the total of a tenant covers all its projects.
pub fn askers_and_tenants_have_separate_totals(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let (ours, theirs) = (world.session(), world.keep_session(session(elsewhere, "chat-1", None)));
    let mut second = asked(&ours, json!({}));
    second.origin.asked_by.name = "another".into();
    let (first, other) = (asked(&ours, json!({})), asked(&theirs, json!({})));
    let asked_here = world.write(move |tx| {
        tx.interaction_insert(&first)?;
        tx.interaction_insert(&second)?;
        tx.open_totals_update(&here, &[second.id, first.id], &[])
    });
    let asked_here = asked_here.unwrap();
    let names: Vec<&str> = asked_here.askers.iter().map(|(asker, _)| asker.as_str()).collect();
    assert_eq!(names, ["agent:another", "agent:deployer"]);
    assert!(asked_here.askers.iter().all(|(_, total)| total.questions == 1));
    assert_eq!(asked_here.tenant.questions, 2);
    let there = world.write(move |tx| {
        tx.interaction_insert(&other)?;
        tx.open_totals_update(&elsewhere, &[other.id], &[])
    });
    assert_eq!(there.unwrap().tenant.questions, 1, "questions of another tenant are not counted");
}

/// Concurrent questions in separate sessions are all counted.
pub fn concurrent_questions_are_all_counted(fixture: &Fixture) {
    const THREADS: usize = 8;
    const EACH: usize = 10;
    let world = World::on(&fixture.store);
    let here = world.here;
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let of = world.session();
                for _ in 0..EACH {
                    let question = asked(&of, json!({}));
                    world
                        .write(move |tx| {
                            tx.session_lock(&here, of_id(&question))?;
                            tx.interaction_insert(&question)?;
                            tx.open_totals_update(&here, &[question.id], &[])
                        })
                        .unwrap();
                }
            });
        }
    });
    let counted = open(&world);
    assert_eq!(counted[0].1.questions, (THREADS * EACH) as u64);
    // Closes one question without counting it.
    let first = asked(&world.session(), json!({}));
    let closed = answered(&first, "alice", at(5));
    world
        .write(move |tx| {
            tx.interaction_insert(&first)?;
            tx.open_totals_update(&here, &[first.id], &[])?;
            tx.interaction_save(&closed)
        })
        .unwrap();
    let drifted = world.look(move |reads| reads.open_totals(&here));
    assert_eq!(drifted[0].1.questions, (THREADS * EACH + 1) as u64);
    world.write(|tx| tx.open_totals_recount()).unwrap();
    assert_eq!(open(&world), counted, "the recount corrects the counters");
}

const fn of_id(question: &domain::Interaction) -> domain::SessionId {
    question.origin.session
}
