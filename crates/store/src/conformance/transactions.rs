//! Transactions: a use case commits as a whole or not at all, independently of others in the same commit; one of many that race wins.

use domain::{Interaction, Session, SessionId, SessionInput};
use futures::executor::block_on;
use futures::future::join_all;
use serde_json::json;

use super::Fixture;
use super::world::{CaseError, World, answered, append, at, session};
use crate::{Cost, StoreError, Tx, read, transact, transact_then};

/// Refused use cases write nothing; others that share their commits are complete.
pub fn refused_use_case_rolls_back_only_itself(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let sessions: Vec<Session> = (0..300).map(|_| session(world.here, "chat-1", None)).collect();
    let work = sessions.iter().enumerate().map(|(number, session)| {
        let (session, here) = (session.clone(), world.here);
        transact(&*world.store, move |tx| {
            tx.session_insert(&session, &SessionInput::default())?;
            append(tx, &here, session.id, None)?;
            match number % 3 {
                0 => Err(CaseError::Refused),
                1 if number % 2 == 0 => Err(CaseError::Store(StoreError::Conflict)),
                _ => Ok(number),
            }
        })
    });
    let results = block_on(join_all(work));
    for (number, (result, session)) in results.into_iter().zip(&sessions).enumerate() {
        let expected = match number % 3 {
            0 => Err(CaseError::Refused),
            1 if number % 2 == 0 => Err(CaseError::Store(StoreError::Conflict)),
            _ => Ok(number),
        };
        assert_eq!(result, expected);
        let (here, id) = (world.here, session.id);
        let found = world.look(move |reads| Ok((reads.session(&here, id)?, reads.events(&here, id, 0, 10)?)));
        assert_eq!((found.0.is_some(), found.1.len()), if expected.is_ok() { (true, 1) } else { (false, 0) });
    }
}

/// A use case that panics writes nothing, and the store continues to work; a query that panics does not stop the store either.
pub fn panicking_use_case_rolls_back_only_itself(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    for _ in 0..40 {
        let (lost, kept) = (session(world.here, "lost", None), session(world.here, "kept", None));
        let (inserted, id) = (lost.clone(), lost.id);
        let panics = transact::<(), StoreError, _>(&*world.store, move |tx| {
            tx.session_insert(&inserted, &SessionInput::default())?;
            assert_ne!(inserted.id, id, "this panic is part of the test");
            Ok(())
        });
        let beside = kept.clone();
        let goes_on = transact(&*world.store, move |tx| tx.session_insert(&beside, &SessionInput::default()));
        assert_eq!(block_on(futures::future::join(panics, goes_on)), (Err(StoreError::Panicked), Ok(())));
        let (here, lost, kept) = (world.here, lost.id, kept.id);
        let found = world.look(move |reads| Ok((reads.session(&here, lost)?, reads.session(&here, kept)?)));
        assert_eq!((found.0.is_some(), found.1.is_some()), (false, true));
        for cost in [Cost::Scan, Cost::Point] {
            let panics = read::<(), StoreError, _>(&*world.store, cost, move |reads| {
                assert_eq!(reads.session(&here, kept)?, None, "this panic is part of the test");
                Ok(())
            });
            assert_eq!(block_on(panics), Err(StoreError::Panicked));
        }
    }
    let here = world.here;
    let read = read::<_, StoreError, _>(&*world.store, Cost::Scan, move |reads| reads.stats(&here, at(0)));
    assert!(block_on(read).is_ok());
}

/// A use case that handles a conflict and continues commits its other writes.
pub fn use_case_can_commit_after_a_handled_conflict(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (old, new) = (world.session(), session(world.here, "chat-2", None));
    let (again, fresh) = (old.clone(), new.clone());
    let conflict = world.write(move |tx| {
        let conflict = tx.session_insert(&again, &SessionInput::default());
        tx.session_insert(&fresh, &SessionInput::default())?;
        Ok(conflict)
    });
    assert_eq!(conflict, Ok(Err(StoreError::Conflict)));
    let here = world.here;
    assert_eq!(world.look(move |reads| reads.session(&here, new.id)).map(|found| found.id), Some(new.id));
    assert_eq!(world.look(move |reads| reads.session(&here, old.id)), Some(old.clone()));
}

