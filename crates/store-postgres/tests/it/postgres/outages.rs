//! Lost connections, a stopped server, and commits without an answer.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::postgres::common::{database, open, until};
use domain::InteractionId;
use holdpoint_store_postgres::{PostgresOptions, PostgresStore};
use store::conformance::{World, append};
use store::{Cost, Store, StoreError, read};
use testkit::postgres::TestPostgres;
use uuid::Uuid;

/// Creates a unique mark by which the event of a job is found, however often the job ran.
fn mark(number: u128) -> Option<InteractionId> {
    Some(InteractionId::from_uuid(Uuid::from_u128(number)))
}

#[test]
fn acknowledged_writes_are_stored_once_despite_cut_connections() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions::default()));
    let here = world.here;
    let sessions: Vec<_> = (0..4).map(|_| world.session().id).collect();
    let writing = AtomicU32::new(8);
    let mut results: HashMap<u128, Result<(), StoreError>> = HashMap::new();
    let mut cut = 0_i64;
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8_u128)
            .map(|writer| {
                let (world, sessions, writing) = (&world, &sessions, &writing);
                scope.spawn(move || {
                    let mine: Vec<_> = (0..200_u128)
                        .map(|turn| {
                            let (number, session) = (writer * 1000 + turn, sessions[(turn % 4) as usize]);
                            (number, world.write(move |tx| append(tx, &here, session, mark(number))).map(drop))
                        })
                        .collect();
                    writing.fetch_sub(1, Ordering::SeqCst);
                    mine
                })
            })
            .collect();
        let mut assassin = database.connect().unwrap();
        while writing.load(Ordering::SeqCst) > 0 {
            let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                       where datname = current_database() and pid <> pg_backend_pid() and random() < 0.5";
            cut += assassin.query_one(sql, &[]).unwrap().get::<_, i64>(0);
            std::thread::sleep(Duration::from_millis(30));
        }
        results.extend(writers.into_iter().flat_map(|writer| writer.join().unwrap()));
    });
    let mut found: HashMap<u128, u32> = HashMap::new();
    for session in sessions {
        let events = world.look(move |reads| reads.events(&here, session, 0, 10_000));
        assert!(events.iter().zip(1..).all(|(event, number)| event.seq == number), "no gaps");
        for event in events {
            *found.entry(event.interaction.unwrap().uuid().as_u128()).or_default() += 1;
        }
    }
    assert!(cut > 0, "no connection was cut");
    for (number, result) in results {
        let times = found.get(&number).copied().unwrap_or(0);
        match result {
            Ok(()) => assert_eq!(times, 1, "job {number} was acknowledged"),
            Err(StoreError::InDoubt) => assert!(times <= 1, "job {number} is in doubt"),
            Err(error) => assert_eq!(times, 0, "job {number} failed: {error}"),
        }
    }
}

#[test]
fn store_works_again_after_a_restart_of_its_server() {
    let server = TestPostgres::private().unwrap();
    let database = server.fresh_database().unwrap();
    let world = World::on(&open(&database, &PostgresOptions { connections: 2, ..PostgresOptions::default() }));
    let (here, session) = (world.here, world.session().id);
    world.write(move |tx| append(tx, &here, session, None)).unwrap();
    server.stop().unwrap();
    let refused = world.write(move |tx| append(tx, &here, session, None));
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    let looked = read::<_, StoreError, _>(&*world.store, Cost::Point, move |reads| reads.session(&here, session));
    let looked = futures::executor::block_on(looked);
    assert!(matches!(looked, Err(StoreError::Unavailable(_))), "{looked:?}");
    server.resume().unwrap();
    until("the store works again", || world.write(move |tx| append(tx, &here, session, None)).is_ok());
    let events = world.look(move |reads| reads.events(&here, session, 0, 100));
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn missing_database_is_reported_as_unavailable() {
    let error = PostgresStore::open("postgres://nobody@127.0.0.1:1/none", &PostgresOptions::default()).err();
    assert!(matches!(error, Some(StoreError::Unavailable(_))), "{error:?}");
    let error = PostgresStore::open("postgres://nobody@:x:y", &PostgresOptions::default()).err();
    assert!(matches!(error, Some(StoreError::Unavailable(_))), "{error:?}");
}

/// Fault that the proxy applies to the next commit.
#[derive(Clone, Copy)]
enum CommitFault {
    /// Forwards the commit and closes the connection before the answer.
    SwallowAnswer,
    /// Closes the connection without forwarding the commit.
    SwallowCommit,
}

fn check_in_doubt(mischief: CommitFault, kept: usize) {
    let database = database();
    let config: postgres::Config = database.url().parse().unwrap();
    let port = config.get_ports()[0];
    let armed = Arc::new(AtomicBool::new(false));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let through = listener.local_addr().unwrap().port();
    let switch = Arc::clone(&armed);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            proxy(client.unwrap(), TcpStream::connect(("127.0.0.1", port)).unwrap(), &switch, mischief);
        }
    });
    let url = database.url().replace(&format!(":{port}/"), &format!(":{through}/"));
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&url, &PostgresOptions::default()).unwrap());
    let world = World::on(&store);
    let (here, session) = (world.here, world.session().id);
    armed.store(true, Ordering::SeqCst);
    let doubtful = world.write(move |tx| append(tx, &here, session, mark(7)));
    assert_eq!(doubtful.map(drop), Err(StoreError::InDoubt));
    // The server may not have noticed the lost connection yet, and holds the row until then.
    let next = world.write(move |tx| append(tx, &here, session, mark(8))).unwrap();
    assert_eq!(next.seq, kept as u64 + 1);
    let events = world.look(move |reads| reads.events(&here, session, 0, 100));
    assert_eq!(events.iter().filter(|event| event.interaction == mark(7)).count(), kept);
}

/// Forwards bytes in both directions until it sees the armed commit.
fn proxy(client: TcpStream, server: TcpStream, armed: &Arc<AtomicBool>, mischief: CommitFault) {
    let (mut back_from, mut back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut back_from, &mut back_to));
    let (mut client, mut server, armed) = (client, server, Arc::clone(armed));
    std::thread::spawn(move || {
        let mut bytes = vec![0; 65_536];
        while let Ok(count @ 1..) = client.read(&mut bytes) {
            let commit = bytes[..count].windows(7).any(|window| window == b"commit\0");
            if commit && armed.swap(false, Ordering::SeqCst) {
                client.shutdown(Shutdown::Both).unwrap();
                if matches!(mischief, CommitFault::SwallowAnswer) {
                    server.write_all(&bytes[..count]).unwrap();
                }
                server.shutdown(Shutdown::Write).unwrap();
                return;
            }
            server.write_all(&bytes[..count]).unwrap();
        }
        let _ = server.shutdown(Shutdown::Both);
    });
}

#[test]
fn a_commit_without_an_answer_is_in_doubt() {
    check_in_doubt(CommitFault::SwallowAnswer, 1);
}

#[test]
fn a_commit_that_never_arrived_is_in_doubt() {
    check_in_doubt(CommitFault::SwallowCommit, 0);
}
