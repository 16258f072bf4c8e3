//! Databases of the simulation, in memory if possible, each a copy of a prepared one.

use std::sync::{Arc, OnceLock};

use domain::{AgentVersion, Caller, DefinitionKind, FlowVersion, Projects, Role};
use engine::{Definitions, Engine, Ids, MasterKey, NewKey, Owners, Settings, Vault};
use futures::executor::block_on;
use parking_lot::Mutex;
use serde_json::json;
use store::{Clock, Store};
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;
use testkit::{ManualClock, Random, memory_directory};

/// Policy of the simulation: tools that it allows, asks about and denies.
const POLICY: &str = r#"
version = 1
default = "ask"
[[rule]]
name = "free"
tools = ["look", "stamp", "editor"]
verdict = "allow"
[[rule]]
name = "two"
tools = ["two"]
verdict = "ask"
ask = { audience = { quorum = 2 } }
[[rule]]
name = "timed"
tools = ["timed"]
verdict = "ask"
ask = { deadline_seconds = 90, fallback = "deny" }
[[rule]]
name = "brief"
tools = ["brief"]
verdict = "ask"
ask = { deadline_seconds = 90 }
[[rule]]
name = "never"
tools = ["never"]
verdict = "deny"
"#;

/// People of the simulation and their roles.
pub(crate) const PEOPLE: [(&str, Role); 3] =
    [("alice", Role::Operator), ("bob", Role::Operator), ("carol", Role::Admin)];

struct Beginning {
    database: Vec<u8>,
    people: Vec<Caller>,
}

/// Creates a directory with a database in which people have keys and a policy is in force, but no session exists.
pub(crate) fn fresh() -> (TempDir, Vec<Caller>) {
    static BEGINNING: OnceLock<Beginning> = OnceLock::new();
    let beginning = BEGINNING.get_or_init(Beginning::make);
    let directory = memory_directory().unwrap();
    std::fs::write(directory.path().join("holdpoint.db"), &beginning.database).unwrap();
    (directory, beginning.people.clone())
}

impl Beginning {
    fn make() -> Self {
        let (directory, clock) = (memory_directory().unwrap(), ManualClock::default());
        let store: Arc<dyn Store> = open(&directory, &clock);
        let engine = boot(&store, &clock, &Arc::new(Mutex::new(Random::seeded(0))));
        let person = |(user, role): (&str, Role)| {
            let new = NewKey::named(role, user);
            let (key, _) = block_on(engine.key_install("acme", "default", new)).unwrap();
            key.caller(clock.now()).unwrap()
        };
        let people: Vec<Caller> = PEOPLE.into_iter().map(person).collect();
        let put = engine.policy_put(&people[2], POLICY.into(), (None, None), None);
        block_on(tokio::task::unconstrained(put)).unwrap();
        let copy = directory.path().join("copy.db");
        store_sqlite::backup(directory.path(), &copy).unwrap();
        Self { database: std::fs::read(copy).unwrap(), people }
    }
}

/// Opens the database of a directory.
pub(crate) fn open(directory: &TempDir, clock: &ManualClock) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(directory.path(), Arc::new(clock.clone()), &SqliteOptions::default()).unwrap())
}

/// Puts an engine on a store, with the agents and flows of the simulation.
pub(crate) fn boot(store: &Arc<dyn Store>, clock: &ManualClock, ids: &Arc<Mutex<Random>>) -> Engine {
    let ids = Arc::clone(ids);
    let ids = Ids::from_source(Box::new(move |bytes| ids.lock().fill(bytes)));
    let vault = Vault::new(MasterKey::from_bytes([7; 32]));
    // Lists never wait for each other: the only thread of the simulation would wait for itself.
    let settings = Settings { lists_at_once: Some(100), ..Settings::default() };
    let engine = Engine::new(Arc::clone(store), Arc::new(clock.clone()), ids, vault, settings);
    engine.set_definitions_for(definitions(), owners());
    engine
}

/// Owners of the definitions, so that the project of the simulated people may use them.
fn owners() -> Owners {
    let mut owners = Owners::default();
    owners.insert(DefinitionKind::Agent, ("guide", "1"), Projects::All);
    owners.insert(DefinitionKind::Flow, ("release", "1"), Projects::All);
    owners
}

fn definitions() -> Definitions {
    let agent: AgentVersion = serde_json::from_value(json!({
        "name": "guide", "version": "1", "model": { "provider": "scripted", "script": { "turns": [] } },
        "instructions": "Be kind.", "tools": ["ask_user"],
        "client_tools": [{ "name": "editor" }],
        "limits": { "iterations": 12, "rounds": 6, "retries": 3 },
        "deadlines": { "question": 120 },
    }))
    .unwrap();
    let flow: FlowVersion = serde_json::from_value(json!({
        "name": "release", "version": "1",
        "steps": [
            { "name": "plan", "agent": "guide", "input": "{{ input.task }}: plan", "pass": { "plan": "{{ output.text }}" } },
            { "name": "build", "agent": "guide", "input": "{{ input.task }}: build {{ shared.plan }} as {{ answer.option }}",
              "question": { "kind": "choice", "title": "How?",
                            "options": [{ "id": "fast", "label": "Fast", "effect": "provide" },
                                        { "id": "no", "label": "Not at all", "effect": "reject" }] },
              "attempts": 2, "delay_seconds": 1, "on_rejection": "tell", "on_failure": "tell" },
            { "name": "tell", "agent": "guide", "input": "{{ input.task }}: tell" },
        ],
    }))
    .unwrap();
    Definitions { agents: vec![agent], flows: vec![flow] }
}
