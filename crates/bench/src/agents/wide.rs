//! One turn that asks about many actions at once, against one that asks about a single one.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};

use super::house::{House, PATIENCE, Part};
use crate::Fallible;
use crate::ground::{Ground, Kept};
use crate::report::{Table, figure, text, whole};

/// How many questions stand side by side.
const WIDTHS: [usize; 2] = [1, 64];
/// How many people answer at once.
const PEOPLE: usize = 8;
/// How often each width is measured.
const TIMES: usize = 5;

/// From the turn to the last question, and from the first answer to the next turn.
struct Found {
    asked: Duration,
    resumed: Duration,
}

/// Measures on every store.
pub(super) fn measure(ground: &Ground) -> Fallible<Table> {
    let mut table = Table::new(
        "A turn with 1 and with 64 actions to ask about: until all are asked; until all are approved, run, and the model is asked again",
    );
    for kept in ground.stores() {
        let mut alone = 0.0;
        for width in WIDTHS {
            eprintln!("agents: {width} questions side by side on {}", kept.name());
            let mut all: Vec<Found> = Vec::new();
            for _ in 0..TIMES {
                all.push(measured(ground, kept, width)?);
            }
            let median = |of: fn(&Found) -> Duration| {
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
                ("store", text(kept.name())),
                ("questions", whole(width as u64)),
                ("all asked ms", figure(asked, 1)),
                ("all settled ms", figure(resumed, 1)),
                ("ms a question", figure(each, 2)),
                ("against one", figure(each / alone.max(0.001), 2)),
            ]);
        }
    }
    Ok(table)
}

fn measured(ground: &Ground, kept: Kept, width: usize) -> Fallible<Found> {
    let place = ground.place(kept)?;
    let store = place.open()?;
    let found = ground.run(async {
        let house = House::open(&store, Part { turns: 1, tool: "write_file", calls: width }).await?;
        let session = house.starts().await?;
        let mut after = 0;
        let questions = house.questions(session.id, &mut after, width).await?;
        let (all_asked, begun) = (Instant::now(), house.asked());
        let first = Instant::now();
        let answering = stream::iter(questions).map(Ok).try_for_each_concurrent(PEOPLE, |one| house.approves(one));
        tokio::time::timeout(PATIENCE, answering).await??;
        house.ended(session.id, &mut after).await?;
        let (Some(turn), Some(next)) = (begun.first().copied(), house.asked().get(1).copied()) else {
            return Err("the model was not asked".into());
        };
        Ok(Found { asked: all_asked - turn, resumed: next - first })
    });
    store.close();
    found
}
