//! The floor: the loop's four durable operations without HTTP, in our own SQL and in the barest.

use std::sync::Arc;
use std::time::Instant;

use store::{Store, transact};
use tokio::task::JoinSet;

use crate::durable::{Desk, Undone};
use crate::ground::{Ground, Kept};
use crate::http_loop::Loops;
use crate::report::{Row, Section, Table, Target, figure, text, whole};
use crate::sample::Times;
use crate::{Fallible, bare};

/// The part of our own floor that the loop over HTTP has to reach at 64 clients.
const WANTED: f64 = 40.0;

/// Measures both floors at every size, and holds what was found over HTTP against them.
pub(crate) fn section(ground: &Ground, loops: &[Loops]) -> Fallible<Section> {
    let mut table = Table::new(
        "The same four durable operations in process: floor = our own SQL, bare = the smallest rows that could do it",
    );
    let (mut floors, mut bares) = (Vec::new(), Vec::new());
    for kept in ground.stores() {
        for clients in ground.sizes().iter().copied() {
            let (row, per_second) = ours(ground, kept, clients)?;
            table.rows.push(row);
            floors.push(Loops { kept, clients, per_second });
        }
    }
    for clients in ground.sizes().iter().copied().filter(|_| ground.sqlite()) {
        eprintln!("floor: bare SQLite with {clients} submitters");
        let place = ground.place(Kept::Sqlite)?;
        let (begin, end) = times(ground);
        let found = ground.run(bare::measure(place.directory(), clients, begin, end))?;
        let (row, per_second) = line("bare", Kept::Sqlite, clients, (found, end - begin));
        table.rows.push(row);
        bares.push(Loops { kept: Kept::Sqlite, clients, per_second });
    }
    let (ratios, target) = held_against(loops, &floors, &bares);
    let mut tables = vec![table];
    if !ratios.rows.is_empty() {
        tables.push(ratios);
    }
    Ok(Section { name: "floor", tables, targets: target.into_iter().collect() })
}

fn ours(ground: &Ground, kept: Kept, clients: usize) -> Fallible<(Row, f64)> {
    eprintln!("floor: {} with {clients} submitters", kept.name());
    let place = ground.place(kept)?;
    let store = place.open()?;
    let length = ground.window().1;
    let found = ground.run(async {
        let desk = Desk::open(store.as_ref()).await?;
        go(ground, &store, desk, clients).await
    });
    store.close();
    Ok(line("floor", kept, clients, (found?, length)))
}

/// Has so many go round at once, for as long as a rate is measured.
pub(crate) async fn go(ground: &Ground, store: &Arc<dyn Store>, desk: Desk, clients: usize) -> Fallible<Times> {
    let (begin, end) = times(ground);
    let desk = Arc::new(desk);
    let mut running = JoinSet::new();
    for _ in 0..clients {
        running.spawn(go_round(Arc::clone(store), Arc::clone(&desk), begin, end));
    }
    let mut all = Times::default();
    while let Some(found) = running.join_next().await {
        all.extend(found??);
    }
    Ok(all)
}

async fn go_round(store: Arc<dyn Store>, desk: Arc<Desk>, begin: Instant, end: Instant) -> Fallible<Times> {
    let mut times = Times::default();
    let at = Arc::clone(&desk);
    let session = transact(store.as_ref(), move |tx| at.start(tx)).await?.id;
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok(times);
        }
        let at = || Arc::clone(&desk);
        let desk = at();
        let id = transact(store.as_ref(), move |tx| desk.ask(tx, session)).await?;
        let desk = at();
        transact(store.as_ref(), move |tx| desk.answer(tx, id)).await?;
        let desk = at();
        let lease = transact(store.as_ref(), move |tx| desk.take(tx, id)).await?;
        let desk = at();
        transact::<_, Undone, _>(store.as_ref(), move |tx| desk.complete(tx, id, lease)).await?;
        let now = Instant::now();
        if now >= begin && now < end {
            times.add(now - started);
        }
    }
}

/// From when to when it counts.
fn times(ground: &Ground) -> (Instant, Instant) {
    let (warm, length) = ground.window();
    let begin = Instant::now() + warm;
    (begin, begin + length)
}

fn line(what: &str, kept: Kept, clients: usize, (times, length): (Times, std::time::Duration)) -> (Row, f64) {
    let per_second = times.count() as f64 / length.as_secs_f64();
    let ranked = times.ranked();
    let row = vec![
        ("what", text(what)),
        ("store", text(kept.name())),
        ("clients", whole(clients as u64)),
        ("loops/s", figure(per_second, 0)),
        ("p50 ms", figure(ranked.millis(50), 2)),
        ("p99 ms", figure(ranked.millis(99), 2)),
    ];
    (row, per_second)
}

/// What the loop over HTTP reaches of each floor.
fn held_against(loops: &[Loops], floors: &[Loops], bares: &[Loops]) -> (Table, Option<Target>) {
    let mut table = Table::new("HTTP held against the floors");
    let mut target = None;
    for over_http in loops {
        let part = |of: &[Loops]| {
            let same = of.iter().find(|other| other.kept == over_http.kept && other.clients == over_http.clients);
            same.map(|other| 100.0 * over_http.per_second / other.per_second.max(1.0))
        };
        let (floor, bare) = (part(floors), part(bares));
        let shown = |part: Option<f64>| part.map_or_else(|| text("-"), |part| figure(part, 1));
        table.rows.push(vec![
            ("store", text(over_http.kept.name())),
            ("clients", whole(over_http.clients as u64)),
            ("http loops/s", figure(over_http.per_second, 0)),
            ("% of floor", shown(floor)),
            ("% of bare", shown(bare)),
        ]);
        if let (Kept::Sqlite, 64, Some(floor)) = (over_http.kept, over_http.clients, floor) {
            target = Some(Target::at_least("loop over HTTP at 64 clients, of the SQLite floor", WANTED, floor, "%"));
        }
    }
    (table, target)
}
