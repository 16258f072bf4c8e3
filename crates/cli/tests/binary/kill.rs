//! Kills servers with SIGKILL at random moments under load. Every acknowledged write must be there afterwards, nothing may
//! happen twice, and no reader may miss an event.
//!
//! `HOLDPOINT_KILL_ROUNDS` sets the number of kills (10 by default; `make verify` sets more), `HOLDPOINT_KILL_SEED` the seed:
//! `HOLDPOINT_KILL_ROUNDS=500 HOLDPOINT_KILL_SEED=7 cargo nextest run -p holdpoint-cli kill --no-capture`. The seed draws the
//! moments and the choices of every client; the order in which threads run is not reproduced.

mod actors;
mod agents;
mod people;
mod reader;
mod record;
mod verdict;
mod wire;

use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use tokio::task::JoinSet;

use crate::common::{House, Launch, on_postgres, soon, until};
use record::Record;
use wire::Wire;

const AGENTS: usize = 3;
const ASKERS_AN_AGENT: usize = 5;
const ACTORS: usize = 3;
const PEOPLE: usize = 3;
const LATECOMERS: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_on_sqlite_loses_nothing_and_repeats_nothing() {
    let house = House::sqlite();
    let figures = Ordeal::new(&house, vec![house.launch()]).endure().await;
    let checked = house.run(&["check"]);
    assert_eq!(String::from_utf8_lossy(&checked.stdout), "the database is whole\n", "{checked:?}");
    println!("SQLite: {figures}, {} audit entries", crate::audit::proved(&house).len());
}

#[test]
fn a_killed_node_on_postgres_loses_nothing_and_repeats_nothing() {
    on_postgres(async |house| {
        let figures = Ordeal::new(house, vec![house.launch(), house.launch()]).endure().await;
        println!("PostgreSQL: {figures}, {} audit entries", crate::audit::proved(house).len());
    });
}

#[tokio::test]
async fn a_server_killed_while_it_starts_for_the_first_time_starts_the_next_time() {
    let mut rng = Rng::new();
    for _ in 0..number("HOLDPOINT_KILL_ROUNDS").unwrap_or(10) / 2 {
        let house = House::sqlite();
        let launch = house.launch();
        let server = launch.begin();
        tokio::time::sleep(Duration::from_micros(rng.u64(..60_000))).await;
        server.kill();
        let server = launch.start().await;
        server.client(&house.key("agent", "bot")).ask_plainly("after all").await;
    }
}

/// Servers on one database that are killed repeatedly.
struct Ordeal<'a> {
    house: &'a House,
    launches: Vec<Launch>,
    rounds: usize,
    seed: u64,
    rng: Rng,
}

impl<'a> Ordeal<'a> {
    fn new(house: &'a House, launches: Vec<Launch>) -> Self {
        let rounds = number("HOLDPOINT_KILL_ROUNDS").unwrap_or(10);
        let seed = number("HOLDPOINT_KILL_SEED").unwrap_or_else(|| Rng::new().u64(..));
        println!("HOLDPOINT_KILL_SEED={seed} HOLDPOINT_KILL_ROUNDS={rounds}");
        Self { house, launches, rounds: usize::try_from(rounds).unwrap(), seed, rng: Rng::with_seed(seed) }
    }

    /// Starts the load, kills servers repeatedly, waits for the rest to finish, and checks the result.
    async fn endure(mut self) -> String {
        let since = Instant::now();
        let mut servers = Vec::new();
        for launch in &self.launches {
            servers.push(launch.start().await);
        }
        let record = Arc::new(Record::default());
        let (mut askers, mut others, mut readers) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
        let seen = reader::start(self.wire("viewer", "reader"), &mut readers).await;
        self.crowd(&record, &mut askers, &mut others);

        for _ in 0..self.rounds {
            tokio::time::sleep(Duration::from_millis(self.rng.u64(20..400))).await;
            let victim = self.rng.usize(..servers.len());
            servers.swap_remove(victim).kill();
            servers.push(self.launches[victim].start().await);
            // Moves the new server to the index of its launch.
            let last = servers.len() - 1;
            servers.swap(victim, last);
            unharmed(&mut askers);
            unharmed(&mut others);
            unharmed(&mut readers);
        }

        record.stop_asking();
        soon("the last questions", gone(&mut askers)).await;
        until("every answer delivered", async || {
            unharmed(&mut others);
            record.all_delivered().then_some(())
        })
        .await;
        record.finish();
        soon("the end of the rest", gone(&mut others)).await;
        let figures = verdict::judge(self.wire("viewer", "judge"), &record, &seen).await;
        readers.shutdown().await;
        for server in servers {
            assert!(server.stop().success());
        }
        let (rounds, seed, took) = (self.rounds, self.seed, since.elapsed().as_secs_f64());
        format!("{rounds} kills, {figures}, {took:.1} s, seed {seed}")
    }

    fn crowd(&mut self, record: &Arc<Record>, askers: &mut JoinSet<()>, others: &mut JoinSet<()>) {
        for agent in 0..AGENTS {
            let name = format!("agent-{agent}");
            let key = self.house.key("agent", &name);
            for worker in 0..ASKERS_AN_AGENT {
                let wire = self.wired(&key);
                askers.spawn(agents::ask_and_go_on(wire, format!("{name}.{worker}"), Arc::clone(record)));
            }
            let wire = self.wired(&key);
            others.spawn(agents::take_over(wire, format!("{name}.helper"), Arc::clone(record)));
        }
        for actor in 0..ACTORS {
            let name = format!("actor-{actor}");
            let (agent, person) = (self.wire("agent", &name), self.wire("operator", &format!("approver-{actor}")));
            askers.spawn(actors::act(agent, person, name, Arc::clone(record)));
        }
        for person in 0..PEOPLE + LATECOMERS {
            let name = format!("person-{person}");
            let wire = self.wire("operator", &name);
            others.spawn(people::answer(wire, name, person >= PEOPLE, Arc::clone(record)));
        }
    }

    fn wire(&mut self, role: &str, user: &str) -> Wire {
        let key = self.house.key(role, user);
        self.wired(&key)
    }

    fn wired(&mut self, key: &str) -> Wire {
        Wire::new(self.launches.iter().map(|launch| launch.client(key)).collect(), self.rng.fork())
    }
}

/// Waits until all clients have ended without a panic.
async fn gone(tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
}

/// Panics if a client has ended, because clients run as long as there is work.
fn unharmed(tasks: &mut JoinSet<()>) {
    if let Some(ended) = tasks.try_join_next() {
        ended.unwrap();
        panic!("a client went home before the end");
    }
}

/// Reads the number in an environment variable; `None` if the variable is absent.
fn number(name: &str) -> Option<u64> {
    std::env::var_os(name).map(|text| text.to_str().unwrap().trim().parse().unwrap())
}
