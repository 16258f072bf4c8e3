//! Measures the floor: the commit rate of the store itself, with the rows that the loop writes but without HTTP and
//! engine.
//!
//! A round is four transactions, as the loop has four durable operations. Each writes a question, an event and an audit
//! entry and saves the session.

use std::sync::Arc;
use std::time::Instant;

use store::{Store, transact};
use tokio::task::JoinSet;

use crate::Fallible;
use crate::http_loop::LoopRate;
use crate::report::{Row, Section, Table, Target, decimal, text, whole};
use crate::rows::{RowError, RowWriter};
use crate::sample::{Ranked, Times};
use crate::setup::{BenchSetup, StoreKind};

/// Share of the floor that the loop over HTTP has to reach at 64 clients, in per cent.
const WANTED: f64 = 40.0;
/// Transactions of a round: asking, answering, taking and completing.
const TRANSACTIONS: usize = 4;

/// Measures the floor at every size and compares the loop over HTTP with it.
pub(crate) fn section(setup: &BenchSetup, loops: &[LoopRate]) -> Fallible<Section> {
    let mut table =
        Table::new("Floor: the store's own commit rate with the rows of the loop, four transactions a round");
    let mut floors = Vec::new();
    for store_kind in setup.stores() {
        for clients in setup.sizes().iter().copied() {
            let (row, per_second) = measure(setup, store_kind, clients)?;
            table.rows.push(row);
            floors.push(LoopRate { store_kind, clients, per_second });
        }
    }
    let (ratios, target) = compare(loops, &floors);
    let mut tables = vec![table];
    if !ratios.rows.is_empty() {
        tables.push(ratios);
    }
    Ok(Section { name: "floor", tables, targets: target.into_iter().collect() })
}

fn measure(setup: &BenchSetup, store_kind: StoreKind, clients: usize) -> Fallible<(Row, f64)> {
    eprintln!("floor: {} with {clients} submitters", store_kind.name());
    let database = setup.database(store_kind)?;
    let store = database.open()?;
    let length = setup.window().1;
    let found = setup.run(async {
        let rows = RowWriter::open(store.as_ref()).await?;
        run(setup, &store, rows, clients).await
    });
    store.close();
    let times = found?;
    let per_second = times.count() as f64 / length.as_secs_f64();
    Ok((line(store_kind, clients, per_second, &times.ranked()), per_second))
}

/// Runs this many clients at once for the measured window.
pub(crate) async fn run(
    setup: &BenchSetup,
    store: &Arc<dyn Store>,
    rows: RowWriter,
    clients: usize,
) -> Fallible<Times> {
    let (begin, end) = times(setup);
    let rows = Arc::new(rows);
    let mut running = JoinSet::new();
    for _ in 0..clients {
        running.spawn(run_client(Arc::clone(store), Arc::clone(&rows), begin, end));
    }
    let mut all = Times::default();
    while let Some(found) = running.join_next().await {
        all.extend(found??);
    }
    Ok(all)
}

async fn run_client(store: Arc<dyn Store>, rows: Arc<RowWriter>, begin: Instant, end: Instant) -> Fallible<Times> {
    let mut times = Times::default();
    let writer = Arc::clone(&rows);
    let session = transact::<_, RowError, _>(store.as_ref(), move |tx| writer.start(tx)).await?.id;
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok(times);
        }
        let writer = Arc::clone(&rows);
        let mut written = transact(store.as_ref(), move |tx| writer.insert(tx, session)).await?;
        for _ in 1..TRANSACTIONS {
            let writer = Arc::clone(&rows);
            written = transact::<_, RowError, _>(store.as_ref(), move |tx| writer.update(tx, &written)).await?;
        }
        let now = Instant::now();
        if now >= begin && now < end {
            times.add(now - started);
        }
    }
}

/// Begin and end of the measured window.
fn times(setup: &BenchSetup) -> (Instant, Instant) {
    let (warm, length) = setup.window();
    let begin = Instant::now() + warm;
    (begin, begin + length)
}

fn line(store_kind: StoreKind, clients: usize, per_second: f64, ranked: &Ranked) -> Row {
    vec![
        ("store", text(store_kind.name())),
        ("clients", whole(clients as u64)),
        ("rounds/s", decimal(per_second, 0)),
        ("p50 ms", decimal(ranked.millis(50), 2)),
        ("p99 ms", decimal(ranked.millis(99), 2)),
    ]
}

/// Compares the rates of the loop over HTTP with the floor of the same run.
fn compare(loops: &[LoopRate], floors: &[LoopRate]) -> (Table, Option<Target>) {
    let mut table = Table::new("The loop over HTTP as a share of the floor");
    let mut target = None;
    for over_http in loops {
        let same =
            floors.iter().find(|floor| floor.store_kind == over_http.store_kind && floor.clients == over_http.clients);
        let share = same.map(|floor| 100.0 * over_http.per_second / floor.per_second.max(1.0));
        table.rows.push(vec![
            ("store", text(over_http.store_kind.name())),
            ("clients", whole(over_http.clients as u64)),
            ("http loops/s", decimal(over_http.per_second, 0)),
            ("% of floor", share.map_or_else(|| text("-"), |share| decimal(share, 1))),
        ]);
        if let (StoreKind::Sqlite, 64, Some(share)) = (over_http.store_kind, over_http.clients, share) {
            target = Some(Target::at_least("loop over HTTP at 64 clients, of the SQLite floor", WANTED, share, "%"));
        }
    }
    (table, target)
}
