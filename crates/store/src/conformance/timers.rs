//! Due questions, purges, the archive, and statistics.

use std::collections::BTreeMap;

use domain::{AnswerId, Interaction, InteractionId, KindName, LeaseId, SignedDuration};
use serde_json::json;

use super::Fixture;
use super::world::{World, agent, answered, append, at, fresh};
use crate::{ClosedInteraction, DueInteraction, IdempotencyRecord, InteractionFilter, OpenCount, Page, Stats};

/// Due questions of all projects are returned by time, and the next due time is known.
pub fn due_questions_are_listed_by_time(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    assert_eq!(world.look(|reads| reads.next_interaction_due()), None);
    let foreign = world.keep_session(super::world::session(world.elsewhere, "chat-1", None));
    let session = world.session();
    let late = world.ask(&session, json!({ "deadline": at(90) }));
    let soon = world.ask(&foreign, json!({ "deadline": at(30) }));
    let warned = world.ask(&session, json!({ "deadline": at(80), "warn_at": at(60) }));
    world.ask(&session, json!({}));
    let leased = world.ask(&session, json!({}));
    let answered = answered(&leased, "alice", at(2));
    let taken = answered.clone().take(&agent(), LeaseId::from_uuid(fresh()), at(3), at(45)).unwrap().0;
    world.keep(&[&answered, &taken]);

    let due = |second, limit| world.look(move |reads| reads.interactions_due(at(second), limit));
    let of = |one: &Interaction| DueInteraction { scope: one.scope, session: one.origin.session, interaction: one.id };
    assert_eq!(due(29, 10), []);
    assert_eq!(due(30, 10), [of(&soon)]);
    assert_eq!(due(100, 10), [&soon, &leased, &warned, &late].map(of));
    assert_eq!(due(100, 2), [&soon, &leased].map(of));
    assert_eq!(world.look(|reads| reads.next_interaction_due()), Some(at(30)));
    world.keep(&[&soon.tick(AnswerId::from_uuid(fresh()), at(30)).unwrap().0]);
    assert_eq!(world.look(|reads| reads.next_interaction_due()), Some(at(45)));
}

/// Idempotency records are purged by age, at most `limit` at once.
pub fn old_idempotency_records_are_purged(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let now = world
        .write(move |tx| {
            for number in 0..5 {
                let idempotency = IdempotencyRecord { digest: "d".into(), result: "r".into() };
                tx.idempotency_insert(&here, "alice", &format!("key-{number}"), &idempotency)?;
            }
            tx.now()
        })
        .unwrap();
    let later = now.checked_add(SignedDuration::from_micros(1)).unwrap();
    assert_eq!(world.write(move |tx| tx.idempotency_purge(now, 100)), Ok(0));
    assert_eq!(world.write(move |tx| tx.idempotency_purge(later, 3)), Ok(3));
    assert_eq!(world.write(move |tx| tx.idempotency_purge(later, 3)), Ok(2));
    assert_eq!(world.look(move |reads| reads.idempotency_record(&here, "alice", "key-0")), None);
}

/// Closed and delivered questions move to the archive, where they can be read; their sealed values are deleted.
pub fn archived_questions_stay_readable(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, session) = (world.here, world.elsewhere, world.session());
    let completed = |second| {
        let asked = world.ask(&session, json!({ "title": format!("Number {second}") }));
        let (lease, answered) = (LeaseId::from_uuid(fresh()), answered(&asked, "alice", at(second)));
        let taken = answered.clone().take(&agent(), lease, at(second), at(second + 100)).unwrap().0;
        let done = taken.clone().complete(lease, at(second + 1)).unwrap().0;
        world.keep(&[&answered, &taken, &done]);
        done
    };
    let (old, older, young) = (completed(20), completed(10), completed(50));
    let open = world.ask(&session, json!({}));
    let undelivered = world.ask(&session, json!({}));
    world.keep(&[&answered(&undelivered, "alice", at(5))]);
    let id = old.id;
    let sealed = world.sealed(b"sealed");
    world.write(move |tx| tx.sealed_value_insert(&here, id, "secrets", &sealed)).unwrap();

    let archive = |second, limit| world.write(move |tx| tx.archive(at(second), limit)).unwrap();
    assert_eq!(archive(9, 10), 0);
    assert_eq!(world.look(|reads| reads.oldest_retired()), Some(at(10)));
    assert_eq!(archive(30, 1), 1);
    assert_eq!(world.look(move |reads| reads.session_of(&here, older.id)), None);
    assert_eq!(archive(20, 10), 1);
    assert_eq!(archive(30, 10), 0);
    assert_eq!(world.look(|reads| reads.oldest_retired()), Some(at(50)));

    assert_eq!(world.kept(old.id), Some(old.clone()));
    assert_eq!(world.kept(older.id), Some(older.clone()));
    assert_eq!(world.look(move |reads| reads.interaction(&elsewhere, id)), None);
    assert_eq!(world.look(move |reads| reads.session_of(&here, id)), None);
    assert_eq!(world.look(move |reads| reads.sealed_value(&here, id, "secrets")), None);
    let whole = Page { after: None, limit: 100 };
    let listed = world.look(move |reads| reads.interactions(&here, &InteractionFilter::default(), whole));
    let listed: Vec<InteractionId> = listed.iter().map(|one| one.id).collect();
    assert_eq!(listed, [young.id, open.id, undelivered.id]);
}

