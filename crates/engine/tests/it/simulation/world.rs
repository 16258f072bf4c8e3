//! State of one seed: a database, an engine that crashes occasionally, and its callers.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{SignedDuration, Timestamp};
use holdpoint_engine::{Engine, Ids, MasterKey, Settings, Vault};
use parking_lot::Mutex;
use store::{Clock, Store};
use testkit::{CrashStore, JobEnd, ManualClock, Random, Sabotage, UseCase, side_by_side};

use crate::simulation::books::{RETENTION, StoreContents};
use crate::simulation::cast::Tenant;
use crate::simulation::check;
use crate::simulation::command::{Command, Reply, perform};
use crate::simulation::deeds::{Outcome, PerformedCommand};
use crate::simulation::place::open;
use crate::simulation::readers::Readers;

/// Result of a check; the error is a sentence that says what is wrong.
pub(crate) type Verdict = Result<(), String>;

/// State of the simulation.
pub(crate) struct World {
    pub random: Random,
    pub clock: ManualClock,
    pub tenants: Vec<Tenant>,
    pub books: Vec<StoreContents>,
    pub readers: Readers,
    /// Commands without a reply, and commands that are sent again for a second reply.
    pub unanswered: Vec<Command>,
    /// First reply to each command with an idempotency key.
    pub told: BTreeMap<String, Reply>,
    pub latest: Timestamp,
    pub numbers: usize,
    pub crashes: usize,
    pub story: Vec<String>,
    tells: bool,
    /// Leases that agents know.
    pub leases: Vec<(usize, domain::InteractionId, domain::LeaseId)>,
    /// Permits that agents were given, as tenant, session, call identifier and text.
    pub permits: Vec<(usize, domain::SessionId, String, String)>,
    crash_rate: usize,
    sabotage: Option<Sabotage>,
    ids: Arc<Mutex<Random>>,
    behind: Arc<dyn Store>,
    store: Arc<CrashStore>,
    engine: Engine,
    directory: tempfile::TempDir,
}

impl World {
    /// Creates the initial state, with an optional defect in the store.
    pub(crate) fn of(seed: u64, sabotage: Option<Sabotage>, tells: bool) -> Self {
        let mut random = Random::seeded(seed);
        let clock = ManualClock::default();
        let (directory, tenants) = crate::simulation::place::fresh();
        let ids = Arc::new(Mutex::new(Random::seeded(random.number())));
        let crash_rate = [15, 30, 60, usize::MAX][random.below(4)];
        let behind = open(&directory, &clock);
        let store = process(&behind, sabotage);
        let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
        let engine = boot(&shared, &clock, &ids);
        Self {
            random,
            latest: clock.now(),
            clock,
            books: vec![StoreContents::default(); tenants.len()],
            tenants,
            readers: Readers::default(),
            unanswered: Vec::new(),
            told: BTreeMap::new(),
            numbers: 0,
            crashes: 0,
            story: Vec::new(),
            tells,
            leases: Vec::new(),
            permits: Vec::new(),
            crash_rate,
            sabotage,
            ids,
            behind,
            store,
            engine,
            directory,
        }
    }

