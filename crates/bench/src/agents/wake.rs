//! Measures the time from an answer to the next request to the model, through the real server over HTTP, at a fixed
//! rate.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use super::bench_worker::PATIENCE;
use super::model::{HttpModel, TASK};
use crate::Fallible;
use crate::client::Connection;
use crate::latency;
use crate::node::Node;
use crate::report::{Row, Table, Target, decimal, text, whole};
use crate::setup::{BenchDatabase, BenchSetup, Keys, StoreKind};

/// Time between two answers: 50 answers a second.
const APART: Duration = Duration::from_millis(20);
/// Number of waiting sessions. Each is answered every two seconds.
const SESSIONS: u32 = 100;
/// Warm-up time, in which answers are not counted.
const WARM: Duration = Duration::from_secs(1);
/// Target for the 99th percentile, in milliseconds.
const WANTED: f64 = 30.0;

/// Measures each store and, for comparison, an external agent that waits by long poll.
pub(super) fn measure(setup: &BenchSetup) -> Fallible<(Table, Vec<Target>)> {
    let mut table = Table::new(
        "Answer to the next request at the model at 50 a second, open schedule, over HTTP; waiting = a foreign agent's long poll likewise",
    );
    let mut targets = Vec::new();
    let length = Duration::from_secs(if setup.quick { 3 } else { 10 });
    for store_kind in setup.stores() {
        eprintln!("agents: answer to model on {}", store_kind.name());
        let database = setup.database(store_kind)?;
        let keys = database.keys()?;
        let counted = setup.run(woken(&database, &keys, length))?;
        let database = setup.database(store_kind)?;
        let keys = database.keys()?;
        let waiting = setup.run(async {
            let node = Node::start(&database, "warn").await?;
            latency::measure(node.address, node.address, &keys, (APART, length)).await
        })?;
        let (row, last) = line(store_kind, counted, waiting);
        table.rows.push(row);
        let what = format!("p99 from answer to the model's next request, {}", store_kind.name());
        targets.push(Target::at_most(what, WANTED, last, "ms"));
    }
    Ok((table, targets))
}

async fn woken(database: &BenchDatabase, keys: &Keys, length: Duration) -> Fallible<latency::Counted> {
    let (model, hear) = HttpModel::start(SESSIONS as usize).await?;
    let agents = database.directory().join("agents");
    std::fs::create_dir_all(&agents)?;
    let definition = format!(
        "name = \"asker\"\nversion = \"1\"\ntools = [\"ask_user\"]\n[model]\nprovider = \"openai\"\nname = \"bench\"\n\
         endpoint = \"http://{}/v1\"\n[limits]\niterations = 1000\nrounds = 100\n",
        model.address
    );
    std::fs::write(agents.join("asker.toml"), definition)?;
    let agents = agents.display().to_string();
    let node = Node::start_with(database, "warn", &["--agents", &agents]).await?;
    let mut running = JoinSet::new();
    let mut sleepers = Vec::new();
    for (number, heard) in hear.into_iter().enumerate() {
        sleepers.push(Sleeper::open(node.address, keys, number, heard).await?);
    }
    let begin = Instant::now() + APART * SESSIONS;
    for (number, sleeper) in (0..SESSIONS).zip(sleepers) {
        running.spawn(sleeper.go_round(begin + APART * number, begin + WARM, begin + WARM + length));
    }
    let mut all = latency::Counted::default();
    while let Some(counted) = running.join_next().await {
        all.add(counted??);
    }
    Ok(all)
}

/// A session whose step sleeps on a question, and the person who answers.
struct Sleeper {
    person: Connection,
    events: String,
    after: u64,
    heard: UnboundedReceiver<Instant>,
}

impl Sleeper {
    async fn open(at: SocketAddr, keys: &Keys, number: usize, heard: UnboundedReceiver<Instant>) -> Fallible<Self> {
        let mut person = Connection::open(at, &keys.person).await?;
        let body = json!({ "agent": "asker", "input": format!("{TASK}{number}.") });
        let session: Value = serde_json::from_slice(&person.post("/v1/sessions", body.to_string()).await?)?;
        let session = session["id"].as_str().ok_or("no session")?;
        let mut sleeper = Self { person, events: format!("/v1/sessions/{session}/events"), after: 0, heard };
        sleeper.model().await?;
        Ok(sleeper)
    }

    /// Time of the next request to the model.
    async fn model(&mut self) -> Fallible<Instant> {
        let heard = tokio::time::timeout(PATIENCE, self.heard.recv()).await?;
        heard.ok_or_else(|| "the model no longer reports requests".into())
    }

    /// Reads events until the next question and returns the path of its answer.
    async fn asked(&mut self) -> Fallible<String> {
        loop {
            let path = format!("{}?after={}&wait=30&limit=200", self.events, self.after);
            let page: Value = serde_json::from_slice(&self.person.read(&path).await?)?;
            let events = page["events"].as_array().ok_or("no events")?;
            self.after = events.last().and_then(|event| event["seq"].as_u64()).ok_or("no more events arrive")?;
            let asked = events.iter().rfind(|event| event["type"] == "interaction.asked");
            if let Some(id) = asked.and_then(|event| event["interaction"].as_str()) {
                return Ok(format!("/v1/interactions/{id}/answer"));
            }
        }
    }

    /// Answers this session at its scheduled times until `end`.
    async fn go_round(mut self, mut moment: Instant, from: Instant, end: Instant) -> Fallible<latency::Counted> {
        let mut counted = latency::Counted::default();
        loop {
            let answer = self.asked().await?;
            while moment <= Instant::now() {
                moment += APART * SESSIONS;
                counted.missed += u64::from(moment > from);
            }
            tokio::time::sleep_until(moment.into()).await;
            let sent = Instant::now();
            self.person.post(&answer, r#"{"option":"confirm"}"#).await?;
            let asked = self.model().await?;
            if moment >= from && moment < end {
                counted.times.add(asked.saturating_duration_since(sent));
            }
            moment += APART * SESSIONS;
            if moment >= end {
                return Ok(counted);
            }
        }
    }
}

fn line(store_kind: StoreKind, counted: latency::Counted, waiting: latency::Counted) -> (Row, f64) {
    let answers = counted.times.count() as u64;
    let (ours, theirs) = (counted.times.ranked(), waiting.times.ranked());
    let ratio = |percent: usize| decimal(ours.millis(percent) / theirs.millis(percent).max(0.001), 1);
    let row = vec![
        ("store", text(store_kind.name())),
        ("answers", whole(answers)),
        ("p50 ms", decimal(ours.millis(50), 2)),
        ("p95 ms", decimal(ours.millis(95), 2)),
        ("p99 ms", decimal(ours.millis(99), 2)),
        ("max ms", decimal(ours.millis(100), 2)),
        ("missed", whole(counted.missed)),
        ("waiting p50 ms", decimal(theirs.millis(50), 2)),
        ("waiting p99 ms", decimal(theirs.millis(99), 2)),
        ("p50 ratio", ratio(50)),
        ("p99 ratio", ratio(99)),
    ];
    (row, ours.millis(99))
}
