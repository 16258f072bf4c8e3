//! Gates of a node: they admit lists, long polls and expensive policy checks in turn, and count them by key and tenant.

use domain::{Caller, Limit, Role};
use store::{Cost, Reads};

use crate::run::fair_gate::{Bounds, Entrant, FairGate};
use crate::run::heavy_work::HeavyWork;
use crate::{Engine, Error, Settings};

/// Gates of one node.
pub(crate) struct Gates {
    /// Lists and stats, which read many rows.
    pub(crate) lists: FairGate,
    /// Long polls. This gate has no queue: a caller with too many long polls is refused.
    pub(crate) waits: FairGate,
    /// Policy checks, explanations of drafts, simulations and suggestions that people ask for.
    checks: FairGate,
    /// Policy checks that agents ask for. Their own gate keeps agents from delaying people.
    agent_checks: FairGate,
}

impl Gates {
    /// Creates the gates. `shared` says whether other nodes use the store too: SQLite reads two lists at once, PostgreSQL eight by default.
    pub(crate) fn new(settings: &Settings, shared: bool) -> Self {
        let at_once = settings.lists_at_once.unwrap_or(if shared { 8 } else { 2 });
        let lists = Bounds {
            at_once,
            tenant_at_once: at_once.div_ceil(2).max(2),
            key_at_once: at_once.div_ceil(4),
            tenant: (settings.tenant_lists, Limit::TenantLists),
            key: (settings.key_lists, Limit::KeyLists),
        };
        let waits = Bounds {
            at_once: usize::MAX,
            tenant_at_once: usize::MAX,
            key_at_once: usize::MAX,
            tenant: (settings.tenant_waits, Limit::TenantWaits),
            key: (settings.key_waits, Limit::KeyWaits),
        };
        let checks = Bounds {
            at_once: 4,
            tenant_at_once: 1,
            key_at_once: 1,
            tenant: (settings.tenant_checks, Limit::TenantChecks),
            key: (settings.key_checks, Limit::KeyChecks),
        };
        Self {
            lists: FairGate::new(lists),
            waits: FairGate::new(waits),
            checks: FairGate::new(checks),
            agent_checks: FairGate::new(Bounds { at_once: 2, ..checks }),
        }
    }
}

impl Engine {
    /// Reads a list for a caller when it is the caller's turn. The list is not read if the caller has gone before that.
    pub(crate) async fn list<T, F>(&self, caller: &Caller, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads, &Caller) -> Result<T, Error> + Send + 'static,
    {
        self.list_while(caller, move |reads, caller, _| work(reads, caller)).await
    }

    /// Like [`Self::list`], for lists that are read in several batches: the closure can ask whether the caller still waits.
    pub(crate) async fn list_while<T, F>(&self, caller: &Caller, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads, &Caller, &dyn Fn() -> bool) -> Result<T, Error> + Send + 'static,
    {
        let (pass, caller) = (self.gates.lists.enter(Entrant::of(caller)).await?, caller.clone());
        let work = move |reads: &mut dyn Reads, wanted: &dyn Fn() -> bool| {
            // The pass is held until the list has been read, even if the caller has gone.
            let _held = &pass;
            work(reads, &caller, wanted)
        };
        store::read_while(self.store.as_ref(), Cost::Scan, work).await
    }

    /// Like [`Self::list`], for a reader that follows a stream: it waits for its turn, and the number of its lists is not limited.
    pub(crate) async fn list_patiently<T, F>(&self, caller: &Caller, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads, &Caller) -> Result<T, Error> + Send + 'static,
    {
        let pass = self.gates.lists.enter_patiently(Entrant::of(caller)).await?;
        let work = move |reads: &mut dyn Reads, caller: &Caller| {
            let _held = &pass;
            work(reads, caller)
        };
        self.read_by(caller, Cost::Scan, work).await
    }
}

/// Waits until a caller may do expensive policy work (simulate, learn, explain).
pub(crate) async fn begin_heavy_work(engine: &Engine, caller: &Caller) -> Result<HeavyWork, Error> {
    let gate = match caller.role {
        Role::Agent => &engine.gates.agent_checks,
        Role::Admin | Role::Operator | Role::Viewer => &engine.gates.checks,
    };
    Ok(HeavyWork::new(gate.enter(Entrant::of(caller)).await?))
}

/// Like [`begin_heavy_work`], but for any entrant, and always at the gate for people.
pub(crate) async fn begin_heavy_work_of(engine: &Engine, entrant: Entrant) -> Result<HeavyWork, Error> {
    Ok(HeavyWork::new(engine.gates.checks.enter(entrant).await?))
}
