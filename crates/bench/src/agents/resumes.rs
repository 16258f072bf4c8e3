//! How many steps that sleep on a question are woken a second: answered, claimed, told to the model, asked again, asleep.

use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;

use super::house::{House, Part};
use crate::Fallible;
use crate::durable::Desk;
use crate::floor::go;
use crate::ground::{Ground, Kept};
use crate::report::{Row, Table, figure, text, whole};

/// How many sessions there are, each with its person.
const SESSIONS: usize = 64;

/// Measures on every store.
pub(super) fn measure(ground: &Ground) -> Fallible<Table> {
    let mut table = Table::new(
        "Resumes: 64 steps asleep on a question each, answered as soon as they ask; floor = the four durable operations at 64 clients",
    );
    for kept in ground.stores() {
        table.rows.push(measured(ground, kept)?);
    }
    Ok(table)
}

fn measured(ground: &Ground, kept: Kept) -> Fallible<Row> {
    eprintln!("agents: resumes on {}", kept.name());
    let (warm, length) = ground.window();
    let place = ground.place(kept)?;
    let store = place.open()?;
    let found: Fallible<_> = ground.run(async {
        let part = Part { turns: usize::MAX, tool: "ask_user_confirm", calls: 1 };
        let house = Arc::new(House::open(&store, part).await?);
        let begin = Instant::now() + warm;
        let end = begin + length;
        let mut running = JoinSet::new();
        for _ in 0..SESSIONS {
            running.spawn(go_round(Arc::clone(&house), end));
        }
        while let Some(done) = running.join_next().await {
            done??;
        }
        let resumed = house.asked().into_iter().filter(|asked| (begin..end).contains(asked)).count();
        Ok(resumed)
    });
    store.close();
    let resumed = found?;
    let floor_place = ground.place(kept)?;
    let store = floor_place.open()?;
    let floor = ground.run(async {
        let desk = Desk::open(store.as_ref()).await?;
        go(ground, &store, desk, SESSIONS).await
    });
    store.close();
    let rate = |count: usize| count as f64 / length.as_secs_f64();
    let (resumes, floor) = (rate(resumed), rate(floor?.count()));
    Ok(vec![
        ("store", text(kept.name())),
        ("sessions", whole(SESSIONS as u64)),
        ("resumes/s", figure(resumes, 0)),
        ("floor loops/s", figure(floor, 0)),
        ("% of floor", figure(100.0 * resumes / floor.max(1.0), 1)),
    ])
}

/// Answers what one session asks until the end.
async fn go_round(house: Arc<House>, end: Instant) -> Fallible<()> {
    let session = house.starts().await?;
    let mut after = 0;
    while Instant::now() < end {
        for question in house.questions(session.id, &mut after, 1).await? {
            house.approves(question).await?;
        }
    }
    Ok(())
}
