//! The world that a seed makes: a database, an engine that dies now and then, and everybody who uses it.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{SignedDuration, Timestamp};
use holdpoint_engine::{Engine, Error, Ids, MasterKey, NewKey, Settings, Vault};
use parking_lot::Mutex;
use store::{Clock, Store, StoreError};
use store_sqlite::{Options, SqliteStore};
use testkit::{CrashStore, Doing, Fate, ManualClock, Random, Sabotage, side_by_side};

use crate::books::Books;
use crate::cast::{PARTS, TENANTS, Tenant};
use crate::check;
use crate::command::{Command, Reply, perform};
use crate::deeds::{Deed, Outcome};
use crate::readers::Readers;

/// What went wrong, in a sentence.
pub(crate) type Verdict = Result<(), String>;

/// Everything there is.
pub(crate) struct World {
    pub random: Random,
    pub clock: ManualClock,
    pub tenants: Vec<Tenant>,
    pub books: Vec<Books>,
    pub readers: Readers,
    /// Commands that were never answered, or whose answer is to be asked for again.
    pub unanswered: Vec<Command>,
    /// What each keyed command was first told.
    pub told: BTreeMap<String, Reply>,
    pub latest: Timestamp,
    pub numbers: usize,
    pub crashes: usize,
    pub story: Vec<String>,
    /// Leases that agents know of.
    pub leases: Vec<(usize, domain::InteractionId, domain::LeaseId)>,
    crash_rate: usize,
    sabotage: Option<Sabotage>,
    ids: Arc<Mutex<Random>>,
    behind: Arc<dyn Store>,
    store: Arc<CrashStore>,
    engine: Engine,
    directory: tempfile::TempDir,
}

impl World {
    /// A world at its beginning.
    pub(crate) async fn of(seed: u64, sabotage: Option<Sabotage>) -> Self {
        let mut random = Random::seeded(seed);
        let clock = ManualClock::default();
        let directory = crate::place::fresh();
        let ids = Arc::new(Mutex::new(Random::seeded(random.number())));
        let crash_rate = [15, 30, 60, usize::MAX][random.below(4)];
        let behind = open(&directory, &clock);
        let store = Arc::new(CrashStore::new(Arc::clone(&behind)));
        let engine = boot(&store, &clock, &ids);
        let latest = clock.now();
        let mut world = Self {
            random,
            clock,
            tenants: Vec::new(),
            books: vec![Books::default(); TENANTS.len()],
            readers: Readers::default(),
            unanswered: Vec::new(),
            told: BTreeMap::new(),
            latest,
            numbers: 0,
            crashes: 0,
            story: Vec::new(),
            leases: Vec::new(),
            crash_rate,
            sabotage: None,
            ids,
            behind,
            store,
            engine,
            directory,
        };
        world.tenants = world.settle_in().await;
        // From here on things may be wrong with the store.
        world.sabotage = sabotage;
        world.restart(false);
        world
    }

    async fn settle_in(&mut self) -> Vec<Tenant> {
        let mut tenants = Vec::new();
        for name in TENANTS {
            let mut callers = Vec::new();
            for (user, role, groups) in PARTS {
                let groups = groups.iter().map(|group| (*group).to_owned()).collect();
                let new = NewKey { role, user: Some(user.into()), groups, lifetime: None };
                let engine = self.engine.clone();
                let installed = async move { engine.key_install(name, "default", new).await };
                let (key, _) = self.undisturbed(installed).await.unwrap();
                callers.push(key.caller(self.clock.now()).unwrap());
            }
            let people = callers.split_off(2);
            tenants.push(Tenant { scope: callers[0].scope, agents: callers, people });
        }
        tenants
    }

    /// Runs one thing that nothing interrupts.
    async fn undisturbed<T: Send>(&mut self, doing: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
        let doing = Doing { future: Box::pin(doing), sleeps: false };
        let done = side_by_side(&self.store, vec![doing], &mut self.random, &mut |_| Fate::Done).await;
        done.into_iter().flatten().next().unwrap_or(Err(Error::Store(StoreError::Closed)))
    }

