//! A server on a real socket, with a clock that tests move by hand.

use std::sync::Arc;
use std::time::Duration;

use domain::{Role, Scope, SignedDuration};
use engine::{Engine, Ids, MasterKey, NewKey, NewUser, Settings, Vault};
use serde_json::{Value, json};
use server::{App, Front, ServerLimits};
use store::{Clock, Cost, Store, StoreError, SystemClock};
use store_sqlite::SqliteStore;
use tempfile::TempDir;
use testkit::ManualClock;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use crate::client::{ApiClient, HttpClient, Question};

/// Longest time that a test waits for something that should happen at once.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Settings of the server of a world.
#[derive(Default)]
pub struct Setup {
    pub limits: ServerLimits,
    pub settings: Settings,
    pub front: Front,
}

/// Settings with a short heartbeat.
pub fn brisk() -> Setup {
    Setup {
        limits: ServerLimits { heartbeat: Duration::from_millis(50), ..ServerLimits::default() },
        ..Setup::default()
    }
}

/// A server that runs in the test.
pub struct World {
    pub engine: Engine,
    pub clock: ManualClock,
    pub store: Arc<SqliteStore>,
    pub data: TempDir,
    pub http: HttpClient,
    stop: watch::Sender<bool>,
    tasks: TaskTracker,
}

impl World {
    /// Starts a server whose clock stands still.
    pub async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    /// Starts a server with these settings whose clock stands still.
    pub async fn with(setup: Setup) -> Self {
        let clock = ManualClock::default();
        let data = tempfile::tempdir().unwrap();
        Self::open(data, clock.clone(), Arc::new(clock), setup).await
    }

