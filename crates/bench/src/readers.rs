//! Measures thousands of silent event streams: server memory per stream, and the time of one event to the last reader.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Fallible;
use crate::client::{Connection, holds};
use crate::http_loop::Pair;
use crate::node::Node;
use crate::report::{Row, Section, Table, Target, decimal, text, whole};
use crate::sample::{Ranked, Times};
use crate::setup::{BenchSetup, Keys, StoreKind};

/// Target for the memory of a reader, in KiB.
const WANTED: f64 = 12.0;
/// Number of readers that connect at once.
const AT_ONCE: usize = 100;
/// Time between the last change and reading the memory. Memory that the server frees later still counts as used.
const SETTLE: Duration = Duration::from_secs(2);
/// Time limit for an event to reach the last reader.
const PATIENCE: Duration = Duration::from_mins(1);

/// Times at which readers received the event.
#[derive(Default)]
struct Arrivals {
    at: Mutex<Vec<Instant>>,
}

/// Measures readers of one session and of a whole project.
pub(crate) fn section(setup: &BenchSetup) -> Fallible<Section> {
    let readers = if setup.quick { 1_000 } else { 10_000 };
    let mut table =
        Table::new("Silent readers of one event stream, and one event to all of them (VmRSS of the server)");
    let mut targets = Vec::new();
    for what in ["session", "project"] {
        eprintln!("readers: {readers} of a {what}");
        let database = setup.database(StoreKind::Sqlite)?;
        let keys = database.keys()?;
        let (row, each) = setup.run(async {
            let node = Node::start(&database, "warn").await?;
            measure(&node, &keys, what, readers).await
        })?;
        table.rows.push(row);
        targets.push(Target::at_most(format!("memory of a reader of a {what}"), WANTED, each, "KB"));
    }
    Ok(Section { name: "readers", tables: vec![table], targets })
}

async fn measure(node: &Node, keys: &Keys, what: &str, readers: usize) -> Fallible<(Row, f64)> {
    let mut pair = Pair::connect(node.address, node.address, keys).await?;
    // Sends warm-up requests, so that the memory that they allocate is not counted for the readers.
    for _ in 0..200 {
        pair.stirs().await?;
    }
    let path = if what == "project" {
        "/v1/events/stream".to_owned()
    } else {
        // Skips the event of the session's start and one event for each of the 200 warm-up questions.
        format!("{}/events/stream?after=201", pair.session())
    };
    tokio::time::sleep(SETTLE).await;
    let before = node.memory()?.resident;

    let (leave, left) = watch::channel(false);
    let heard = Arc::new(Arrivals::default());
    let mut crowd = JoinSet::new();
    let begun = Instant::now();
    let mut missing = readers;
    while missing > 0 {
        let streams = (0..missing.min(AT_ONCE)).map(|_| connect(node.address, &keys.person, &path));
        for stream in futures::future::try_join_all(streams).await? {
            crowd.spawn(listen(stream, Arc::clone(&heard), left.clone()));
            missing -= 1;
        }
    }
    let connecting = begun.elapsed();
    tokio::time::sleep(SETTLE).await;
    let during = node.memory()?.resident;

    let (ranked, processor) = tell(node, &mut pair, &heard, readers).await?;
    tokio::time::sleep(SETTLE).await;
    let after_event = node.memory()?.resident;

    leave.send(true)?;
    while let Some(ended) = crowd.join_next().await {
        ended??;
    }
    tokio::time::sleep(SETTLE).await;
    let after = node.memory()?.resident;
    let each = during.saturating_sub(before) as f64 / readers as f64;
    let megabytes = |kib: u64| decimal(kib as f64 / 1024.0, 1);
    let row = vec![
        ("stream", text(what)),
        ("readers", whole(readers as u64)),
        ("connecting s", decimal(connecting.as_secs_f64(), 1)),
        ("MB before", megabytes(before)),
        ("MB with all", megabytes(during)),
        ("KB each", decimal(each, 2)),
        ("event p50 ms", decimal(ranked.millis(50), 0)),
        ("event last ms", decimal(ranked.millis(100), 0)),
        ("cpu ms", decimal(processor * 1000.0, 0)),
        ("MB then", megabytes(after_event)),
        ("MB after all left", megabytes(after)),
    ];
    Ok((row, each))
}

/// Sends one event, waits until all readers have received it, and returns their times and the processor time of the
/// server.
async fn tell(node: &Node, pair: &mut Pair, heard: &Arrivals, readers: usize) -> Fallible<(Ranked, f64)> {
    let processor = node.processor()?;
    let sent = Instant::now();
    pair.stirs().await?;
    while heard.at.lock().len() < readers {
        if sent.elapsed() > PATIENCE {
            return Err(format!("only {} of {readers} readers received the event", heard.at.lock().len()).into());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let processor = node.processor()? - processor;
    let mut times = Times::default();
    heard.at.lock().iter().for_each(|at| times.add(at.saturating_duration_since(sent)));
    Ok((times.ranked(), processor))
}

async fn connect(address: SocketAddr, key: &str, path: &str) -> Fallible<(Connection, hyper::body::Incoming)> {
    let mut connection = Connection::open(address, key).await?;
    let body = connection.stream(path).await?;
    Ok((connection, body))
}

/// Reads a stream until cancelled and records the arrival of the event.
async fn listen(
    (connection, mut body): (Connection, hyper::body::Incoming),
    heard: Arc<Arrivals>,
    mut leave: watch::Receiver<bool>,
) -> Fallible<()> {
    loop {
        tokio::select! {
            _ = leave.wait_for(|leave| *leave) => break,
            frame = body.frame() => {
                let frame = frame.ok_or("a stream has ended")??;
                if frame.data_ref().is_some_and(|data| holds(data, b"interaction.asked")) {
                    heard.at.lock().push(Instant::now());
                }
            }
        }
    }
    drop(connection);
    Ok(())
}