    /// Has these commands carried out side by side, with or without deaths in between; then everything is checked.
    pub(crate) async fn together(&mut self, commands: Vec<Command>, deaths: bool) -> Result<Vec<Deed>, String> {
        for command in &commands {
            self.story.push(format!("{} {}", self.clock.now(), command.told()));
        }
        let doing = |command: &Command| Doing {
            future: Box::pin(perform(self.engine.clone(), command.clone())),
            sleeps: command.sleeps(),
        };
        let doings = commands.iter().map(doing).collect();
        let rate = if deaths { self.crash_rate } else { usize::MAX };
        let mut last = Fate::Done;
        let mut fate = |random: &mut Random| {
            last = drawn(random, rate);
            last
        };
        let results = side_by_side(&self.store, doings, &mut self.random, &mut fate).await;
        let crashed = self.store.dead();
        let mut deeds = Vec::new();
        for (command, result) in commands.into_iter().zip(results) {
            let outcome = Outcome::of(result);
            self.story.push(format!("    #{} {}", command.number, outcome.told()));
            deeds.extend(Deed::each(command, outcome));
        }
        if crashed {
            self.crashes += 1;
            self.story.push(format!("    the process dies: {last:?}"));
            let reopens = self.crashes.is_multiple_of(4);
            self.restart(reopens);
        }
        check::everything(self, &deeds, crashed)?;
        Ok(deeds)
    }

    /// A new process on what the old one left.
    fn restart(&mut self, reopens: bool) {
        if reopens {
            self.behind.close();
            self.behind = open(&self.directory, &self.clock);
        }
        let behind = Arc::clone(&self.behind);
        self.store = Arc::new(match self.sabotage {
            Some(sabotage) => CrashStore::sabotaged(behind, sabotage),
            None => CrashStore::new(behind),
        });
        self.engine = boot(&self.store, &self.clock, &self.ids);
    }

    /// What the store holds now.
    pub(crate) fn look(&self, tenant: usize, whole_log: bool) -> Books {
        self.books[tenant].read(&*self.behind, self.tenants[tenant].scope, whole_log)
    }

    /// Whether a text is anywhere on the disk.
    pub(crate) fn on_disk(&self, text: &str) -> bool {
        let mut files = std::fs::read_dir(self.directory.path()).unwrap();
        files.any(|file| String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()).contains(text))
    }

    /// Moves the clock, mostly forwards.
    pub(crate) fn time_passes(&mut self) {
        let by = match self.random.below(24) {
            0..=11 => return,
            12..=17 => 1 + self.random.below(40) as i64,
            18..=20 => 60 + self.random.below(600) as i64,
            21 => 3600 * (1 + self.random.below(3) as i64),
            22 => -(1 + self.random.below(300) as i64),
            _ => 3600 * 25,
        };
        self.pass(SignedDuration::from_secs(by));
    }

    /// Moves the clock by so much.
    pub(crate) fn pass(&mut self, by: SignedDuration) {
        self.clock.advance(by);
        self.latest = self.latest.max(self.clock.now());
    }
}

fn drawn(random: &mut Random, rate: usize) -> Fate {
    if rate == usize::MAX || !random.one_in(rate) {
        return Fate::Done;
    }
    match random.below(10) {
        0..=4 => Fate::DiesBeforeCall(random.below(16) as u32),
        5 => Fate::DiesBeforeCommit,
        _ => Fate::DiesBeforeReply,
    }
}

fn open(directory: &tempfile::TempDir, clock: &ManualClock) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(directory.path(), Arc::new(clock.clone()), &Options::default()).unwrap())
}

fn boot(store: &Arc<CrashStore>, clock: &ManualClock, ids: &Arc<Mutex<Random>>) -> Engine {
    let ids = Arc::clone(ids);
    let ids = Ids::from_source(Box::new(move |bytes| ids.lock().fill(bytes)));
    let settings = Settings { retention: SignedDuration::from_hours(2), ..Settings::default() };
    let vault = Vault::new(MasterKey::from_bytes([7; 32]));
    Engine::new(Arc::clone(store) as Arc<dyn Store>, Arc::new(clock.clone()), ids, vault, settings)
}
