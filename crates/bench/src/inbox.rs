//! Measures the inbox with very many open questions: start, pages, filters, stats, memory.

use std::time::{Duration, Instant};

use crate::Fallible;
use crate::client::Connection;
use crate::load::{Loaded, load};
use crate::node::Node;
use crate::report::{Row, Section, Table, Target, decimal, text, whole};
use crate::sample::Times;
use crate::setup::{BenchSetup, StoreKind};

/// Number of repetitions of each request; slow requests are repeated for at most `LONGEST`.
const REQUESTS: usize = 200;
/// Time limit for repeating a request.
const LONGEST: Duration = Duration::from_secs(5);
/// Target for the first page, in milliseconds.
const WANTED: f64 = 20.0;
/// Largest number of questions on PostgreSQL, where rows are loaded one by one over a socket.
const MOST_POSTGRES: u32 = 100_000;

/// Measures the inbox on every store.
pub(crate) fn section(setup: &BenchSetup, open: Option<u32>) -> Fallible<Section> {
    let open = open.unwrap_or(if setup.quick { 50_000 } else { 1_000_000 }).max(1);
    let mut starts = Table::new("Start with open questions");
    let mut requests =
        Table::new("Requests with open questions (first = first after the start; p50 and p99 of the others)");
    let mut targets = Vec::new();
    for store_kind in setup.stores() {
        let open = if store_kind == StoreKind::Postgres { open.min(MOST_POSTGRES) } else { open };
        eprintln!("inbox: {} is given {open} open questions", store_kind.name());
        let database = setup.database(store_kind)?;
        let keys = database.keys()?;
        let store = database.open()?;
        let loaded = setup.run(load(&store, open));
        store.close();
        let loaded = loaded?;
        setup.run(async {
            let node = Node::start(&database, "warn").await?;
            let fresh = node.memory()?;
            let mut person = Connection::open(node.address, &keys.person).await?;
            let mut rows = Vec::new();
            for (what, paths) in paths(&loaded) {
                rows.push(repeat((store_kind, what), &mut person, &paths).await?);
            }
            let end = node.memory()?;
            let megabytes = |kib: u64| decimal(kib as f64 / 1024.0, 1);
            starts.rows.push(vec![
                ("store", text(store_kind.name())),
                ("open", whole(u64::from(open))),
                ("loading s", decimal(loaded.took.as_secs_f64(), 1)),
                ("start ms", decimal(node.started_in.as_secs_f64() * 1000.0, 0)),
                ("RSS MB after start", megabytes(fresh.resident)),
                ("RSS MB at the end", megabytes(end.resident)),
                ("without mapped files", megabytes(end.own)),
            ]);
            if let Some((first, p99, _)) = rows.first() {
                let what = format!("first inbox page, {}, {open} open", store_kind.name());
                targets.push(Target::at_most(format!("{what}, first request"), WANTED, *first, "ms"));
                targets.push(Target::at_most(format!("{what}, p99"), WANTED, *p99, "ms"));
            }
            requests.rows.extend(rows.into_iter().map(|(_, _, row)| row));
            Ok(())
        })?;
    }
    Ok(Section { name: "inbox", tables: vec![starts, requests], targets })
}

/// Names of the measured requests with their paths; a request with several paths uses them in turn.
fn paths(loaded: &Loaded) -> Vec<(&'static str, Vec<String>)> {
    let page = "/v1/interactions?status=pending&limit=50";
    let step = (loaded.landmarks.len() / REQUESTS).max(1);
    let deep = loaded.landmarks.iter().step_by(step).map(|id| format!("{page}&cursor={id}"));
    let deep_by_deadline = loaded.landmarks.iter().step_by(step).map(|id| format!("{page}&sort=deadline&cursor={id}"));
    vec![
        ("first page", vec![page.to_owned()]),
        ("pages all over, by cursor", deep.collect()),
        ("newest first", vec![format!("{page}&sort=newest")]),
        ("of a common kind", vec![format!("{page}&kind=approval")]),
        ("of a rare kind", vec![format!("{page}&kind=review")]),
        ("by deadline", vec![format!("{page}&sort=deadline")]),
        ("by deadline, all over", deep_by_deadline.collect()),
        ("mine", vec![format!("{page}&mine=true")]),
        ("overdue (none is)", vec![format!("{page}&overdue=true")]),
        ("of an agent (all are)", vec![format!("{page}&agent=deployer")]),
        ("of an agent (none is)", vec![format!("{page}&agent=nobody")]),
        ("title with a text (none has)", vec![format!("{page}&q=nothing")]),
        ("/v1/stats", vec!["/v1/stats".to_owned()]),
        ("/metrics", vec!["/metrics".to_owned()]),
    ]
}

/// Repeats a request. Returns the time of the first one, the 99th percentile, and the row of the table.
async fn repeat(
    (store_kind, what): (StoreKind, &'static str),
    person: &mut Connection,
    paths: &[String],
) -> Fallible<(f64, f64, Row)> {
    let (mut times, mut first, mut size) = (Times::default(), Duration::ZERO, 0);
    let begun = Instant::now();
    for (count, path) in paths.iter().cycle().take(REQUESTS + 1).enumerate() {
        let sent = Instant::now();
        let body = person.read(path).await?;
        match count {
            0 => (first, size) = (sent.elapsed(), body.len()),
            _ => times.add(sent.elapsed()),
        }
        if begun.elapsed() > LONGEST {
            break;
        }
    }
    let requests = times.count() as u64;
    let ranked = times.ranked();
    let first = first.as_secs_f64() * 1000.0;
    let row = vec![
        ("request", text(what)),
        ("store", text(store_kind.name())),
        ("first ms", decimal(first, 2)),
        ("p50 ms", decimal(ranked.millis(50), 2)),
        ("p99 ms", decimal(ranked.millis(99), 2)),
        ("requests", whole(requests)),
        ("bytes", whole(size as u64)),
    ];
    Ok((first, ranked.millis(99), row))
}
