//! The engine: a store, a bell, and what the use cases need beside them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use domain::webhook::address::Networks;
use domain::{EntryPoint, KeyId, SignedDuration, Timestamp, VisitId};
use moka::sync::Cache;
use parking_lot::Mutex;
use store::{Clock, Cost, KeyRecord, Reads, Store, StoreError, Tx};

use crate::filed::Filed;
use crate::forms_check::{CheckLimits, Checks};
use crate::gates::Gates;
use crate::hashing::Turns;
use crate::judge::Policies;
use crate::open_count::OpenChanges;
use crate::presence::Presence;
use crate::settle::Alongside;
use crate::settling::Settling;
use crate::timers::Stuck;
use crate::work::{Doer, Effects, Work};
use crate::{Bell, Error, Ids, Vault};

/// How often a row is written again that other nodes write at the same moment.
const MOST_MEETINGS: u32 = 5;

/// How long a key that was found is trusted without looking again. A revoked key is refused everywhere after it.
pub(crate) const KEY_TRUST: Duration = Duration::from_secs(1);

/// How much may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// How many questions.
    pub questions: u64,
    /// How many bytes they may take, their resume points included.
    pub bytes: u64,
}

/// What can be set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many questions of one session may be open.
    pub most_open: u32,
    /// How much one key or person may have open in a project.
    pub key_open: Budget,
    /// How much one tenant may have open.
    pub tenant_open: Budget,
    /// How many lists one key or person may have under way at a node, those that wait for their turn included.
    pub key_lists: usize,
    /// How many lists one tenant may have under way at a node, waiting ones included.
    pub tenant_lists: usize,
    /// How many lists a node reads at once; a tenant has half of these places, and a key or person a quarter. The store decides if nothing is said.
    pub lists_at_once: Option<usize>,
    /// How many long polls one key or person may have at a node.
    pub key_waits: usize,
    /// How many long polls one tenant may have at a node.
    pub tenant_waits: usize,
    /// How many policy checks and simulations one key or person may have under way at a node, those that wait for their turn included.
    pub key_checks: usize,
    /// How many policy checks and simulations one tenant may have under way at a node, waiting ones included.
    pub tenant_checks: usize,
    /// How long an answer is leased to its agent unless it says otherwise.
    pub lease: SignedDuration,
    /// How long a claim holds.
    pub claim: SignedDuration,
    /// How long before a deadline people are warned.
    pub warning: SignedDuration,
    /// How long idempotency keys are kept.
    pub once_kept: SignedDuration,
    /// How long closed questions stay in the hot tables.
    pub retention: SignedDuration,
    /// Deadlines by kind, for questions that bring none.
    pub deadlines: HashMap<String, SignedDuration>,
    /// How large a resume point may be, in bytes.
    pub resume_point_bytes: usize,
    /// How long a permit is good for.
    pub permit: SignedDuration,
    /// How long a draft that is judged beside the policy in force may take for one action. No ruling waits for it.
    pub draft_time: Duration,
    /// How long a worker has a step before another one may take it, unless it says that it is alive.
    pub step_lease: SignedDuration,
    /// How long a node has a webhook before another one may send for it. An attempt may take a third of it.
    pub webhook_lease: SignedDuration,
    /// What webhooks may reach beside the public internet.
    pub webhook_networks: Networks,
    /// How many checks of forms run at once.
    pub checks: CheckLimits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            most_open: 1000,
            key_open: Budget { questions: 10_000, bytes: 64 << 20 },
            tenant_open: Budget { questions: 100_000, bytes: 512 << 20 },
            key_lists: 64,
            tenant_lists: 512,
            lists_at_once: None,
            key_waits: 1000,
            tenant_waits: 10_000,
            key_checks: 16,
            tenant_checks: 128,
            lease: SignedDuration::from_secs(300),
            claim: SignedDuration::from_secs(600),
            warning: SignedDuration::from_secs(60),
            once_kept: SignedDuration::from_hours(24),
            retention: SignedDuration::from_hours(24 * 30),
            deadlines: HashMap::new(),
            resume_point_bytes: 512 * 1024,
            permit: SignedDuration::from_hours(24),
            draft_time: Duration::from_secs(5),
            step_lease: SignedDuration::from_secs(30),
            webhook_lease: SignedDuration::from_secs(45),
            webhook_networks: Networks::default(),
            checks: CheckLimits::default(),
        }
    }
}

/// Carries out what callers ask for.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