    /// A server that uses the system clock and runs its timers.
    pub async fn live() -> Self {
        let data = tempfile::tempdir().unwrap();
        let world = Self::open(data, ManualClock::default(), Arc::new(SystemClock), Setup::default()).await;
        let engine = world.engine.clone();
        let mut stopping = world.stop.subscribe();
        world.tasks.spawn(async move {
            tokio::select! {
                () = engine.run_timers() => {}
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
        });
        world
    }

    async fn open(data: TempDir, clock: ManualClock, time: Arc<dyn Clock>, setup: Setup) -> Self {
        let store = Arc::new(
            SqliteStore::open(data.path(), Arc::clone(&time), &store_sqlite::SqliteOptions::default()).unwrap(),
        );
        let vault = Vault::new(MasterKey::from_bytes([7; 32]));
        let engine = Engine::new(Arc::clone(&store) as Arc<dyn Store>, time, Ids::default(), vault, setup.settings);
        engine.check_master_key().await.unwrap();
        let (stop, stopping) = watch::channel(false);
        let metrics = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder().handle();
        let connections = setup.limits.connections;
        let app = App::new(engine.clone(), setup.limits, setup.front, metrics, stopping.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let http = HttpClient::new(listener.local_addr().unwrap());
        let tasks = TaskTracker::new();
        tasks.spawn(async move {
            server::listen(listener, server::router(app, dialects::dialects()), connections, stopping).await.unwrap();
        });
        Self { engine, clock, store, data, http, stop, tasks }
    }

    /// Runs a worker until the server stops.
    pub fn works(&self, worker: agent::worker::Worker) {
        let mut stopping = self.stop.subscribe();
        self.tasks.spawn(async move {
            tokio::select! {
                () = worker.run(tokio_util::sync::CancellationToken::new()) => {}
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
        });
    }

    /// Tells the server to stop.
    pub fn stops(&self) {
        self.stop.send(true).unwrap();
    }

    /// Waits until the server has stopped.
    pub async fn stopped(&self) {
        self.tasks.close();
        tokio::time::timeout(PATIENCE, self.tasks.wait()).await.unwrap();
    }

    /// Stops the server and starts another on the same data. Its callers move to the new one with [`ApiClient::at`].
    pub async fn restarts(self) -> Self {
        self.stops();
        self.stopped().await;
        self.store.close();
        let Self { clock, data, .. } = self;
        Self::open(data, clock.clone(), Arc::new(clock), Setup::default()).await
    }

    /// Advances the clock and runs the timers that are due.
    pub async fn passes(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
        self.engine.fire_due().await.unwrap();
    }

    /// Time of the server's clock.
    pub fn clock_now(&self) -> Value {
        json!(self.clock.now())
    }

    /// Scope of the default project.
    pub async fn scope(&self) -> Scope {
        let found =
            store::read::<_, StoreError, _>(&*self.store, Cost::Point, |reads| reads.scope("default", "default"));
        found.await.unwrap().unwrap()
    }

    /// Waits until this number of topics has listeners, so that a long poll has begun to wait.
    pub async fn listened_to(&self, topics: usize) {
        let listening = async {
            while self.engine.bell().topics() != topics {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, listening).await.unwrap();
    }

    /// Creates a caller with a key.
    pub async fn someone(&self, tenant: &str, role: Role, name: &str, groups: &[&str]) -> ApiClient {
        let groups = groups.iter().map(ToString::to_string).collect();
        self.installed(tenant, NewKey { groups, ..NewKey::named(role, name) }).await
    }

    /// Creates a caller with a key and an account.
    pub async fn member(&self, role: Role, name: &str, groups: &[&str]) -> ApiClient {
        let groups = groups.iter().map(ToString::to_string).collect();
        self.installed("default", NewKey { groups, join_account: true, ..NewKey::named(role, name) }).await
    }

    async fn installed(&self, tenant: &str, new: NewKey) -> ApiClient {
        let (key, secret) = self.engine.key_install(tenant, "default", new).await.unwrap();
        ApiClient { http: self.http.clone(), key: secret, key_id: key.id.to_string() }
    }

    /// Creates an operator in the default project.
    pub async fn person(&self, name: &str) -> ApiClient {
        self.someone("default", Role::Operator, name, &[]).await
    }

    /// Creates an agent in the default project.
    pub async fn agent(&self) -> ApiClient {
        self.someone("default", Role::Agent, "bot", &[]).await
    }

    /// Creates an admin of the default project.
    pub async fn admin(&self) -> ApiClient {
        self.someone("default", Role::Admin, "root", &[]).await
    }

    /// Creates an admin of another tenant.
    pub async fn stranger(&self) -> ApiClient {
        self.someone("elsewhere", Role::Admin, "mallory", &[]).await
    }

    /// Creates an account unless it exists.
    pub async fn signs_up(&self, name: &str, role: Role) {
        let new = NewUser { name: name.into(), display: None, role, groups: Vec::new(), join_keys: true };
        match self.engine.user_install("default", "default", new).await {
            Err(engine::Error::Refused(domain::Refusal::UserExists(_))) => {}
            made => drop(made.unwrap()),
        }
    }

    /// Opens a session as an agent and asks a question in it.
    pub async fn asks(&self, body: Value) -> Question {
        let agent = self.agent().await;
        let session = agent.opens(json!({ "agent": "release-bot" })).await;
        agent.asks_in(&session, body).await
    }

    /// Everything that can be read of a project. A test compares it before and after a request that must change
    /// nothing.
    pub async fn everything(&self) -> Value {
        let admin = self.admin().await;
        let mut seen = serde_json::Map::new();
        for list in ["sessions", "interactions", "agents", "flows", "webhooks"] {
            seen.insert(list.into(), admin.get(&format!("/v1/{list}?limit=200")).await.done());
        }
        seen.insert("grants".into(), admin.get("/v1/grants?over=true").await.done());
        seen.insert("users".into(), admin.get("/v1/users").await.done());
        seen.insert("policy".into(), admin.get("/v1/policy").await.done());
        let keys = admin.get("/v1/keys").await.done()["keys"].as_array().cloned().unwrap();
        let others = keys.into_iter().filter(|key| key["user"] != "root").collect();
        seen.insert("keys".into(), Value::Array(others));
        Value::Object(seen)
    }
}
