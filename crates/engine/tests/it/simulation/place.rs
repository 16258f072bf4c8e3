//! Creates the databases of the simulation: in memory if possible, each as a copy of one prepared database.

use std::sync::{Arc, OnceLock};

use futures::executor::block_on;
use holdpoint_engine::{Engine, NewKey};
use parking_lot::Mutex;
use store::{Clock, Store};
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;
use testkit::{ManualClock, Random, memory_directory};

use crate::simulation::cast::{PARTS, TENANTS, Tenant};
use crate::simulation::world::boot;

struct Beginning {
    database: Vec<u8>,
    tenants: Vec<Tenant>,
}

/// Creates a directory with a database that has only the keys of both tenants.
pub(crate) fn fresh() -> (TempDir, Vec<Tenant>) {
    static BEGINNING: OnceLock<Beginning> = OnceLock::new();
    let beginning = BEGINNING.get_or_init(Beginning::make);
    let directory = memory_directory().unwrap();
    std::fs::write(directory.path().join("holdpoint.db"), &beginning.database).unwrap();
    (directory, beginning.tenants.clone())
}

impl Beginning {
    fn make() -> Self {
        let (directory, clock) = (memory_directory().unwrap(), ManualClock::default());
        let store: Arc<dyn Store> = open(&directory, &clock);
        let engine = boot(&store, &clock, &Arc::new(Mutex::new(Random::seeded(0))));
        let tenants = TENANTS.into_iter().map(|name| tenant(&engine, name, &clock)).collect();
        let copy = directory.path().join("copy.db");
        store_sqlite::backup(directory.path(), &copy).unwrap();
        Self { database: std::fs::read(copy).unwrap(), tenants }
    }
}

fn tenant(engine: &Engine, name: &str, clock: &ManualClock) -> Tenant {
    let caller = |(user, role, groups): crate::simulation::cast::Part| {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        let new = NewKey { groups, ..NewKey::named(role, user) };
        let (key, _) = block_on(engine.key_install(name, "default", new)).unwrap();
        key.caller(clock.now()).unwrap()
    };
    let mut agents: Vec<_> = PARTS.into_iter().map(caller).collect();
    let people = agents.split_off(2);
    let admin = people.iter().find(|person| person.role == domain::Role::Admin).unwrap();
    let put = engine.policy_put(admin, crate::simulation::calls::policy(0), (None, None), None);
    block_on(tokio::task::unconstrained(put)).unwrap();
    Tenant { scope: agents[0].scope, agents, people }
}

/// Opens the database in a directory.
pub(crate) fn open(directory: &TempDir, clock: &ManualClock) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(directory.path(), Arc::new(clock.clone()), &SqliteOptions::default()).unwrap())
}
