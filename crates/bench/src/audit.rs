//! Measures the cost of the audit trail: writing entries in the transactions of the floor, and chaining them
//! afterwards.

use std::sync::Arc;
use std::time::Instant;

use engine::{Engine, Ids, MasterKey, Settings, Vault};
use store::{Cost, Store, StoreError, SystemClock, read};

use crate::Fallible;
use crate::floor;
use crate::report::{Row, Section, Table, decimal, text, whole};
use crate::rows::RowWriter;
use crate::setup::{BenchSetup, StoreKind};

/// Number of concurrent clients.
const CLIENTS: usize = 64;
/// Number of audit entries that a round writes.
const ENTRIES: f64 = 4.0;

/// Measures the floor with and without audit entries, then chains the entries.
pub(crate) fn section(setup: &BenchSetup) -> Fallible<Section> {
    let mut table =
        Table::new("Audit append cost: the floor at 64 clients without the trail and with it; chaining afterwards");
    for store_kind in setup.stores() {
        table.rows.push(row(setup, store_kind)?);
    }
    Ok(Section { name: "audit", tables: vec![table], targets: Vec::new() })
}

fn row(setup: &BenchSetup, store_kind: StoreKind) -> Fallible<Row> {
    eprintln!("audit: {}", store_kind.name());
    let (without, _) = measured(setup, store_kind, false)?;
    let (with, (chained, rate)) = measured(setup, store_kind, true)?;
    let micros = |rate: f64| 1_000_000.0 / rate.max(1.0);
    Ok(vec![
        ("store", text(store_kind.name())),
        ("loops/s without", decimal(without, 0)),
        ("loops/s with", decimal(with, 0)),
        ("µs an entry", decimal((micros(with) - micros(without)) / ENTRIES, 1)),
        ("chained", whole(chained)),
        ("chained/s", decimal(rate, 0)),
    ])
}

/// Rounds per second, and the number and rate of the entries chained afterwards.
fn measured(setup: &BenchSetup, store_kind: StoreKind, audits: bool) -> Fallible<(f64, (u64, f64))> {
    let database = setup.database(store_kind)?;
    let store = database.open()?;
    let length = setup.window().1;
    let found = setup.run(async {
        let rows = RowWriter::open(store.as_ref()).await?;
        let tenant = rows.scope.tenant;
        let rows = if audits { rows } else { rows.without_trail() };
        let times = floor::run(setup, &store, rows, CLIENTS).await?;
        let begun = Instant::now();
        chaining(&store).chain_audit().await?;
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
