//! Runs a test against a server with policy files, on SQLite and on PostgreSQL, with a store that can hold a transaction back.

use std::sync::Arc;

use domain::{ActionState, AnswerDraft, AutoSource, Call, Caller, Effect, Interaction, InteractionId, Role, Session};
use holdpoint_engine::{ActionReply, Engine, Error, Ids, MasterKey, NewKey, Propose, Settings, Start, Vault};
use serde_json::{Value, json};
use store::{Cost, Job, Store, SystemClock};
use store_postgres::PostgresStore;
use store_sqlite::SqliteStore;
use testkit::postgres::TestPostgres;
use tokio::sync::Notify;

/// A store that holds back the next transaction on demand, as a busy writer does.
pub(crate) struct Gate {
    inner: Arc<dyn Store>,
    holding: std::sync::Mutex<bool>,
    held: std::sync::Mutex<Option<Box<dyn Job>>>,
    arrived: Notify,
}

impl Gate {
    fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, holding: false.into(), held: None.into(), arrived: Notify::new() })
    }

    /// Holds back the next transaction; later ones pass.
    pub(crate) fn hold(&self) {
        *self.holding.lock().unwrap() = true;
    }

    /// Waits until a transaction is held back.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Submits the transaction that was held back.
    pub(crate) fn release(&self) {
        let held = self.held.lock().unwrap().take();
        self.inner.submit(held.unwrap());
    }
}

impl Store for Gate {
    fn submit(&self, job: Box<dyn Job>) {
        if std::mem::take(&mut *self.holding.lock().unwrap()) {
            *self.held.lock().unwrap() = Some(job);
            return self.arrived.notify_one();
        }
        self.inner.submit(job);
    }

    fn query(&self, cost: Cost, job: Box<dyn Job>) {
        self.inner.query(cost, job);
    }

    testkit::forward_to_store!(inner);
}

/// A server, an agent with a session, and people.
pub(crate) struct Server {
    pub(crate) gate: Arc<Gate>,
    pub(crate) engine: Engine,
    pub(crate) agent: Caller,
    /// An operator without groups.
    pub(crate) alice: Caller,
    /// An operator of the group `security`.
    pub(crate) sam: Caller,
    pub(crate) root: Caller,
    pub(crate) session: Session,
}

/// Runs a test on both stores.
pub(crate) async fn on_both(story: impl AsyncFn(Server)) {
    let directory = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(directory.path(), Arc::new(SystemClock), &store_sqlite::SqliteOptions::default()).unwrap();
    story(Server::on(Arc::new(store)).await).await;
    // The driver blocks its thread.
    let opened = tokio::task::spawn_blocking(|| {
        let database = TestPostgres::start().unwrap().fresh_database().unwrap();
        let store = PostgresStore::open(&database.url(), &store_postgres::PostgresOptions::default()).unwrap();
        (database, store)
    });
    let (database, store) = opened.await.unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    story(Server::on(Arc::clone(&store)).await).await;
    tokio::task::spawn_blocking(move || {
        store.close();
        drop(database);
    })
    .await
    .unwrap();
}

impl Server {
    pub(crate) async fn on(store: Arc<dyn Store>) -> Self {
        let gate = Gate::new(store);
        let engine = node(&gate).await;
        let mut callers = Vec::new();
        let people = [(Role::Agent, "bot", ""), (Role::Operator, "alice", ""), (Role::Operator, "sam", "security")];
        for (role, name, group) in people.into_iter().chain([(Role::Admin, "root", "")]) {
            let groups = Some(group.to_owned()).filter(|group| !group.is_empty()).into_iter().collect();
            let new = NewKey { groups, ..NewKey::named(role, name) };
            let (key, _) = engine.key_install("default", "default", new).await.unwrap();
            callers.push(key.caller(engine.now()).unwrap());
        }
        let session = engine.session_start(&callers[0], Start::default(), None).await.unwrap();
        let [agent, alice, sam, root] = callers.try_into().unwrap();
        Self { gate, engine, agent, alice, sam, root, session }
    }

