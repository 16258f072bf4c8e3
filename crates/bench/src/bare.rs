//! The barest loop that SQLite allows: the smallest rows, one writer, group commit, nothing kept for anybody else.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use rusqlite::{Connection, ToSql};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::Fallible;
use crate::sample::Times;

/// How many operations share a commit at most, as in our own store.
const MOST_A_COMMIT: usize = 256;

/// Sixteen bytes an id, as we have them, and one index beyond the keys where something has to be found.
const SCHEMA: &str = "
    create table steps (id blob primary key, state text not null) without rowid;
    create table questions (id blob primary key, status text not null, body text not null);
    create index open_questions on questions (id) where status = 'pending';
    create table responses (question blob primary key, body text not null);
    create table jobs (question blob primary key, state text not null, attempt integer not null) without rowid;
    create index waiting_jobs on jobs (question) where state = 'waiting';
    create table events (position integer primary key, question blob not null, seq integer not null, body text not null);
    create unique index numbered_events on events (question, seq);
";
const QUESTION: &str = r#"{"kind":"approval","title":"Deploy 1.4 to production?","action":{"tool":"deploy","arguments":{"version":"1.4","target":"production"}},"fallback":"deny"}"#;
const RESPONSE: &str = r#"{"option":"approve","by":"bench-person"}"#;

/// One durable operation on the question of this id.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Pause(Uuid),
    Answer(Uuid),
    Claim(Uuid),
    Complete(Uuid),
}

type Order = (Operation, oneshot::Sender<Result<(), String>>);

/// Goes round with so many submitters and gives the times of the loops finished between two moments.
pub(crate) async fn measure(directory: &Path, submitters: usize, begin: Instant, end: Instant) -> Fallible<Times> {
    let connection = Connection::open(directory.join("bare.db"))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    connection.pragma_update(None, "cache_size", -32_000)?;
    connection.execute_batch(SCHEMA)?;
    let (orders, queue) = channel::<Order>();
    let writer = std::thread::spawn(move || write(&connection, &queue));
    let numbers = Arc::new(AtomicU64::new(1));
    let mut running = JoinSet::new();
    for _ in 0..submitters {
        running.spawn(go_round(orders.clone(), Arc::clone(&numbers), begin, end));
    }
    drop(orders);
    let mut all = Times::default();
    while let Some(times) = running.join_next().await {
        all.extend(times??);
    }
    // The queue is closed, so that the thread is at its end.
    writer.join().map_err(|_| "the writer panicked")??;
    Ok(all)
}

async fn go_round(orders: Sender<Order>, numbers: Arc<AtomicU64>, begin: Instant, end: Instant) -> Fallible<Times> {
    let mut times = Times::default();
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok(times);
        }
        let id = Uuid::from_u128(0x0198_f2c4 << 96 | u128::from(numbers.fetch_add(1, Ordering::Relaxed)));
        for operation in [Operation::Pause(id), Operation::Answer(id), Operation::Claim(id), Operation::Complete(id)] {
            let (reply, done) = oneshot::channel();
            orders.send((operation, reply))?;
            done.await??;
        }
        let now = Instant::now();
        if now >= begin && now < end {
            times.add(now - started);
        }
    }
}

/// Commits whatever has gathered, one transaction after the other, until nobody can send any more.
fn write(connection: &Connection, queue: &Receiver<Order>) -> Result<(), rusqlite::Error> {
    while let Ok(first) = queue.recv() {
        connection.execute_batch("begin immediate")?;
        let mut done = Vec::new();
        let mut next = Some(first);
        while let Some((operation, reply)) = next.take() {
            done.push((reply, perform(connection, operation).map_err(|error| error.to_string())));
            if done.len() < MOST_A_COMMIT {
                next = queue.try_recv().ok();
            }
        }
        connection.execute_batch("commit")?;
        for (reply, result) in done {
            // Whoever asked may have gone away.
            let _ = reply.send(result);
        }
    }
    Ok(())
}

fn perform(connection: &Connection, operation: Operation) -> Result<(), rusqlite::Error> {
    let run = |sql: &str, values: &[&dyn ToSql]| match connection.prepare_cached(sql)?.execute(values)? {
        1 => Ok(()),
        rows => Err(rusqlite::Error::StatementChangedRows(rows)),
    };
    let event = "insert into events (question, seq, body) values (?1, ?2, ?3)";
    match operation {
        Operation::Pause(id) => {
            run("insert into steps values (?1, 'waiting')", &[&id])?;
            run("insert into questions values (?1, 'pending', ?2)", &[&id, &QUESTION])?;
            run(event, &[&id, &1, &r#"{"type":"interaction.asked"}"#])
        }
        Operation::Answer(id) => {
            run("update questions set status = 'answered' where id = ?1 and status = 'pending'", &[&id])?;
            run("insert into responses values (?1, ?2)", &[&id, &RESPONSE])?;
            run("insert into jobs values (?1, 'waiting', 0)", &[&id])?;
            run(event, &[&id, &2, &r#"{"type":"interaction.answered"}"#])
        }
        Operation::Claim(id) => {
            run("update jobs set state = 'processing', attempt = 1 where question = ?1 and state = 'waiting'", &[&id])
        }
        Operation::Complete(id) => {
            run("update jobs set state = 'completed' where question = ?1 and attempt = 1", &[&id])?;
            run("update steps set state = 'running' where id = ?1", &[&id])
        }
    }
}
