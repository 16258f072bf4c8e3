//! The event log: numbers of a session have no gaps, and a project cursor never passes events that commit later.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use domain::{EventId, SessionId};

use super::Fixture;
use super::world::{World, append};
use crate::{Cursor, Topic};

/// Number of concurrent writers.
const WRITERS: usize = 12;
/// Time limit that even a slow machine does not reach.
const LIMIT: Duration = Duration::from_mins(2);

/// Twelve concurrent writers of one session leave no gaps in its numbers.
pub fn event_numbers_of_a_session_have_no_gaps(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, id) = (world.here, world.session().id);
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| (0..25).for_each(|_| drop(world.write(move |tx| append(tx, &here, id, None)).unwrap())));
        }
    });
    let events = world.look(move |reads| reads.events(&here, id, 0, 1000));
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=WRITERS as u64 * 25).collect::<Vec<_>>());
    let last = world.look(move |reads| reads.session(&here, id)).unwrap().last_seq;
    assert_eq!(last, WRITERS as u64 * 25);
}

/// A reader of a project with twelve concurrent writers sees every event once, and the events of a session in order.
pub fn followers_see_every_event_once(fixture: &Fixture) {
    const EACH: usize = 150;
    let world = World::on(&fixture.store);
    let here = world.here;
    let sessions: Vec<SessionId> = (0..40).map(|_| world.session().id).collect();
    let writing = AtomicU32::new(u32::try_from(WRITERS).unwrap());
    let (written, followed) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (world, sessions, writing) = (&world, &sessions, &writing);
                scope.spawn(move || {
                    let mine =
                        (0..EACH).flat_map(|turn| write(world, sessions, writer * EACH + turn)).collect::<Vec<_>>();
                    writing.fetch_sub(1, Ordering::SeqCst);
                    mine
                })
            })
            .collect();
        let followers: Vec<_> = (0..2).map(|_| scope.spawn(|| follow(&world, &writing))).collect();
        let written: HashSet<EventId> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        (written, followers.into_iter().map(|follower| follower.join().unwrap()).collect::<Vec<_>>())
    });
    for seen in followed {
        let unique: HashSet<EventId> = seen.iter().copied().collect();
        assert_eq!((seen.len(), unique.len()), (written.len(), written.len()), "every written event is seen once");
        assert_eq!(unique, written);
    }
    let head = world.look(move |reads| reads.project_head(&here));
    assert_eq!(world.look(move |reads| reads.project_events(&here, head, 10)).events, []);
}

/// Appends one to three events in one transaction; some transactions are long.
fn write(world: &World, sessions: &[SessionId], number: usize) -> Vec<EventId> {
    let (here, session) = (world.here, sessions[number * 7919 % sessions.len()]);
    let work = move |tx: &mut dyn crate::Tx| {
        let mut ids = Vec::new();
        for _ in 0..=number % 3 {
            ids.push(append(tx, &here, session, None)?.id);
            if number.is_multiple_of(13) {
                // A long transaction, which others overtake.
                std::thread::sleep(Duration::from_millis(1 + number as u64 % 4));
            }
        }
        Ok(ids)
    };
    world.write(work).unwrap()
}

/// Reads until the writers have ended and no events are left.
fn follow(world: &World, writing: &AtomicU32) -> Vec<EventId> {
    let here = world.here;
    let begun = Instant::now();
    let (mut cursor, mut seen) = (Cursor::default(), Vec::new());
    let mut last: HashMap<SessionId, u64> = HashMap::new();
    loop {
        let over = writing.load(Ordering::SeqCst) == 0;
        let after = cursor;
        let part = world.look(move |reads| reads.project_events(&here, after, 50));
        if over && part.events.is_empty() && !part.hidden {
            return seen;
        }
        for (at, event) in part.events {
            assert!(at > cursor, "{at} comes after {cursor}");
            cursor = at;
            let before = last.insert(event.session, event.seq).unwrap_or(0);
            assert_eq!(event.seq, before + 1, "the events of a session are in order");
            seen.push(event.id);
        }
        assert!(begun.elapsed() < LIMIT, "{} events in {LIMIT:?}", seen.len());
    }
}

/// Topics after a cursor are returned once, and not again from the new cursor.
pub fn changed_topics_are_returned_once(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, first, second) = (world.here, world.session().id, world.session());
    let (second, channel) = (second.id, second.head.channel);
    world.write(move |tx| append(tx, &here, first, None)).unwrap();
    let (begun, mut told) = (Instant::now(), false);
    let start = loop {
        let (topics, head) = world.look(|reads| reads.changed_topics(None));
        assert_eq!(topics, []);
        // Another transaction on the same server may hold the head back.
        if head != Cursor::default() {
            break head;
        }
        assert!(begun.elapsed() < LIMIT);
    };
    world.write(move |tx| append(tx, &here, second, None)).unwrap();
    let mut cursor = start;
    loop {
        let after = cursor;
        let (topics, head) = world.look(move |reads| reads.changed_topics(Some(after)));
        assert!(head >= cursor);
        if topics.is_empty() && told {
            break;
        }
        if !topics.is_empty() {
            let topics: HashSet<Topic> = topics.into_iter().collect();
            let channel = Topic::Channel(here.project, channel.clone());
            assert_eq!(topics, HashSet::from([Topic::Session(second), Topic::Project(here.project), channel]));
            told = true;
        }
        cursor = head;
        assert!(begun.elapsed() < LIMIT);
    }
    assert!(cursor > start);
}
