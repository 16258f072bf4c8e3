//! Compares a turn that asks about many actions at once with a turn that asks about one.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};

use super::bench_worker::{BenchWorker, PATIENCE, Part};
use crate::Fallible;
use crate::report::{Table, decimal, text, whole};
use crate::setup::{BenchSetup, StoreKind};

/// Numbers of questions in a turn.
const WIDTHS: [usize; 2] = [1, 64];
/// Number of people who answer at once.
const PEOPLE: usize = 8;
/// Number of measurements of each width.
const TIMES: usize = 5;

/// Time from the turn to the last question, and from the first answer to the next turn.
struct WideTimes {
    asked: Duration,
    resumed: Duration,
}

/// Measures on every store.
pub(super) fn measure(setup: &BenchSetup) -> Fallible<Table> {
    let mut table = Table::new(
        "A turn with 1 and with 64 actions to ask about: until all are asked; until all are approved, run, and the model is asked again",
    );
    for store_kind in setup.stores() {
        let mut alone = 0.0;
        for width in WIDTHS {
            eprintln!("agents: {width} questions side by side on {}", store_kind.name());
            let mut all: Vec<WideTimes> = Vec::new();
            for _ in 0..TIMES {
                all.push(measured(setup, store_kind, width)?);
            }
            let median = |of: fn(&WideTimes) -> Duration| {
                let mut times: Vec<f64> = all.iter().map(|found| of(found).as_secs_f64() * 1000.0).collect();
                times.sort_by(f64::total_cmp);
                times.get(times.len() / 2).copied().unwrap_or_default()
            };
            let (asked, resumed) = (median(|found| found.asked), median(|found| found.resumed));
            let each = (asked + resumed) / width as f64;
            if width == 1 {
                alone = each;
            }
            table.rows.push(vec![
                ("store", text(store_kind.name())),
                ("questions", whole(width as u64)),
                ("all asked ms", decimal(asked, 1)),
                ("all settled ms", decimal(resumed, 1)),
                ("ms a question", decimal(each, 2)),
                ("against one", decimal(each / alone.max(0.001), 2)),
            ]);
        }
    }
    Ok(table)
}

fn measured(setup: &BenchSetup, store_kind: StoreKind, width: usize) -> Fallible<WideTimes> {
    let database = setup.database(store_kind)?;
    let store = database.open()?;
    let found = setup.run(async {
        let bench_worker = BenchWorker::open(&store, Part { turns: 1, tool: "write_file", calls: width }).await?;
        let session = bench_worker.starts().await?;
        let mut after = 0;
        let questions = bench_worker.questions(session.id, &mut after, width).await?;
        let (all_asked, begun) = (Instant::now(), bench_worker.asked());
        let first = Instant::now();
        let answering =
            stream::iter(questions).map(Ok).try_for_each_concurrent(PEOPLE, |one| bench_worker.approves(one));
        tokio::time::timeout(PATIENCE, answering).await??;
        bench_worker.ended(session.id, &mut after).await?;
        let (Some(turn), Some(next)) = (begun.first().copied(), bench_worker.asked().get(1).copied()) else {
            return Err("the model was not asked".into());
        };
        Ok(WideTimes { asked: all_asked - turn, resumed: next - first })
    });
    store.close();
    found
}
