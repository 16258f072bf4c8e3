//! Measures the full loop over HTTP: ask, wait by long poll, answer, take, complete.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::JoinSet;

use crate::Fallible;
use crate::client::{Connection, holds, id_in};
use crate::node::Node;
use crate::report::{Section, Table, decimal, text, whole};
use crate::sample::{self, Times};
use crate::setup::{BenchSetup, Keys, StoreKind};

const START: &[u8] = br#"{"agent":"deployer","title":"Release 1.4"}"#;
/// Body of the question; `rows.rs` writes an equal question without HTTP.
const ASK: &[u8] = br#"{"kind":"approval","title":"Deploy 1.4 to production?","action":{"tool":"deploy","arguments":{"version":"1.4","target":"production"}},"deadline_seconds":3600,"fallback":"deny"}"#;
const ANSWER: &[u8] = br#"{"option":"approve"}"#;
const TAKE: &[u8] = br#"{"lease_seconds":60}"#;

/// Measured rate at one number of clients, which is later compared with the floor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoopRate {
    pub(crate) store_kind: StoreKind,
    pub(crate) clients: usize,
    pub(crate) per_second: f64,
}

/// Counts of one client.
#[derive(Debug, Default)]
struct Counted {
    times: Times,
    errors: u64,
    first_error: Option<String>,
}

/// A client that repeats a round over HTTP.
pub(crate) trait Rounds: Sized + Send + 'static {
    /// Connects to a node.
    fn open(at: SocketAddr, keys: &Keys) -> impl Future<Output = Fallible<Self>> + Send;
    /// Does one round of requests.
    fn round(&mut self) -> impl Future<Output = Fallible<()>> + Send;
}

impl Rounds for Pair {
    async fn open(at: SocketAddr, keys: &Keys) -> Fallible<Self> {
        Self::connect(at, at, keys).await
    }

    async fn round(&mut self) -> Fallible<()> {
        let asked = self.asks().await?;
        self.answered(&asked, Instant::now()).await?;
        self.goes_on(&asked).await
    }
}

/// An agent and the person who answers it, with a connection and a session of their own.
pub(crate) struct Pair {
    agent: Connection,
    person: Connection,
    ask: String,
}

/// Paths of a question that was asked.
pub(crate) struct QuestionPaths {
    wait: String,
    answer: String,
    take: String,
    complete: String,
}

/// Measures every size on every store, and 64 clients again with the default log level.
pub(crate) fn section(setup: &BenchSetup, found: &mut Vec<LoopRate>) -> Fallible<Section> {
    let mut table = Table::new("Full loop over HTTP (ask, long poll, answer, take, complete); cpu is µs a loop");
    for store_kind in setup.stores() {
        for clients in setup.sizes().iter().copied() {
            let per_second = measure::<Pair>(setup, store_kind, clients, "warn", &mut table)?;
            found.push(LoopRate { store_kind, clients, per_second });
        }
    }
    if setup.measures_sqlite() && setup.sizes().contains(&64) {
        measure::<Pair>(setup, StoreKind::Sqlite, 64, "info", &mut table)?;
    }
    Ok(Section { name: "loop", tables: vec![table], targets: Vec::new() })
}

/// Measures the rounds per second of this many clients.
pub(crate) fn measure<R: Rounds>(
    setup: &BenchSetup,
    store_kind: StoreKind,
    clients: usize,
    log: &str,
    table: &mut Table,
) -> Fallible<f64> {
    eprintln!("loop: {} with {clients} clients, log {log}", store_kind.name());
    let database = setup.database(store_kind)?;
    let keys = database.keys()?;
    let (warm, length) = setup.window();
    setup.run(async {
        let node = Node::start(&database, log).await?;
        let mut pairs = Vec::new();
        for _ in 0..clients {
            pairs.push(R::open(node.address, &keys).await?);
        }
        let begin = Instant::now() + warm;
        let mut running = JoinSet::new();
        for pair in pairs {
            running.spawn(go_round(pair, begin, begin + length));
        }
        let processor = || -> Fallible<(f64, f64)> { Ok((node.processor()?, sample::processor(std::process::id())?)) };
        tokio::time::sleep_until(begin.into()).await;
        let before = processor()?;
        tokio::time::sleep_until((begin + length).into()).await;
        let after = processor()?;
        let mut all = Counted::default();
        while let Some(counted) = running.join_next().await {
            let counted = counted?;
            all.times.extend(counted.times);
            all.errors += counted.errors;
            all.first_error = all.first_error.or(counted.first_error);
        }
        if let Some(error) = &all.first_error {
            eprintln!("loop: the first error: {error}");
        }
        let loops = all.times.count();
        let per_second = loops as f64 / length.as_secs_f64();
        let micros = |before: f64, after: f64| (after - before) * 1e6 / loops.max(1) as f64;
        let ranked = all.times.ranked();
        table.rows.push(vec![
            ("store", text(store_kind.name())),
            ("clients", whole(clients as u64)),
            ("log", text(log)),
            ("loops/s", decimal(per_second, 0)),
            ("p50 ms", decimal(ranked.millis(50), 2)),
            ("p99 ms", decimal(ranked.millis(99), 2)),
            ("server cpu", decimal(micros(before.0, after.0), 0)),
            ("bench cpu", decimal(micros(before.1, after.1), 0)),
            ("errors", whole(all.errors)),
        ]);
        Ok(per_second)
    })
}

