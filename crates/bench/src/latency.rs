//! Measures the time from an answer to the agent that waits for it, at a fixed rate.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Fallible;
use crate::http_loop::Pair;
use crate::node::Node;
use crate::report::{Section, Table, Target, decimal, text, whole};
use crate::sample::{Ranked, Times};
use crate::setup::{BenchSetup, Keys, StoreKind};

/// Time between two answers: 200 answers a second.
const APART: Duration = Duration::from_millis(5);
/// Number of waiting agents. Each is answered every half second.
const AGENTS: u32 = 100;
/// Warm-up time, in which answers are not counted.
const WARM: Duration = Duration::from_secs(1);
/// Target for the 99th percentile, in milliseconds.
const WANTED: f64 = 5.0;

/// Measured times, and the number of missed answers.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) times: Times,
    /// Number of scheduled answers that were skipped because the agent was not waiting yet.
    pub(crate) missed: u64,
}

impl Counted {
    /// Adds the counts of another client.
    pub(crate) fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.missed += other.missed;
    }
}

/// Measures both stores on one node, and PostgreSQL from one node to another.
pub(crate) fn section(setup: &BenchSetup) -> Fallible<Section> {
    let mut table = Table::new("Answer to waiting agent at 200 a second, open schedule, each within a full loop");
    let mut targets = Vec::new();
    let length = Duration::from_secs(if setup.quick { 3 } else { 10 });
    let ways = setup.stores().into_iter().flat_map(|store_kind| match store_kind {
        StoreKind::Sqlite => vec![(store_kind, 1)],
        StoreKind::Postgres => vec![(store_kind, 1), (store_kind, 2)],
    });
    for (store_kind, nodes) in ways {
        eprintln!("latency: {} on {nodes} node(s)", store_kind.name());
        let database = setup.database(store_kind)?;
        let keys = database.keys()?;
        let counted = setup.run(async {
            let first = Node::start(&database, "warn").await?;
            let second = if nodes == 2 { Some(Node::start(&database, "warn").await?) } else { None };
            let agents_at = second.as_ref().map_or(first.address, |node| node.address);
            measure(agents_at, first.address, &keys, (APART, length)).await
        })?;
        let answers = counted.times.count() as u64;
        let ranked = counted.times.ranked();
        table.rows.push(line(store_kind, nodes, answers, counted.missed, &ranked));
        let what = format!("p99 from answer to agent, {}, {nodes} node(s)", store_kind.name());
        targets.push(Target::at_most(what, WANTED, ranked.millis(99), "ms"));
    }
    Ok(Section { name: "latency", tables: vec![table], targets })
}

/// Lets agents wait at one node while people answer at another, at this interval and for this time.
pub(crate) async fn measure(
    agents_at: SocketAddr,
    people_at: SocketAddr,
    keys: &Keys,
    (apart, length): (Duration, Duration),
) -> Fallible<Counted> {
    let mut pairs = Vec::new();
    for _ in 0..AGENTS {
        pairs.push(Pair::connect(agents_at, people_at, keys).await?);
    }
    let begin = Instant::now() + apart * AGENTS;
    let mut running = JoinSet::new();
    for (number, pair) in (0..AGENTS).zip(pairs) {
        let first = begin + apart * number;
        running.spawn(go_round(pair, (first, apart * AGENTS), begin + WARM, begin + WARM + length));
    }
    let mut all = Counted::default();
    while let Some(counted) = running.join_next().await {
        all.add(counted??);
    }
    Ok(all)
}

/// Answers one agent at its scheduled times until the end.
async fn go_round(
    mut pair: Pair,
    (mut moment, every): (Instant, Duration),
    count_from: Instant,
    end: Instant,
) -> Fallible<Counted> {
    let mut counted = Counted::default();
    loop {
        let asked = pair.asks().await?;
        while moment <= Instant::now() {
            moment += every;
            counted.missed += u64::from(moment > count_from);
        }
        let took = pair.answered(&asked, moment).await?;
        if moment >= count_from && moment < end {
            counted.times.add(took);
        }
        pair.goes_on(&asked).await?;
        moment += every;
        if moment >= end {
            return Ok(counted);
        }
    }
}

fn line(store_kind: StoreKind, nodes: u64, answers: u64, missed: u64, ranked: &Ranked) -> crate::report::Row {
    vec![
        ("store", text(store_kind.name())),
        ("nodes", whole(nodes)),
        ("answers", whole(answers)),
        ("p50 ms", decimal(ranked.millis(50), 2)),
        ("p95 ms", decimal(ranked.millis(95), 2)),
        ("p99 ms", decimal(ranked.millis(99), 2)),
        ("max ms", decimal(ranked.millis(100), 2)),
        ("missed", whole(missed)),
    ]
}
