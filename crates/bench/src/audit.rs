//! What the audit trail costs: its entries in the transactions of the loop, and their chaining afterwards.

use std::sync::Arc;
use std::time::Instant;

use engine::{Engine, Ids, MasterKey, Settings, Vault};
use store::{Cost, Store, StoreError, SystemClock, read};

use crate::Fallible;
use crate::durable::Desk;
use crate::floor::go;
use crate::ground::{Ground, Kept};
use crate::report::{Row, Section, Table, figure, text, whole};

/// How many go round at once.
const CLIENTS: usize = 64;
/// How many entries a loop leaves.
const ENTRIES: f64 = 4.0;

/// Measures the loop with and without the trail, then chains what was left.
pub(crate) fn section(ground: &Ground) -> Fallible<Section> {
    let mut table =
        Table::new("Audit append cost: the floor at 64 clients without the trail and with it; chaining afterwards");
    for kept in ground.stores() {
        table.rows.push(row(ground, kept)?);
    }
    Ok(Section { name: "audit", tables: vec![table], targets: Vec::new() })
}

fn row(ground: &Ground, kept: Kept) -> Fallible<Row> {
    eprintln!("audit: {}", kept.name());
    let (without, _) = measured(ground, kept, false)?;
    let (with, (chained, rate)) = measured(ground, kept, true)?;
    let micros = |rate: f64| 1_000_000.0 / rate.max(1.0);
    Ok(vec![
        ("store", text(kept.name())),
        ("loops/s without", figure(without, 0)),
        ("loops/s with", figure(with, 0)),
        ("µs an entry", figure((micros(with) - micros(without)) / ENTRIES, 1)),
        ("chained", whole(chained)),
        ("chained/s", figure(rate, 0)),
    ])
}

/// Loops a second, and how many entries were chained afterwards, how fast.
fn measured(ground: &Ground, kept: Kept, audits: bool) -> Fallible<(f64, (u64, f64))> {
    let place = ground.place(kept)?;
    let store = place.open()?;
    let length = ground.window().1;
    let found = ground.run(async {
        let desk = Desk::open(store.as_ref()).await?;
        let tenant = desk.scope.tenant;
        let desk = if audits { desk } else { desk.without_trail() };
        let times = go(ground, &store, desk, CLIENTS).await?;
        let begun = Instant::now();
        chaining(&store).chain().await?;
        let elapsed = begun.elapsed();
        let head = read::<_, StoreError, _>(store.as_ref(), Cost::Point, move |reads| reads.audit_head(tenant)).await?;
        Ok((times.count() as f64 / length.as_secs_f64(), (head.seq, head.seq as f64 / elapsed.as_secs_f64())))
    });
    store.close();
    found
}

fn chaining(store: &Arc<dyn Store>) -> Engine {
    let vault = Vault::new(MasterKey::from_bytes([7; 32]));
    Engine::new(Arc::clone(store), Arc::new(SystemClock), Ids::default(), vault, Settings::default())
}