/// A waiting delivery stays while its session lives; after the end of the session it is archived as other questions are, unless it is taken.
pub fn waiting_deliveries_are_archived_after_their_session_has_ended(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, session, other) = (world.here, world.elsewhere, world.session(), world.session());
    let answer = |of| {
        let after = answered(&world.ask(of, json!({})), "alice", at(5));
        world.keep(&[&after]);
        after
    };
    let (left, taken, alive) = (answer(&session), answer(&session), answer(&other));
    let (open, id) = (world.ask(&session, json!({})), session.id);
    let retire = |scope| world.write(move |tx| tx.waiting_deliveries_retire(&scope, id)).unwrap();
    retire(elsewhere);
    assert_eq!(world.look(|reads| reads.oldest_retired()), None);
    retire(here);
    retire(here);
    assert_eq!(world.look(|reads| reads.oldest_retired()), Some(at(5)));

    let lease = LeaseId::from_uuid(fresh());
    let taken = taken.take(&agent(), lease, at(6), at(60)).unwrap().0;
    world.keep(&[&taken]);
    retire(here);
    assert_eq!(world.write(|tx| tx.archive(at(100), 10)), Ok(1));
    assert_eq!(world.look(move |reads| reads.session_of(&here, left.id)), None);
    assert_eq!(world.kept(left.id), Some(left));
    for stays in [&taken, &alive, &open] {
        let id = stays.id;
        assert!(world.look(move |reads| reads.session_of(&here, id)).is_some(), "{:?}", stays.state);
    }
    let offered = taken.fail(lease, "no luck".into(), true, at(7)).unwrap().0;
    world.keep(&[&offered]);
    assert_eq!(world.look(|reads| reads.oldest_retired()), None);
    retire(here);
    assert_eq!(world.write(|tx| tx.archive(at(100), 10)), Ok(1));
    assert_eq!(world.kept(offered.id), Some(offered));
}

/// Questions with sealed values are archived only after `session_sealed_values_retire`; other questions are not affected.
pub fn sealed_values_stay_as_long_as_their_session(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, session, other) = (world.here, world.elsewhere, world.session(), world.session());
    let over = |of| {
        let given = answered(&world.ask(of, json!({})), "alice", at(5));
        let after = given.clone().cancel_delivery("it has ended").unwrap().0;
        world.keep(&[&given, &after]);
        let (id, sealed) = (after.id, world.sealed(b"sealed"));
        world.write(move |tx| tx.sealed_value_insert(&here, id, "secrets", &sealed)).unwrap();
        id
    };
    let (mine, theirs) = (over(&session), over(&other));
    let open = world.ask(&session, json!({}));
    let (asked, sealed) = (open.id, world.sealed(b"state"));
    world.write(move |tx| tx.sealed_value_insert(&here, asked, "resume_point", &sealed)).unwrap();
    let retire = |scope, at| {
        let id = session.id;
        world.write(move |tx| tx.session_sealed_values_retire(&scope, id, at)).unwrap();
    };
    let sealed = |id| world.look(move |reads| reads.sealed_value(&here, id, "secrets")).is_some();
    retire(here, None);
    assert_eq!(world.write(|tx| tx.archive(at(50), 10)), Ok(1), "only the question of the other session is archived");
    assert_eq!((sealed(mine), sealed(theirs)), (true, false));
    retire(here, Some(at(40)));
    retire(elsewhere, None);
    assert_eq!(world.look(|reads| reads.oldest_retired()), Some(at(40)));
    assert_eq!(world.write(|tx| tx.archive(at(39), 10)), Ok(0));
    assert_eq!(world.write(|tx| tx.archive(at(40), 10)), Ok(1));
    assert!(!sealed(mine));
    assert!(world.look(move |reads| reads.session_of(&here, asked)).is_some(), "an open question is not archived");
}