    /// Adds a line to the story, if it is recorded: most seeds run without one.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.tells {
            self.story.push(line());
        }
    }

    /// Runs commands concurrently, with or without crashes in between, and then checks everything.
    pub(crate) async fn together(
        &mut self,
        commands: Vec<Command>,
        deaths: bool,
    ) -> Result<Vec<PerformedCommand>, String> {
        let now = self.clock.now();
        commands.iter().for_each(|command| self.tell(|| format!("{now} {}", command.told())));
        let doing = |command: &Command| UseCase {
            future: Box::pin(perform(self.engine.clone(), command.clone())),
            sleeps: command.sleeps(),
        };
        let doings = commands.iter().map(doing).collect();
        let rate = if deaths { self.crash_rate } else { usize::MAX };
        let mut last = JobEnd::Done;
        let mut end = |random: &mut Random| {
            last = drawn(random, rate);
            last
        };
        let results = side_by_side(&self.store, doings, &mut self.random, &mut end).await;
        let crashed = self.store.is_dead();
        let mut deeds = Vec::new();
        for (command, result) in commands.into_iter().zip(results) {
            let outcome = Outcome::of(result);
            self.tell(|| format!("    #{} {}", command.number, outcome.told()));
            deeds.extend(PerformedCommand::each(command, outcome));
        }
        if crashed {
            self.crashes += 1;
            self.tell(|| format!("    the process dies: {last:?}"));
            let reopens = self.crashes.is_multiple_of(4);
            self.restart(reopens);
        }
        check::everything(self, &deeds, crashed)?;
        Ok(deeds)
    }

    /// Starts a new process on the data of the old one.
    fn restart(&mut self, reopens: bool) {
        if reopens {
            self.behind.close();
            self.behind = open(&self.directory, &self.clock);
        }
        self.store = process(&self.behind, self.sabotage);
        let shared: Arc<dyn Store> = Arc::clone(&self.store) as Arc<dyn Store>;
        self.engine = boot(&shared, &self.clock, &self.ids);
    }

    /// Reads the current contents of the store.
    pub(crate) fn look(&self, tenant: usize, whole_log: bool) -> StoreContents {
        self.books[tenant].read(&*self.behind, self.tenants[tenant].scope, whole_log)
    }

    /// An engine on the underlying store, without crashes and defects.
    pub(crate) fn sound_engine(&self) -> Engine {
        boot(&self.behind, &self.clock, &self.ids)
    }

    /// Number of actions that were started, that ran with edited arguments, and that a grant allowed.
    pub(crate) fn acted(&self) -> [usize; 3] {
        let all = self.books.iter().flat_map(|books| books.actions.values());
        let ran = |action: &&domain::Action| {
            use domain::ActionState as S;
            matches!(action.state, S::Started { .. } | S::Done { .. } | S::Failed { .. } | S::Unknown { .. })
        };
        let edited = all.clone().filter(ran).filter(|action| action.edited.is_some()).count();
        [all.clone().filter(ran).count(), edited, all.filter(|action| action.grant.is_some()).count()]
    }

    /// Whether any file of the database contains a text.
    pub(crate) fn on_disk(&self, text: &str) -> bool {
        let mut files = std::fs::read_dir(self.directory.path()).unwrap();
        files.any(|file| String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()).contains(text))
    }

    /// Moves the clock by a random duration, usually forwards.
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

    /// Moves the clock by a duration.
    pub(crate) fn pass(&mut self, by: SignedDuration) {
        self.clock.advance(by);
        self.latest = self.latest.max(self.clock.now());
    }
}

fn drawn(random: &mut Random, rate: usize) -> JobEnd {
    if rate == usize::MAX || !random.one_in(rate) {
        return JobEnd::Done;
    }
    match random.below(10) {
        0..=4 => JobEnd::DiesBeforeCall(random.below(16) as u32),
        5 => JobEnd::DiesBeforeCommit,
        _ => JobEnd::DiesBeforeReply,
    }
}

fn process(behind: &Arc<dyn Store>, sabotage: Option<Sabotage>) -> Arc<CrashStore> {
    let behind = Arc::clone(behind);
    Arc::new(match sabotage {
        Some(sabotage) => CrashStore::sabotaged(behind, sabotage),
        None => CrashStore::new(behind),
    })
}

/// Creates an engine on a store.
pub(crate) fn boot(store: &Arc<dyn Store>, clock: &ManualClock, ids: &Arc<Mutex<Random>>) -> Engine {
    let ids = Arc::clone(ids);
    let ids = Ids::from_source(Box::new(move |bytes| ids.lock().fill(bytes)));
    // The limit on lists is high, because the only thread would wait for itself.
    let settings = Settings { retention: RETENTION, lists_at_once: Some(100), ..Settings::default() };
    let vault = Vault::new(MasterKey::from_bytes([7; 32]));
    Engine::new(Arc::clone(store), Arc::new(clock.clone()), ids, vault, settings)
}