/// What an engine is made of; its parts are for this crate alone.
pub struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) bell: Bell,
    pub(crate) ids: Arc<Ids>,
    pub(crate) forms: Arc<forms::Forms>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) policies: Arc<Policies>,
    /// Agents and flows of the server's files.
    pub(crate) filed: Filed,
    pub(crate) settings: Arc<Settings>,
    /// Where callers wait for their turn.
    pub(crate) gates: Gates,
    /// Keys that were found a moment ago.
    pub(crate) keys: Cache<KeyId, Arc<KeyRecord>>,
    /// Keys that were used since their use was last written down.
    pub(crate) used: Mutex<HashMap<KeyId, Timestamp>>,
    /// The same of visits.
    pub(crate) visited: Mutex<HashMap<VisitId, Timestamp>>,
    /// The places in which forms are checked.
    pub(crate) checks: Checks,
    /// Whose password is hashed next.
    pub(crate) turns: Turns,
    /// The moment that the timers sleep until, in microseconds.
    pub(crate) next_wake: AtomicI64,
    pub(crate) pepper: Mutex<Option<Arc<[u8]>>>,
    /// Readers of projects who wait for what is not yet in order.
    pub(crate) settling: Settling,
    /// How many audit entries had no place in their chain when this process began to chain entries.
    pub(crate) unchained: AtomicU64,
    /// What time could not be brought to bear on, and how often.
    pub(crate) stuck: Stuck,
}

impl std::ops::Deref for Engine {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Engine {
    /// Puts an engine on a store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, ids: Ids, vault: Vault, settings: Settings) -> Self {
        let bell = Bell::default();
        let heard = bell.clone();
        store.listen(Arc::new(move |topic| heard.ring(&topic)));
        let checks = Checks::new(settings.checks);
        let gates = Gates::new(&settings, store.shared());
        Self(Arc::new(Inner {
            store,
            clock,
            bell,
            ids: Arc::new(ids),
            forms: Arc::new(forms::Forms::new(forms::Limits {
                cached_bytes: settings.checks.cached_bytes,
                ..forms::Limits::default()
            })),
            vault: Arc::new(vault),
            policies: Arc::new(Policies::new()),
            filed: Filed::default(),
            settings: Arc::new(settings),
            gates,
            keys: Cache::builder().max_capacity(10_000).time_to_live(KEY_TRUST).build(),
            used: Mutex::new(HashMap::new()),
            visited: Mutex::new(HashMap::new()),
            checks,
            turns: Turns::default(),
            next_wake: AtomicI64::new(i64::MAX),
            pepper: Mutex::new(None),
            settling: Settling::default(),
            unchained: AtomicU64::new(0),
            stuck: Stuck::default(),
        }))
    }

    /// What has been set.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Where rings are heard.
    #[must_use]
    pub fn bell(&self) -> &Bell {
        &self.0.bell
    }

    /// The node's own clock, for what is not written down.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// A word that nobody can guess, for what is used once and not kept.
    #[must_use]
    pub fn nonce(&self) -> String {
        crate::authenticate::hex(&self.ids.random::<32>())
    }

    /// Whether the store answers.
    pub async fn ready(&self) -> Result<(), StoreError> {
        store::read(self.store.as_ref(), Cost::Point, |reads| reads.setting("ready").map(drop)).await
    }

    /// Runs in one transaction what nobody asked for.
    pub(crate) async fn transact<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        self.transact_as(Doer::system(EntryPoint::Timer), work).await
    }

    /// The same, and again where another node has written the same row meanwhile.
    pub(crate) async fn transact_again<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Clone + Send + 'static,
    {
        for _ in 1..MOST_MEETINGS {
            match self.transact(work.clone()).await {
                Err(Error::Store(StoreError::Conflict)) => {}
                other => return other,
            }
        }
        self.transact(work).await
    }

    /// Runs a command in one transaction, and performs its effects after the commit. A caller's commands go through [`Self::transact_by`].
    pub(crate) async fn transact_as<T, F>(&self, doer: Doer, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        // Nothing that the closure holds may keep the store alive: it is dropped on the store's own thread.
        let (ids, settings, engine) = (Arc::clone(&self.ids), Arc::clone(&self.settings), self.clone());
        let work = move |tx: &mut dyn Tx| {
            let now = tx.now()?;
            let mut effects = Effects::default();
            let work_with = &mut Work {
                tx,
                now,
                ids: &ids,
                settings: &settings,
                doer: &doer,
                effects: &mut effects,
                alongside: Alongside::default(),
                presence: Presence::default(),
                open: OpenChanges::default(),
            };
            let result = work(work_with)?;
            work_with.count_open()?;
            Ok::<_, Error>((result, effects))
        };
        store::transact_then(self.store.as_ref(), work, move |effects| engine.perform(effects)).await
    }

    /// Runs a query.
    pub(crate) async fn read<T, F>(&self, cost: Cost, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads) -> Result<T, Error> + Send + 'static,
    {
        store::read(self.store.as_ref(), cost, work).await
    }
}
