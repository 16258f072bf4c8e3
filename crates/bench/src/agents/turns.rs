//! One session of a thousand turns, one call each that policy allows: whether a late turn costs what an early one did.

use std::time::Instant;

use super::house::{House, Part};
use crate::Fallible;
use crate::durable::Desk;
use crate::floor::go;
use crate::ground::{Ground, Kept};
use crate::report::{Row, Table, Target, figure, text, whole};
use crate::sample::{Ranked, Times};

/// How many turns there are.
const TURNS: usize = 1000;
/// How many at each end are compared.
const END: usize = 100;
/// How much more a late turn may cost.
const WANTED: f64 = 1.2;

/// Measures on every store.
pub(super) fn measure(ground: &Ground) -> Fallible<(Table, Vec<Target>)> {
    let mut table = Table::new(
        "A turn beside its model and tool: 1,000 turns of one session, a call each; floor = the four durable operations at 1 client",
    );
    let mut targets = Vec::new();
    for kept in ground.stores() {
        let (row, growth) = measured(ground, kept)?;
        table.rows.push(row);
        let what = format!("turns 900 to 1,000 against turns 1 to 100, {}", kept.name());
        targets.push(Target::at_most(what, WANTED, growth, "times"));
    }
    Ok((table, targets))
}

fn measured(ground: &Ground, kept: Kept) -> Fallible<(Row, f64)> {
    eprintln!("agents: {TURNS} turns on {}", kept.name());
    let place = ground.place(kept)?;
    let store = place.open()?;
    let found: Fallible<_> = ground.run(async {
        let house = House::open(&store, Part { turns: TURNS, tool: "read_file", calls: 1 }).await?;
        let session = house.starts().await?;
        house.ended(session.id, &mut 0).await?;
        let asked = house.asked();
        drop(house);
        let desk = Desk::open(store.as_ref()).await?;
        Ok((asked, go(ground, &store, desk, 1).await?))
    });
    store.close();
    let (asked, floor) = found?;
    let part = |from: usize| between(asked.get(from..=from + END).unwrap_or_default());
    let (early, late, floor) = (part(0), part(TURNS - END), floor.ranked());
    let growth = late.millis(50) / early.millis(50).max(0.001);
    let row = vec![
        ("store", text(kept.name())),
        ("turns", whole(asked.len().saturating_sub(1) as u64)),
        ("1-100 p50 ms", figure(early.millis(50), 2)),
        ("p99 ms", figure(early.millis(99), 2)),
        ("900-1000 p50 ms", figure(late.millis(50), 2)),
        ("late p99 ms", figure(late.millis(99), 2)),
        ("late/early", figure(growth, 2)),
        ("floor p50 ms", figure(floor.millis(50), 2)),
        ("turn/floor", figure(early.millis(50) / floor.millis(50).max(0.001), 2)),
    ];
    Ok((row, growth))
}

/// The times between moments: the model and the tool take none.
fn between(moments: &[Instant]) -> Ranked {
    let mut times = Times::default();
    moments.windows(2).for_each(|pair| times.add(pair[1] - pair[0]));
    times.ranked()
}