    /// Another node on this server's database.
    pub(crate) async fn another_node(&self) -> Engine {
        node(&self.gate).await
    }

    pub(crate) async fn file(&self, rules: &str) {
        self.engine.policy_load("policy.toml".into(), policy(rules)).await.unwrap();
    }

    /// Replaces the floor policy.
    pub(crate) async fn floor(&self, rules: &str) {
        self.engine.floor_load("floor.toml".into(), policy(rules)).await.unwrap();
    }

    /// Puts a policy of the project in force.
    pub(crate) async fn own(&self, rules: &str) {
        self.engine.policy_put(&self.root, policy(rules), (None, None), None).await.unwrap();
    }

    pub(crate) async fn proposes(&self, call: &str) -> ActionReply {
        self.proposes_at(&self.engine, call).await.unwrap()
    }

    pub(crate) async fn proposes_at(&self, node: &Engine, call: &str) -> Result<ActionReply, Error> {
        node.action_propose(&self.agent, self.session.id, deploying(call), None).await
    }

    /// Starts an action with its permit, as the agent.
    pub(crate) async fn starts(&self, node: &Engine, acted: &ActionReply) -> Result<ActionReply, Error> {
        let place = (self.session.id, acted.action.call_id.clone());
        node.action_start(&self.agent, place, acted.permit.clone().unwrap(), Some(60), None).await
    }

    /// Reads the action again, as the agent.
    pub(crate) async fn sees(&self, call: &str) -> ActionReply {
        self.engine.action_get(&self.agent, self.session.id, call.into(), std::time::Duration::ZERO).await.unwrap()
    }

    pub(crate) async fn answers(
        &self,
        by: &Caller,
        acted: &ActionReply,
        draft: AnswerDraft,
    ) -> Result<Interaction, Error> {
        self.engine.interaction_answer(by, asked(acted), draft, None).await
    }

    pub(crate) async fn approves(&self, by: &Caller, acted: &ActionReply) -> Result<Interaction, Error> {
        self.answers(by, acted, approval()).await
    }

    /// Approves as a program.
    pub(crate) async fn auto(&self, acted: &ActionReply) -> Result<Interaction, Error> {
        self.engine.interaction_auto(&self.root, asked(acted), AutoSource::AutoPolicy, approval(), None).await
    }
}

async fn node(gate: &Arc<Gate>) -> Engine {
    let vault = Vault::new(MasterKey::from_bytes([7; 32]));
    let store: Arc<dyn Store> = Arc::clone(gate) as Arc<dyn Store>;
    let engine = Engine::new(store, Arc::new(SystemClock), Ids::default(), vault, Settings::default());
    engine.check_master_key().await.unwrap();
    engine.floor_restore().await.unwrap();
    engine
}

pub(crate) fn policy(rules: &str) -> String {
    format!("version = 1\n{rules}")
}

/// A policy rule about the tool `deploy`.
pub(crate) fn rule(name: &str, verdict: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\ntools = [\"deploy\"]\nverdict = \"{verdict}\"\nreason = \"{name} says so\"\n")
}

fn deploying(call: &str) -> Propose {
    Propose {
        call_id: call.into(),
        call: Call { tool: "deploy".into(), arguments: json!({ "to": "staging" }) },
        context: Value::Null,
        expected_content: None,
        traceparent: None,
        repeatable: false,
        client: false,
        deadline_seconds: None,
    }
}

/// Last question about an action.
pub(crate) fn asked(acted: &ActionReply) -> InteractionId {
    *acted.action.asked.last().unwrap()
}

pub(crate) fn approval() -> AnswerDraft {
    AnswerDraft { effect: Some(Effect::Approve), ..AnswerDraft::default() }
}

pub(crate) fn allowed(acted: &ActionReply) -> bool {
    matches!(acted.action.state, ActionState::Allowed { .. })
}

pub(crate) fn waiting(acted: &ActionReply) -> bool {
    matches!(acted.action.state, ActionState::Waiting { .. })
}
