//! Measures one session of a thousand turns with one allowed call each, and compares the cost of late and early turns.

use std::time::Instant;

use super::bench_worker::{BenchWorker, Part};
use crate::Fallible;
use crate::floor;
use crate::report::{Row, Table, Target, decimal, text, whole};
use crate::rows::RowWriter;
use crate::sample::{Ranked, Times};
use crate::setup::{BenchSetup, StoreKind};

/// Number of turns that are measured.
const TURNS: usize = 1000;
/// Number of turns at each end that are compared.
const END: usize = 100;
/// Target for the cost of a late turn relative to an early one.
const WANTED: f64 = 1.2;

/// Measures on every store.
pub(super) fn measure(setup: &BenchSetup) -> Fallible<(Table, Vec<Target>)> {
    let mut table = Table::new(
        "A turn beside its model and tool: 1,000 turns of one session, a call each; floor = the four durable operations at 1 client",
    );
    let mut targets = Vec::new();
    for store_kind in setup.stores() {
        let (row, growth) = measured(setup, store_kind)?;
        table.rows.push(row);
        let what = format!("turns 900 to 1,000 against turns 1 to 100, {}", store_kind.name());
        targets.push(Target::at_most(what, WANTED, growth, "times"));
    }
    Ok((table, targets))
}

fn measured(setup: &BenchSetup, store_kind: StoreKind) -> Fallible<(Row, f64)> {
    eprintln!("agents: {TURNS} turns on {}", store_kind.name());
    let database = setup.database(store_kind)?;
    let store = database.open()?;
    let found: Fallible<_> = setup.run(async {
        let bench_worker = BenchWorker::open(&store, Part { turns: TURNS, tool: "read_file", calls: 1 }).await?;
        let session = bench_worker.starts().await?;
        bench_worker.ended(session.id, &mut 0).await?;
        let asked = bench_worker.asked();
        drop(bench_worker);
        let rows = RowWriter::open(store.as_ref()).await?;
        Ok((asked, floor::run(setup, &store, rows, 1).await?))
    });
    store.close();
    let (asked, floor) = found?;
    let part = |from: usize| between(asked.get(from..=from + END).unwrap_or_default());
    let (early, late, floor) = (part(0), part(TURNS - END), floor.ranked());
    let growth = late.millis(50) / early.millis(50).max(0.001);
    let row = vec![
        ("store", text(store_kind.name())),
        ("turns", whole(asked.len().saturating_sub(1) as u64)),
        ("1-100 p50 ms", decimal(early.millis(50), 2)),
        ("p99 ms", decimal(early.millis(99), 2)),
        ("900-1000 p50 ms", decimal(late.millis(50), 2)),
        ("late p99 ms", decimal(late.millis(99), 2)),
        ("late/early", decimal(growth, 2)),
        ("floor p50 ms", decimal(floor.millis(50), 2)),
        ("turn/floor", decimal(early.millis(50) / floor.millis(50).max(0.001), 2)),
    ];
    Ok((row, growth))
}

/// Times between requests to the model; the model and the tool themselves take no time.
fn between(moments: &[Instant]) -> Ranked {
    let mut times = Times::default();
    moments.windows(2).for_each(|pair| times.add(pair[1] - pair[0]));
    times.ranked()
}
