//! Kills servers with SIGKILL at random moments under load. Every acknowledged write must be there afterwards, nothing
//! may happen twice, and no reader may miss an event.
//!
//! `HOLDPOINT_KILL_ROUNDS` sets the number of kills (10 by default; `make verify` sets more), `HOLDPOINT_KILL_SEED` the
//! seed: `HOLDPOINT_KILL_ROUNDS=500 HOLDPOINT_KILL_SEED=7 cargo nextest run -p holdpoint-cli kill --no-capture`. The
//! seed draws the moments and the choices of every client; the order in which threads run is not reproduced.

mod actors;
mod agents;
mod people;
mod reader;
mod record;
mod retrying_client;
mod verdict;

use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use tokio::task::JoinSet;

use crate::common::{Deployment, Launch, on_postgres, soon, until};
use record::Record;
use retrying_client::RetryingClient;

const AGENTS: usize = 3;
const ASKERS_AN_AGENT: usize = 5;
const ACTORS: usize = 3;
const PEOPLE: usize = 3;
const LATECOMERS: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn killed_server_on_sqlite_loses_and_repeats_nothing() {
    let deployment = Deployment::sqlite();
    let totals = KillTest::new(&deployment, vec![deployment.launch()]).run().await;
    let checked = deployment.run(&["check"]);
    assert_eq!(String::from_utf8_lossy(&checked.stdout), "no damage was found in the database\n", "{checked:?}");
    println!("SQLite: {totals}, {} audit entries", crate::audit::proved(&deployment).len());
}

#[test]
fn killed_node_on_postgres_loses_and_repeats_nothing() {
    on_postgres(async |deployment| {
        let totals = KillTest::new(deployment, vec![deployment.launch(), deployment.launch()]).run().await;
        println!("PostgreSQL: {totals}, {} audit entries", crate::audit::proved(deployment).len());
    });
}

#[tokio::test]
async fn server_killed_during_its_first_start_starts_again() {
    let mut rng = Rng::new();
    for _ in 0..number("HOLDPOINT_KILL_ROUNDS").unwrap_or(10) / 2 {
        let deployment = Deployment::sqlite();
        let launch = deployment.launch();
        let server = launch.begin();
        tokio::time::sleep(Duration::from_micros(rng.u64(..60_000))).await;
        server.kill();
        let server = launch.start().await;
        server.client(&deployment.key("agent", "bot")).ask_plainly("after all").await;
    }
}

/// Servers on one database that are killed repeatedly.
struct KillTest<'a> {
    deployment: &'a Deployment,
    launches: Vec<Launch>,
    rounds: usize,
    seed: u64,
    rng: Rng,
}

impl<'a> KillTest<'a> {
    fn new(deployment: &'a Deployment, launches: Vec<Launch>) -> Self {
        let rounds = number("HOLDPOINT_KILL_ROUNDS").unwrap_or(10);
        let seed = number("HOLDPOINT_KILL_SEED").unwrap_or_else(|| Rng::new().u64(..));
        println!("HOLDPOINT_KILL_SEED={seed} HOLDPOINT_KILL_ROUNDS={rounds}");
        Self { deployment, launches, rounds: usize::try_from(rounds).unwrap(), seed, rng: Rng::with_seed(seed) }
    }

    /// Starts the load, kills servers repeatedly, waits for the rest to finish, and checks the result.
    async fn run(mut self) -> String {
        let since = Instant::now();
        let mut servers = Vec::new();
        for launch in &self.launches {
            servers.push(launch.start().await);
        }
        let record = Arc::new(Record::default());
        let (mut askers, mut others, mut readers) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
        let seen = reader::start(self.client("viewer", "reader"), &mut readers).await;
        self.spawn_clients(&record, &mut askers, &mut others);

        for _ in 0..self.rounds {
            tokio::time::sleep(Duration::from_millis(self.rng.u64(20..400))).await;
            let victim = self.rng.usize(..servers.len());
            servers.swap_remove(victim).kill();
            servers.push(self.launches[victim].start().await);
            // Moves the new server to the index of its launch.
            let last = servers.len() - 1;
            servers.swap(victim, last);
            assert_no_client_ended(&mut askers);
            assert_no_client_ended(&mut others);
            assert_no_client_ended(&mut readers);
        }

        record.stop_asking();
        soon("the last questions", join_all_clients(&mut askers)).await;
        until("every answer delivered", async || {
            assert_no_client_ended(&mut others);
            record.all_delivered().then_some(())
        })
        .await;
        record.finish();
        soon("the end of the rest", join_all_clients(&mut others)).await;
        let totals = verdict::judge(self.client("viewer", "judge"), &record, &seen).await;
        readers.shutdown().await;
        for server in servers {
            assert!(server.stop().success());
        }
        let (rounds, seed, took) = (self.rounds, self.seed, since.elapsed().as_secs_f64());
        format!("{rounds} kills, {totals}, {took:.1} s, seed {seed}")
    }

    fn spawn_clients(&mut self, record: &Arc<Record>, askers: &mut JoinSet<()>, others: &mut JoinSet<()>) {
        for agent in 0..AGENTS {
            let name = format!("agent-{agent}");
            let key = self.deployment.key("agent", &name);
            for worker in 0..ASKERS_AN_AGENT {
                let client = self.client_with_key(&key);
                askers.spawn(agents::ask_and_take_answers(client, format!("{name}.{worker}"), Arc::clone(record)));
            }
            let client = self.client_with_key(&key);
            others.spawn(agents::take_waiting_deliveries(client, format!("{name}.helper"), Arc::clone(record)));
        }
        for actor in 0..ACTORS {
            let name = format!("actor-{actor}");
            let (agent, person) = (self.client("agent", &name), self.client("operator", &format!("approver-{actor}")));
            askers.spawn(actors::act(agent, person, name, Arc::clone(record)));
        }
        for person in 0..PEOPLE + LATECOMERS {
            let name = format!("person-{person}");
            let client = self.client("operator", &name);
            others.spawn(people::answer(client, name, person >= PEOPLE, Arc::clone(record)));
        }
    }

    fn client(&mut self, role: &str, user: &str) -> RetryingClient {
        let key = self.deployment.key(role, user);
        self.client_with_key(&key)
    }

    fn client_with_key(&mut self, key: &str) -> RetryingClient {
        RetryingClient::new(self.launches.iter().map(|launch| launch.client(key)).collect(), self.rng.fork())
    }
}

/// Waits until all clients have ended without a panic.
async fn join_all_clients(tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
}

/// Panics if a client has ended, because clients run as long as there is work.
fn assert_no_client_ended(tasks: &mut JoinSet<()>) {
    if let Some(ended) = tasks.try_join_next() {
        ended.unwrap();
        panic!("a client ended before the test");
    }
}

/// Reads the number in an environment variable; `None` if the variable is absent.
fn number(name: &str) -> Option<u64> {
    std::env::var_os(name).map(|text| text.to_str().unwrap().trim().parse().unwrap())
}