/// Repeats rounds until the end and counts those that finished within the window.
async fn go_round<R: Rounds>(mut pair: R, begin: Instant, end: Instant) -> Counted {
    let mut counted = Counted::default();
    loop {
        let started = Instant::now();
        if started >= end {
            return counted;
        }
        if let Err(error) = pair.round().await {
            counted.errors += 1;
            counted.first_error.get_or_insert(error.to_string());
            // A broken connection stays broken. The rate loses this client's share, and the error is reported.
            return counted;
        }
        let now = Instant::now();
        if now >= begin && now < end {
            counted.times.add(now - started);
        }
    }
}

impl Pair {
    /// Connects the agent and the person, which may use two nodes of one database, and opens a session.
    pub(crate) async fn connect(agent_at: SocketAddr, person_at: SocketAddr, keys: &Keys) -> Fallible<Self> {
        let mut agent = Connection::open(agent_at, &keys.agent).await?;
        let person = Connection::open(person_at, &keys.person).await?;
        let session = agent.post("/v1/sessions", START).await?;
        let ask = format!("/v1/sessions/{}/interactions", id_in(&session, "ses_")?);
        Ok(Self { agent, person, ask })
    }

    /// Asks a question as the agent.
    pub(crate) async fn asks(&mut self) -> Fallible<QuestionPaths> {
        let asked = self.agent.post(&self.ask, ASK).await?;
        let path = format!("/v1/interactions/{}", id_in(&asked, "int_")?);
        Ok(QuestionPaths {
            wait: format!("{path}?wait=60"),
            answer: format!("{path}/answer"),
            take: format!("{path}/delivery/take"),
            complete: format!("{path}/delivery/complete"),
        })
    }

    /// Waits as the agent while the person answers at the given time.
    /// Returns the time from the answer to the end of the agent's response.
    pub(crate) async fn answered(&mut self, asked: &QuestionPaths, at: Instant) -> Fallible<Duration> {
        self.agent.ready().await?;
        let waiting = async {
            let seen = self.agent.read(&asked.wait).await?;
            Ok((Instant::now(), seen))
        };
        let answering = async {
            if at > Instant::now() {
                tokio::time::sleep_until(at.into()).await;
            }
            let sent = Instant::now();
            self.person.post(&asked.answer, ANSWER).await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(sent)
        };
        // `join!` polls its futures in order: the agent waits before the answer is sent.
        let (waited, sent): (Fallible<(Instant, Bytes)>, _) = tokio::join!(waiting, answering);
        let ((received, seen), sent) = (waited?, sent?);
        if !holds(&seen, br#""status":"answered""#) {
            return Err("the agent received another reply than an answer".into());
        }
        Ok(received.saturating_duration_since(sent))
    }

    /// Takes the answer as the agent and completes the delivery.
    pub(crate) async fn goes_on(&mut self, asked: &QuestionPaths) -> Fallible<()> {
        let taken = self.agent.post(&asked.take, TAKE).await?;
        let body = format!(r#"{{"lease":"{}"}}"#, id_in(&taken, "lea_")?);
        self.agent.post(&asked.complete, body).await.map(drop)
    }

    /// Asks a question and leaves it open, so that readers get an event.
    pub(crate) async fn stirs(&mut self) -> Fallible<()> {
        self.asks().await.map(drop)
    }

    /// Path of the session.
    pub(crate) fn session(&self) -> &str {
        self.ask.trim_end_matches("/interactions")
    }
}
