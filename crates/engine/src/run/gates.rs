//! The gates of a node: lists, long polls and heavy checks are let in by turns, and counted by key and tenant.

use domain::{Caller, Limit, Role};
use store::{Cost, Reads};

use crate::run::fair_gate::{Bounds, Entrant, FairGate};
use crate::run::heavy_work::HeavyWork;
use crate::{Engine, Error, Settings};

/// All of them.
pub(crate) struct Gates {
    /// Lists and figures, which read many rows.
    pub(crate) lists: FairGate,
    /// Long polls. Nobody waits to wait: whoever has too many is refused.
    pub(crate) waits: FairGate,
    /// Policy checks, explanations of drafts, simulations and suggestions for people.
    checks: FairGate,
    /// The same for agents, so that no agent makes a person wait.
    agent_checks: FairGate,
}

impl Gates {
    /// The gates of a node whose store is, or is not, shared with other nodes. SQLite reads two lists at once; a PostgreSQL has more to give.
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
    /// Waits until it is a caller's turn to have much read and judged, which costs more than a ruling.
    pub(crate) async fn turn(&self, caller: &Caller) -> Result<HeavyWork, Error> {
        let gate = match caller.role {
            Role::Agent => &self.gates.agent_checks,
            Role::Admin | Role::Operator | Role::Viewer => &self.gates.checks,
        };
        Ok(HeavyWork::new(gate.enter(Entrant::of(caller)).await?))
    }

    /// The same for whoever holds the database itself.
    pub(crate) async fn turn_of(&self, entrant: Entrant) -> Result<HeavyWork, Error> {
        Ok(HeavyWork::new(self.gates.checks.enter(entrant).await?))
    }

    /// Reads a list for a caller when it is their turn. A list whose caller has gone before that is not read.
    pub(crate) async fn list<T, F>(&self, caller: &Caller, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads) -> Result<T, Error> + Send + 'static,
    {
        self.list_while(caller, move |reads, _| work(reads)).await
    }

    /// The same for what takes several portions: it is told whether its caller is still there.
    pub(crate) async fn list_while<T, F>(&self, caller: &Caller, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads, &dyn Fn() -> bool) -> Result<T, Error> + Send + 'static,
    {
        let pass = self.gates.lists.enter(Entrant::of(caller)).await?;
        let work = move |reads: &mut dyn Reads, wanted: &dyn Fn() -> bool| {
            // It has its place until it has been read, also where nobody waits for it any more.
            let _held = &pass;
            work(reads, wanted)
        };
        store::read_while(self.store.as_ref(), Cost::Scan, work).await
    }

    /// The same for somebody who follows something: they wait for their turn as everybody does, and are never refused.
    pub(crate) async fn list_patiently<T, F>(&self, entrant: Entrant, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads) -> Result<T, Error> + Send + 'static,
    {
        let pass = self.gates.lists.enter_patiently(entrant).await?;
        let work = move |reads: &mut dyn Reads| {
            let _held = &pass;
            work(reads)
        };
        self.read(Cost::Scan, work).await
    }
}
