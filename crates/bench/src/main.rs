//! `holdpoint-bench` measures rates, latencies and memory. `make bench` runs every section.
//!
//! It measures the release binary from outside and compares the results with targets. It prints a table for each
//! section and writes all results as JSON. It is not part of the product.
//!
//! The sections, each in a file of its own, and each with `--only`:
//!
//! - `loop` (`http_loop.rs`): ask, wait by long poll, answer, take, complete, over HTTP against `holdpoint serve` as a
//!   child process, at 1 to 256 clients. A client is an agent and a person with a kept-alive connection each, and a
//!   session.
//! - `floor` (`floor.rs`): the commit rate of the store itself, through its own transactions and group commit: four
//!   transactions a round with the rows that the loop writes. The loop is compared with the floor of the same run.
//! - `audit` (`audit.rs`): the floor with and without the audit trail, and how fast entries are chained.
//! - `rulings` (`rulings.rs`): the duration of a ruling on a call, in process, with 10, 100 and 1,000 rules.
//! - `permits` (`permits.rs`): actions that policy allows, proposed, started with their permit and reported, over HTTP.
//! - `latency` (`latency.rs`): from just before an answer is sent to the end of the waiting agent's response, 200 a
//!   second on a fixed schedule. Each answer belongs to a whole loop, so that the load around it is real. With
//!   PostgreSQL also from one node to another.
//! - `agents` (`agents.rs`): agents that the server runs. In process, with a model and tools that take no time: the
//!   cost of a turn at the beginning and at the end of a session of 1,000 turns, a turn with 64 questions, and resumes
//!   per second. Over HTTP, with a model behind an HTTP server: the time from an answer to the next request to the
//!   model.
//! - `inbox` (`inbox.rs`, `load.rs`): start, pages, filters and stats with a million open questions, put there through
//!   the store's own transactions, many questions each.
//! - `readers` (`readers.rs`): thousands of silent event streams: memory of the server, and the time of one event to
//!   the last.
//!
//! The bench shares the machine's cores with the server that it measures, so its own processor time is shown beside
//! that of the server. Each size starts with an empty database. Memory is `VmRSS`, without the buffers that the kernel
//! holds for sockets. "First request" is the first request after a start, when the operating system already has the
//! database file in memory.
//!
//! Start reading at `setup.rs` (binary, runtime and databases) and `http_loop.rs`. `client.rs` is a plain HTTP/1.1
//! client on hyper's connections, `rows.rs` writes rows without the engine, `report.rs` has tables, targets and JSON.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod agents;
mod audit;
mod client;
mod floor;
mod http_loop;
mod inbox;
mod latency;
mod load;
mod node;
mod permits;
mod readers;
mod report;
mod rows;
mod rulings;
mod sample;
mod setup;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::report::{Report, Section};
use crate::setup::{BenchSetup, StoreKind};

/// Result of a measurement; an error ends its section.
pub(crate) type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Measures Holdpoint and reports which targets are met.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// Measure shorter and with less data, to check that everything works
    #[arg(long)]
    quick: bool,
    /// File for the results, as JSON
    #[arg(long, default_value = "target/bench.json")]
    json: PathBuf,
    /// Number of open questions for the inbox section
    #[arg(long)]
    open: Option<u32>,
    /// Run only this section; can be given several times
    #[arg(long)]
    only: Vec<Part>,
    /// Measure only this number of clients (loop, floor); can be given several times
    #[arg(long)]
    clients: Vec<usize>,
    /// Measure only this store
    #[arg(long)]
    store: Option<StoreKind>,
    /// Seconds for which each rate is measured (loop, floor); a long time allows profiling the server
    #[arg(long)]
    seconds: Option<u64>,
    /// Server binary to measure; the `holdpoint` beside this program if absent
    #[arg(long)]
    server: Option<PathBuf>,
}

/// Name of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Loop,
    Floor,
    Audit,
    Rulings,
    Permits,
    Latency,
    Agents,
    Inbox,
    Readers,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            eprintln!("holdpoint-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the sections and returns whether all of them completed. A missed target is a result, not a failure.
fn run(arguments: &Arguments) -> Fallible<bool> {
    // Each stream needs a file descriptor. If the limit stays too low, the section that needs more descriptors fails.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let setup = BenchSetup::prepare(arguments)?;
    let mut report = Report::new(arguments.quick);
    let wanted = |part: Part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut whole = true;
    let mut keep = |section: Fallible<Section>| match section {
        Ok(section) => {
            section.print();
            report.sections.push(section);
        }
        Err(error) => {
            eprintln!("holdpoint-bench: {error}");
            whole = false;
        }
    };
    let mut loops = Vec::new();
    if wanted(Part::Loop) {
        keep(http_loop::section(&setup, &mut loops));
    }
    if wanted(Part::Floor) {
        keep(floor::section(&setup, &loops));
    }
    if wanted(Part::Audit) {
        keep(audit::section(&setup));
    }
    if wanted(Part::Rulings) {
        keep(rulings::section(&setup));
    }
    if wanted(Part::Permits) {
        keep(permits::section(&setup));
    }
    if wanted(Part::Latency) {
        keep(latency::section(&setup));
    }
    if wanted(Part::Agents) {
        keep(agents::section(&setup));
    }
    if wanted(Part::Inbox) {
        keep(inbox::section(&setup, arguments.open));
    }
    if wanted(Part::Readers) {
        keep(readers::section(&setup));
    }
    report.print_targets();
    report.write(&arguments.json)?;
    Ok(whole)
}
