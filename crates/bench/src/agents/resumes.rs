//! Measures how many sleeping steps are resumed per second: answer, claim, model request, next question, sleep.

use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;

use super::bench_worker::{BenchWorker, Part};
use crate::Fallible;
use crate::floor;
use crate::report::{Row, Table, decimal, text, whole};
use crate::rows::RowWriter;
use crate::setup::{BenchSetup, StoreKind};

/// Number of sessions; each has its own answering client.
const SESSIONS: usize = 64;

/// Measures on every store.
pub(super) fn measure(setup: &BenchSetup) -> Fallible<Table> {
    let mut table = Table::new(
        "Resumes: 64 steps asleep on a question each, answered as soon as they ask; floor = the four durable operations at 64 clients",
    );
    for store_kind in setup.stores() {
        table.rows.push(measured(setup, store_kind)?);
    }
    Ok(table)
}

fn measured(setup: &BenchSetup, store_kind: StoreKind) -> Fallible<Row> {
    eprintln!("agents: resumes on {}", store_kind.name());
    let (warm, length) = setup.window();
    let database = setup.database(store_kind)?;
    let store = database.open()?;
    let found: Fallible<_> = setup.run(async {
        let part = Part { turns: usize::MAX, tool: "ask_user_confirm", calls: 1 };
        let bench_worker = Arc::new(BenchWorker::open(&store, part).await?);
        let begin = Instant::now() + warm;
        let end = begin + length;
        let mut running = JoinSet::new();
        for _ in 0..SESSIONS {
            running.spawn(go_round(Arc::clone(&bench_worker), end));
        }
        while let Some(done) = running.join_next().await {
            done??;
        }
        let resumed = bench_worker.asked().into_iter().filter(|asked| (begin..end).contains(asked)).count();
        Ok(resumed)
    });
    store.close();
    let resumed = found?;
    let floor_database = setup.database(store_kind)?;
    let store = floor_database.open()?;
    let floor = setup.run(async {
        let rows = RowWriter::open(store.as_ref()).await?;
        floor::run(setup, &store, rows, SESSIONS).await
    });
    store.close();
    let rate = |count: usize| count as f64 / length.as_secs_f64();
    let (resumes, floor) = (rate(resumed), rate(floor?.count()));
    Ok(vec![
        ("store", text(store_kind.name())),
        ("sessions", whole(SESSIONS as u64)),
        ("resumes/s", decimal(resumes, 0)),
        ("floor loops/s", decimal(floor, 0)),
        ("% of floor", decimal(100.0 * resumes / floor.max(1.0), 1)),
    ])
}

/// Answers the questions of one session until `end`.
async fn go_round(bench_worker: Arc<BenchWorker>, end: Instant) -> Fallible<()> {
    let session = bench_worker.starts().await?;
    let mut after = 0;
    while Instant::now() < end {
        for question in bench_worker.questions(session.id, &mut after, 1).await? {
            bench_worker.approves(question).await?;
        }
    }
    Ok(())
}
