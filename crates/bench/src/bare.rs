//! The barest loop that SQLite allows: the smallest rows, one writer, group commit, nothing kept for anybody else.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use rusqlite::{Connection, params};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::Fallible;
use crate::sample::Times;

/// How many operations share a commit at most, as in our own store.
const MOST_A_COMMIT: usize = 256;

const SCHEMA: &str = "
    create table steps (id integer primary key, state text not null);
    create table questions (id integer primary key, step integer not null, status text not null, body text not null);
    create index open_questions on questions (id) where status = 'pending';
    create table responses (question integer primary key, body text not null);
    create table jobs (question integer primary key, state text not null, lease integer);
    create index waiting_jobs on jobs (question) where state = 'waiting';
    create table events (position integer primary key, question integer not null, type text not null);
";

/// One durable operation on the question of this number.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Pause(i64),
    Answer(i64),
    Claim(i64),
    Complete(i64),
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
    let numbers = Arc::new(AtomicI64::new(1));
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

async fn go_round(orders: Sender<Order>, numbers: Arc<AtomicI64>, begin: Instant, end: Instant) -> Fallible<Times> {
    let mut times = Times::default();
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok(times);
        }
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        for operation in
            [Operation::Pause(number), Operation::Answer(number), Operation::Claim(number), Operation::Complete(number)]
        {
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
    let run = |sql: &str, number: i64| match connection.prepare_cached(sql)?.execute(params![number])? {
        1 => Ok(()),
        rows => Err(rusqlite::Error::StatementChangedRows(rows)),
    };
    match operation {
        Operation::Pause(number) => {
            run("insert into steps values (?1, 'waiting')", number)?;
            run("insert into questions values (?1, ?1, 'pending', 'Deploy 1.4 to production?')", number)?;
            run("insert into events (question, type) values (?1, 'asked')", number)
        }
        Operation::Answer(number) => {
            run("update questions set status = 'answered' where id = ?1 and status = 'pending'", number)?;
            run("insert into responses values (?1, 'approve')", number)?;
            run("insert into jobs values (?1, 'waiting', null)", number)?;
            run("insert into events (question, type) values (?1, 'answered')", number)
        }
        Operation::Claim(number) => {
            run("update jobs set state = 'processing', lease = 1 where question = ?1 and state = 'waiting'", number)
        }
        Operation::Complete(number) => {
            run("update jobs set state = 'completed' where question = ?1 and lease = 1", number)?;
            run("update steps set state = 'running' where id = ?1", number)
        }
    }
}
