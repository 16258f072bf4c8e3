//! Defines [`Engine`] with its parts (store, bell, vault, policies, limits) and [`Settings`].

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use domain::webhook::address::Networks;
use domain::{KeyId, SignedDuration, Timestamp, VisitId};
use moka::sync::Cache;
use parking_lot::Mutex;
use store::{Clock, Cost, KeyRecord, Store, StoreError};

use crate::access::hashing::HashQueue;
use crate::events::settling::ProjectWaits;
use crate::interactions::forms_check::{CheckLimits, Checks};
use crate::policy::ruling::Policies;
use crate::run::gates::Gates;
use crate::run::timers::FailureCounts;
use crate::steps::server_files::ServerDefinitions;
use crate::{Bell, Ids, Vault};

/// Time for which a key is cached before it is read again. Every node refuses a revoked key after this time at the latest.
pub(crate) const KEY_TRUST: Duration = Duration::from_secs(1);

/// Limit on open questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of open questions.
    pub questions: u64,
    /// Maximum size of the open questions with their resume points, in bytes.
    pub bytes: u64,
}

/// Settings of an engine: limits, times and sizes.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Maximum number of open questions in one session.
    pub most_open: u32,
    /// Budget of open questions of one key or person in a project.
    pub key_open: Budget,
    /// Budget of open questions of one tenant.
    pub tenant_open: Budget,
    /// Maximum number of list requests of one key or person at a node, running and queued.
    pub key_lists: usize,
    /// Maximum number of list requests of one tenant at a node, running and queued.
    pub tenant_lists: usize,
    /// Number of lists that a node reads at once. A tenant may use half of it (at least two), a key or person a quarter. The default
    /// depends on the store.
    pub lists_at_once: Option<usize>,
    /// Maximum number of long polls of one key or person at a node.
    pub key_waits: usize,
    /// Maximum number of long polls of one tenant at a node.
    pub tenant_waits: usize,
    /// Maximum number of policy checks and simulations of one key or person at a node, running and queued.
    pub key_checks: usize,
    /// Maximum number of policy checks and simulations of one tenant at a node, running and queued.
    pub tenant_checks: usize,
    /// Length of a lease on an answer, unless the agent asks for another length.
    pub lease: SignedDuration,
    /// Length of a person's claim on a question.
    pub claim: SignedDuration,
    /// Time between the warning and the deadline of a question.
    pub warning: SignedDuration,
    /// Time for which idempotency keys are stored.
    pub idempotency_kept: SignedDuration,
    /// Time for which closed questions stay in the live tables before they move to the archive.
    pub retention: SignedDuration,
    /// Time to answer by kind of question, for questions without a deadline of their own.
    pub deadlines: HashMap<String, SignedDuration>,
    /// Maximum size of a resume point, in bytes.
    pub resume_point_bytes: usize,
    /// Time for which a permit is valid.
    pub permit: SignedDuration,
    /// Time limit for the ruling of a shadow draft on one action. The ruling of the policy in force does not wait for it.
    pub draft_time: Duration,
    /// Length of a step lease. Another worker may claim the step if the lease is not extended within this time.
    pub step_lease: SignedDuration,
    /// Length of a node's lease on a webhook. After its end another node may send. One attempt may take a third of this time.
    pub webhook_lease: SignedDuration,
    /// Networks that webhooks may reach in addition to the public internet.
    pub webhook_networks: Networks,
    /// Limits on the form checks that run at once.
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
            idempotency_kept: SignedDuration::from_hours(24),
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

/// Runs the commands and queries of callers. A clone is a handle to the same engine.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

/// Parts of an engine. The fields are visible only in this crate.
pub struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) bell: Bell,
    pub(crate) ids: Arc<Ids>,
    pub(crate) forms: Arc<forms::Forms>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) policies: Arc<Policies>,
    /// Agents and flows that are defined in files of the server.
    pub(crate) filed: ServerDefinitions,
    pub(crate) settings: Arc<Settings>,
    /// Queues in which callers wait for expensive work.
    pub(crate) gates: Gates,
    /// Cache of recently read keys, each for `KEY_TRUST`.
    pub(crate) keys: Cache<KeyId, Arc<KeyRecord>>,
    /// Time of the last use of each key whose use is not stored yet. `save_last_uses` stores it.
    pub(crate) used: Mutex<HashMap<KeyId, Timestamp>>,
    /// Time of the last use of each visit whose use is not stored yet. `save_last_uses` stores it.
    pub(crate) visited: Mutex<HashMap<VisitId, Timestamp>>,
    /// Slots in which form checks run.
    pub(crate) checks: Checks,
    /// Queue for the hashing of passwords.
    pub(crate) hashes: HashQueue,
    /// Time until which the timers sleep, in microseconds.
    pub(crate) next_wake: AtomicI64,
    pub(crate) pepper: Mutex<Option<Arc<[u8]>>>,
    /// Readers that wait for events which are committed but not yet in their final order, by project.
    pub(crate) settling: ProjectWaits,
    /// Number of audit entries without a position in the chain when this process began to chain entries.
    pub(crate) unchained: AtomicU64,
    /// Number of failures of the timers on each row.
    pub(crate) stuck: FailureCounts,
}

impl std::ops::Deref for Engine {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Engine {
    /// Creates an engine on a store and listens to the topics that the store reports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, ids: Ids, vault: Vault, settings: Settings) -> Self {
        let bell = Bell::default();
        let heard = bell.clone();
        store.listen(Arc::new(move |topic| heard.ring(&topic)));
        let checks = Checks::new(settings.checks);
        let gates = Gates::new(&settings, store.is_shared());
        Self(Arc::new(Inner {
            store,
            clock,
            bell,
            ids: Arc::new(ids),
            forms: Arc::new(forms::Forms::new(forms::FormLimits {
                cached_bytes: settings.checks.cached_bytes,
                ..forms::FormLimits::default()
            })),
            vault: Arc::new(vault),
            policies: Arc::new(Policies::new()),
            filed: ServerDefinitions::default(),
            settings: Arc::new(settings),
            gates,
            keys: Cache::builder().max_capacity(10_000).time_to_live(KEY_TRUST).build(),
            used: Mutex::new(HashMap::new()),
            visited: Mutex::new(HashMap::new()),
            checks,
            hashes: HashQueue::default(),
            next_wake: AtomicI64::new(i64::MAX),
            pepper: Mutex::new(None),
            settling: ProjectWaits::default(),
            unchained: AtomicU64::new(0),
            stuck: FailureCounts::default(),
        }))
    }

    /// Settings of this engine.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Bell that wakes waiting readers.
    #[must_use]
    pub fn bell(&self) -> &Bell {
        &self.0.bell
    }

    /// Time of the node's own clock. Stored times come from the transaction instead.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Random text of 32 bytes in hexadecimal, for values that are used once and not stored.
    #[must_use]
    pub fn nonce(&self) -> String {
        domain::hex(&self.ids.random::<32>())
    }

    /// Checks that the store answers.
    pub async fn ready(&self) -> Result<(), StoreError> {
        store::read(self.store.as_ref(), Cost::Point, |reads| reads.setting("ready").map(drop)).await
    }
}
