//! The full loop over HTTP: ask, wait by long poll, answer, take, complete.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::JoinSet;

use crate::Fallible;
use crate::client::{Connection, holds, id_in};
use crate::ground::{Ground, Kept, Keys};
use crate::node::Node;
use crate::report::{Section, Table, figure, text, whole};
use crate::sample::{self, Times};

const START: &[u8] = br#"{"agent":"deployer","title":"Release 1.4"}"#;
/// What `durable.rs` asks as well, without HTTP.
const ASK: &[u8] = br#"{"kind":"approval","title":"Deploy 1.4 to production?","action":{"tool":"deploy","arguments":{"version":"1.4","target":"production"}},"deadline_seconds":3600,"fallback":"deny"}"#;
const ANSWER: &[u8] = br#"{"option":"approve"}"#;
const TAKE: &[u8] = br#"{"lease_seconds":60}"#;

/// What one size gave; the floor is held against it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loops {
    pub(crate) kept: Kept,
    pub(crate) clients: usize,
    pub(crate) per_second: f64,
}

/// What was counted.
#[derive(Debug, Default)]
struct Counted {
    times: Times,
    errors: u64,
    first_error: Option<String>,
}

/// Somebody who goes round and round over HTTP.
pub(crate) trait Rounds: Sized + Send + 'static {
    /// Connects to a node.
    fn open(at: SocketAddr, keys: &Keys) -> impl Future<Output = Fallible<Self>> + Send;
    /// Goes round once.
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

/// A question that was asked.
pub(crate) struct Asked {
    wait: String,
    answer: String,
    take: String,
    complete: String,
}

/// Measures every size on every store, and 64 clients once more with the log as it is by default.
pub(crate) fn section(ground: &Ground, found: &mut Vec<Loops>) -> Fallible<Section> {
    let mut table = Table::new("Full loop over HTTP (ask, long poll, answer, take, complete); cpu is µs a loop");
    for kept in ground.stores() {
        for clients in ground.sizes().iter().copied() {
            let per_second = measure::<Pair>(ground, kept, clients, "warn", &mut table)?;
            found.push(Loops { kept, clients, per_second });
        }
    }
    if ground.sqlite() && ground.sizes().contains(&64) {
        measure::<Pair>(ground, Kept::Sqlite, 64, "info", &mut table)?;
    }
    Ok(Section { name: "loop", tables: vec![table], targets: Vec::new() })
}

/// Measures how often so many clients go round a second.
pub(crate) fn measure<R: Rounds>(
    ground: &Ground,
    kept: Kept,
    clients: usize,
    log: &str,
    table: &mut Table,
) -> Fallible<f64> {
    eprintln!("loop: {} with {clients} clients, log {log}", kept.name());
    let place = ground.place(kept)?;
    let keys = place.keys()?;
    let (warm, length) = ground.window();
    ground.run(async {
        let node = Node::start(&place, log).await?;
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
            ("store", text(kept.name())),
            ("clients", whole(clients as u64)),
            ("log", text(log)),
            ("loops/s", figure(per_second, 0)),
            ("p50 ms", figure(ranked.millis(50), 2)),
            ("p99 ms", figure(ranked.millis(99), 2)),
            ("server cpu", figure(micros(before.0, after.0), 0)),
            ("bench cpu", figure(micros(before.1, after.1), 0)),
            ("errors", whole(all.errors)),
        ]);
        Ok(per_second)
    })
}

/// Goes round until the end, and counts what was finished within the window.
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
            // A connection that broke stays broken; this client's part of the rate is lost, and the error shows.
            return counted;
        }
        let now = Instant::now();
        if now >= begin && now < end {
            counted.times.add(now - started);
        }
    }
}

impl Pair {
    /// Connects both, and opens a session. They may be at two nodes of one database.
    pub(crate) async fn connect(agent_at: SocketAddr, person_at: SocketAddr, keys: &Keys) -> Fallible<Self> {
        let mut agent = Connection::open(agent_at, &keys.agent).await?;
        let person = Connection::open(person_at, &keys.person).await?;
        let session = agent.post("/v1/sessions", START).await?;
        let ask = format!("/v1/sessions/{}/interactions", id_in(&session, "ses_")?);
        Ok(Self { agent, person, ask })
    }

    /// The agent asks.
    pub(crate) async fn asks(&mut self) -> Fallible<Asked> {
        let asked = self.agent.post(&self.ask, ASK).await?;
        let path = format!("/v1/interactions/{}", id_in(&asked, "int_")?);
        Ok(Asked {
            wait: format!("{path}?wait=60"),
            answer: format!("{path}/answer"),
            take: format!("{path}/delivery/take"),
            complete: format!("{path}/delivery/complete"),
        })
    }

    /// The agent waits; at a given moment the person answers. From that to the end of the agent's response.
    pub(crate) async fn answered(&mut self, asked: &Asked, at: Instant) -> Fallible<Duration> {
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
        // The first is sent first: the agent waits before the answer comes.
        let (waited, sent): (Fallible<(Instant, Bytes)>, _) = tokio::join!(waiting, answering);
        let ((received, seen), sent) = (waited?, sent?);
        if !holds(&seen, br#""status":"answered""#) {
            return Err("the agent was told of something else than an answer".into());
        }
        Ok(received.saturating_duration_since(sent))
    }

    /// The agent takes the answer and goes on.
    pub(crate) async fn goes_on(&mut self, asked: &Asked) -> Fallible<()> {
        let taken = self.agent.post(&asked.take, TAKE).await?;
        let body = format!(r#"{{"lease":"{}"}}"#, id_in(&taken, "lea_")?);
        self.agent.post(&asked.complete, body).await.map(drop)
    }

    /// Asks and leaves it open: an event for whoever reads.
    pub(crate) async fn stirs(&mut self) -> Fallible<()> {
        self.asks().await.map(drop)
    }

    /// The session, as its paths name it.
    pub(crate) fn session(&self) -> &str {
        self.ask.trim_end_matches("/interactions")
    }
}