/// Several nodes archive concurrently: each question is moved once, and none is left.
pub fn concurrent_archiving_moves_each_question_once(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let session = world.session();
    let withdrawn = |_| world.ask(&session, json!({})).cancel(agent(), "no".into(), at(5)).unwrap().0;
    let all: Vec<Interaction> = (0..60).map(withdrawn).collect();
    for question in &all {
        world.keep(&[question]);
    }
    let moved: u64 = std::thread::scope(|scope| {
        let node = || {
            let batches = std::iter::repeat_with(|| world.write(|tx| tx.archive(at(5), 7)).unwrap());
            batches.take_while(|moved| *moved > 0).sum::<u64>()
        };
        let nodes: Vec<_> = (0..4).map(|_| scope.spawn(node)).collect();
        nodes.into_iter().map(|node| node.join().unwrap()).sum()
    });
    // Rows that one node had locked are moved by that node.
    assert_eq!(moved, 60);
    assert_eq!(world.look(|reads| reads.oldest_retired()), None);
    assert!(all.into_iter().all(|question| world.kept(question.id) == Some(question)));
}

/// Statistics of one project.
pub fn stats_count_questions_by_state_and_kind(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, session) = (world.here, world.session());
    assert_eq!(world.look(move |reads| reads.stats(&here, at(0))), Stats::default());
    for kind in ["confirmation", "question", "confirmation"] {
        world.ask(&session, json!({ "kind": kind }));
    }
    let mut waiting = Vec::new();
    for second in 1..=20 {
        let asked = world.ask(&session, json!({}));
        let after = answered(&asked, "alice", at(1 + second));
        world.keep(&[&after]);
        waiting.push(after);
    }
    let cancelled = world.ask(&session, json!({})).cancel(agent(), "no".into(), at(30)).unwrap().0;
    world.keep(&[&cancelled]);
    let foreign = world.keep_session(super::world::session(world.elsewhere, "chat-1", None));
    world.ask(&foreign, json!({ "kind": "notice" }));
    let id = session.id;
    world.write(move |tx| append(tx, &here, id, None)).unwrap();

    let counts = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    let seconds = |seconds: i64| Some(seconds * 1_000_000);
    let expected = Stats {
        open: counts(&[("confirmation", 2), ("question", 1)]),
        oldest_open_at: Some(at(1)),
        closed: counts(&[("answered", 20), ("cancelled", 1)]),
        wait_p50: seconds(11),
        wait_p95: seconds(20),
        deliveries_waiting: 20,
    };
    assert_eq!(world.look(move |reads| reads.stats(&here, at(0))), expected);
    let of_late = world.look(move |reads| reads.stats(&here, at(20)));
    assert_eq!(of_late.closed, counts(&[("answered", 2), ("cancelled", 1)]));
    assert_eq!((of_late.wait_p50, of_late.wait_p95), (seconds(20), seconds(20)));

    let page =
        |after, limit| world.look(move |reads| reads.closed_interactions(&here, at(20), after, limit)).into_vec();
    let late = page(None, 10);
    let shown = |closed: &ClosedInteraction| (closed.id, closed.asked_at, closed.resolved_at, closed.rule.clone());
    let told = |question: &Interaction, second| (question.id, at(1), at(second), None);
    let expected = [told(&waiting[18], 20), told(&waiting[19], 21), told(&cancelled, 30)];
    assert_eq!(late.iter().map(shown).collect::<Vec<_>>(), expected);
    assert_eq!(late[0].resolution.answer().map(|answer| answer.by.name.as_str()), Some("alice"));
    assert_eq!([page(None, 1), page(Some((at(20), late[0].id)), 10)].concat(), late);
    assert_eq!(
        world.look(move |reads| (0..3).map(|s| reads.open_since(&here, at(s))).collect::<Result<Vec<_>, _>>()),
        [3, 3, 0]
    );
}

/// Open questions of all projects are counted by kind.
pub fn open_questions_are_counted_by_kind(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, session) = (world.here, world.session());
    assert_eq!(world.look(|reads| reads.open_counts()), []);
    for kind in ["confirmation", "question", "confirmation"] {
        world.ask(&session, json!({ "kind": kind }));
    }
    let answer = answered(&world.ask(&session, json!({})), "alice", at(2));
    world.keep(&[&answer]);
    let foreign = world.keep_session(super::world::session(world.elsewhere, "chat-1", None));
    world.ask(&foreign, json!({ "kind": "notice" }));
    let count =
        |scope: domain::Scope, kind, count| OpenCount { tenant: scope.tenant, project: scope.project, kind, count };
    let mut open = world.look(|reads| reads.open_counts());
    open.sort_by(|one, other| (one.project, one.kind.as_str()).cmp(&(other.project, other.kind.as_str())));
    let mut all = vec![
        count(here, KindName::Confirmation, 2),
        count(here, KindName::Question, 1),
        count(world.elsewhere, KindName::Notice, 1),
    ];
    all.sort_by(|one, other| (one.project, one.kind.as_str()).cmp(&(other.project, other.kind.as_str())));
    assert_eq!(open, all);
}
