//! `holdpoint-bench`: how fast, how soon, how large. `make bench` runs it in one go.
//!
//! Duty: measure the real release binary from outside and hold the figures against the targets of the first issue. Prints a
//! table for each section and writes everything as JSON. Decides nothing about the product and is no part of it.
//!
//! The sections, each in a file of its own, and each with `--only`:
//!
//! - `loop` (`http_loop.rs`): ask, wait by long poll, answer, take, complete, over HTTP against `holdpoint serve` as a child
//!   process, at 1 to 256 clients. A client is an agent and a person with a kept-alive connection each, and a session.
//! - `floor` (`floor.rs`, `bare.rs`): the same four durable operations without HTTP. `floor` is our own SQL: the calls that the
//!   engine makes on a transaction, in its order, through the store's own group commit. `bare` is SQLite with the smallest rows
//!   that could do it, one writer and group commit: what the disk and the library allow when nothing is kept for anybody else.
//! - `audit` (`audit.rs`): what the audit trail costs: the floor with it and without it, and how fast entries are chained.
//! - `rulings` (`rulings.rs`): how long policy takes to rule on a call, in process, with 10, 100 and 1,000 rules.
//! - `permits` (`permits.rs`): actions that policy allows, proposed, started with their permit and reported, over HTTP.
//! - `latency` (`latency.rs`): from just before an answer is sent to the end of the waiting agent's response, 200 a second on a
//!   fixed schedule. Each answer belongs to a whole loop, so that the load around it is real. With PostgreSQL also from one
//!   node to another.
//! - `agents` (`agents.rs`): agents that the server runs. In process, with a model and tools that take no time: what a turn costs at
//!   the beginning and at the end of a session of 1,000 turns, a turn with 64 questions, resumes a second. Over HTTP, with a model
//!   on the wire: from an answer to the next request at the model.
//! - `inbox` (`inbox.rs`, `load.rs`): start, pages, filters and figures with a million open questions, put there through the
//!   store's own transactions, many questions each.
//! - `readers` (`readers.rs`): thousands of silent event streams: memory of the server, and the time of one event to the last.
//!
//! What to know when reading the figures: the bench shares the machine's cores with the server it measures, so that its own
//! share is shown beside the server's. Every size begins with an empty database. Memory is VmRSS, without what the kernel holds
//! for sockets. "First request" is the first after a start: the operating system has the file in memory already.
//!
//! Start reading at `ground.rs` (what is measured stands on it) and `http_loop.rs`. `client.rs` is a plain HTTP/1.1 client on
//! hyper's connections, `durable.rs` the four operations, `report.rs` tables, targets and JSON.

mod agents;
mod audit;
mod bare;
mod client;
mod durable;
mod floor;
mod ground;
mod http_loop;
mod inbox;
mod latency;
mod load;
mod node;
mod permits;
mod readers;
mod report;
mod rulings;
mod sample;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::ground::{Ground, Kept};
use crate::report::{Report, Section};

/// A result of anything here: whatever goes wrong ends the section with its words.
pub(crate) type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Measures Holdpoint and says which targets are met.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// Shorter and smaller: to see that everything works
    #[arg(long)]
    quick: bool,
    /// Where the figures are written
    #[arg(long, default_value = "target/bench.json")]
    json: PathBuf,
    /// How many open questions the inbox is measured with
    #[arg(long)]
    open: Option<u32>,
    /// Only this section; may be given several times
    #[arg(long)]
    only: Vec<Part>,
    /// Only with so many clients (loop, floor); may be given several times
    #[arg(long)]
    clients: Vec<usize>,
    /// Only on this store
    #[arg(long)]
    store: Option<Kept>,
    /// How many seconds each rate is measured (loop, floor): long enough to look at the server with a profiler
    #[arg(long)]
    seconds: Option<u64>,
    /// The server to measure; the `holdpoint` beside this program if absent
    #[arg(long)]
    server: Option<PathBuf>,
}

/// A section by name.
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

/// Runs the sections and says whether all of them went through. A missed target is a finding, not a failure.
fn run(arguments: &Arguments) -> Fallible<bool> {
    // Streams are file descriptors; a lower limit shows itself in the section that needs them.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let ground = Ground::prepare(arguments)?;
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
        keep(http_loop::section(&ground, &mut loops));
    }
    if wanted(Part::Floor) {
        keep(floor::section(&ground, &loops));
    }
    if wanted(Part::Audit) {
        keep(audit::section(&ground));
    }
    if wanted(Part::Rulings) {
        keep(rulings::section(&ground));
    }
    if wanted(Part::Permits) {
        keep(permits::section(&ground));
    }
    if wanted(Part::Latency) {
        keep(latency::section(&ground));
    }
    if wanted(Part::Agents) {
        keep(agents::section(&ground));
    }
    if wanted(Part::Inbox) {
        keep(inbox::section(&ground, arguments.open));
    }
    if wanted(Part::Readers) {
        keep(readers::section(&ground));
    }
    report.print_targets();
    report.write(&arguments.json)?;
    Ok(whole)
}