/// A save with a revision that is not the next one fails, and its transaction writes nothing.
pub fn a_stale_revision_is_a_conflict(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let session = world.session();
    let asked = world.ask(&session, json!({}));
    let first = answered(&asked, "alice", at(2));
    let second = answered(&asked, "bob", at(3));
    world.keep(&[&first]);
    for stale in [second.clone(), Interaction { revision: 1, ..second.clone() }, Interaction { revision: 4, ..second }]
    {
        let (here, id) = (world.here, session.id);
        let conflict = world.write(move |tx| {
            append(tx, &here, id, None)?;
            tx.interaction_save(&stale)
        });
        assert_eq!(conflict, Err(StoreError::Conflict));
        assert_eq!(world.kept(first.id).as_ref(), Some(&first));
        assert_eq!(world.look(move |reads| reads.events(&here, id, 0, 10)), []);
    }
    let twice = asked;
    assert_eq!(world.write(move |tx| tx.interaction_insert(&twice)), Err(StoreError::Conflict));
}

/// Of sixteen concurrent answers one wins, and fifteen are refused.
pub fn the_first_answer_wins(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let session = world.session();
    for _ in 0..20 {
        let asked = world.ask(&session, json!({}));
        let answers = (0..16).map(|number| answer(&world, session.id, asked.clone(), number));
        let results = block_on(join_all(answers));
        let winners: Vec<&Interaction> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
        let losers = results.iter().filter(|result| **result == Err(CaseError::Refused)).count();
        assert_eq!((winners.len(), losers), (1, 15));
        assert_eq!(world.kept(asked.id).as_ref(), Some(winners[0]));
        let (here, id, about) = (world.here, session.id, asked.id);
        let events = world.look(move |reads| reads.events(&here, id, 0, 1000));
        assert_eq!(events.iter().filter(|event| event.interaction == Some(about)).count(), 1);
    }
}

/// Answers a question: locks the session, reads, decides, saves.
async fn answer(
    world: &World,
    session: SessionId,
    asked: Interaction,
    number: usize,
) -> Result<Interaction, CaseError> {
    let here = world.here;
    transact(&*world.store, move |tx| {
        tx.session_lock(&here, session)?.ok_or(CaseError::Refused)?;
        let now = tx.interaction(&here, asked.id)?.ok_or(CaseError::Refused)?;
        if now.revision != 1 {
            return Err(CaseError::Refused);
        }
        let after = answered(&now, &format!("person-{number}"), at(2));
        tx.interaction_save(&after)?;
        append(tx, &here, session, Some(asked.id))?;
        Ok(after)
    })
    .await
}

/// The time does not change within a transaction, has microsecond precision, and advances between transactions.
pub fn time_is_constant_within_a_transaction(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let twice = |tx: &mut dyn crate::Tx| {
        let first = tx.now()?;
        tx.setting_ensure("a", "b")?;
        Ok((first, tx.now()?))
    };
    let (first, again) = world.write(twice).unwrap();
    let (second, _) = world.write(twice).unwrap();
    assert_eq!(first, again);
    assert!(second >= first);
    assert_eq!(first.subsec_nanosecond() % 1000, 0);
    assert!(world.look(|reads| reads.now()) >= second);
}

/// The effects of a commit run even if the caller is gone; the effects of a refused or failed command do not run.
pub fn effects_of_a_commit_run_after_its_caller_has_gone(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let tell = |refuse: bool| {
        let (told, heard) = std::sync::mpsc::channel();
        let work = move |tx: &mut dyn Tx| {
            tx.setting_ensure("kept", "yes")?;
            if refuse { Err(StoreError::Conflict) } else { Ok(((), 7)) }
        };
        let mut waiting = Box::pin(transact_then(&*world.store, work, move |number: i32| told.send(number).unwrap()));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        // The first poll queues the job; a fast store may already have finished it.
        let _ = waiting.as_mut().poll(&mut context);
        drop(waiting);
        heard.recv_timeout(std::time::Duration::from_secs(20)).ok()
    };
    assert_eq!(tell(false), Some(7));
    assert_eq!(tell(true), None);
}
