//! Limits how many expensive operations run at once, and shares the slots fairly between tenants and their keys.
//!
//! A free slot goes to the next tenant in turn, and within the tenant to the next key or person in turn. A caller that already has too many
//! operations running or waiting is refused with the name of the limit.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use domain::{Caller, Limit, ProjectId, Refusal, Scope, TenantId};
use parking_lot::Mutex;
use store::StoreError;
use tokio::sync::oneshot;

use crate::Error;

/// Longest time that a caller waits for a slot.
const PATIENCE: Duration = Duration::from_secs(30);

/// Limits of one gate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Number of operations that run at once on this node.
    pub(crate) at_once: usize,
    /// Number of operations of one tenant that run at once.
    pub(crate) tenant_at_once: usize,
    /// Number of operations of one key or person that run at once.
    pub(crate) key_at_once: usize,
    /// Number of operations of one tenant that run or wait, and the limit that a refusal names.
    pub(crate) tenant: (usize, Limit),
    /// Number of operations of one key or person that run or wait, and the limit that a refusal names.
    pub(crate) key: (usize, Limit),
}

/// Gate that admits callers in turn. Cheap to clone.
#[derive(Clone)]
pub(crate) struct FairGate {
    bounds: Bounds,
    state: Arc<Mutex<GateState>>,
}

/// Caller at the gate.
#[derive(Debug, Clone)]
pub(crate) struct Entrant {
    scope: Scope,
    /// Name under which the operations of a key or person are counted.
    name: String,
}

impl Entrant {
    /// Entrant for a caller.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { scope: caller.scope, name: caller.actor.asker() }
    }

    /// Entrant for the system itself in a project, such as the command line with direct access to the database.
    pub(crate) fn system(scope: Scope) -> Self {
        Self { scope, name: domain::Actor::system().asker() }
    }
}

/// Key or person in a project.
type QueueKey = (ProjectId, String);

/// Slot behind the gate or in its queue. Dropping it frees the slot for the next entrant.
pub(crate) struct Pass {
    gate: FairGate,
    tenant: TenantId,
    key: QueueKey,
    number: u64,
}

#[derive(Default)]
struct GateState {
    running: usize,
    tenants: HashMap<TenantId, OfTenant>,
    /// Tenants that have waiting entrants; the first one is admitted next.
    queue: VecDeque<TenantId>,
    /// Number of the newest pass.
    number: u64,
}

#[derive(Default)]
struct OfTenant {
    running: usize,
    under_way: usize,
    keys: HashMap<QueueKey, OfKey>,
    /// Keys that have waiting entrants; the first one is admitted next.
    queue: VecDeque<QueueKey>,
}

#[derive(Default)]
struct OfKey {
    running: usize,
    under_way: usize,
    waiting: VecDeque<(u64, oneshot::Sender<()>)>,
}

impl FairGate {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, state: Arc::default() }
    }

    /// Waits for a slot. Refuses a caller that has too many operations running or waiting.
    pub(crate) async fn enter(&self, entrant: Entrant) -> Result<Pass, Error> {
        self.waited_for(self.join(entrant, true)?).await
    }

    /// Waits for a slot, without a limit on the number of running and waiting operations.
    pub(crate) async fn enter_patiently(&self, entrant: Entrant) -> Result<Pass, Error> {
        self.waited_for(self.join(entrant, false)?).await
    }

    async fn waited_for(&self, (pass, permit): (Pass, Option<oneshot::Receiver<()>>)) -> Result<Pass, Error> {
        if let Some(permit) = permit {
            // The gate keeps the sender until it admits the caller, so a closed channel does not happen in normal operation.
            match tokio::time::timeout(PATIENCE, permit).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Err(StoreError::Busy.into()),
            }
        }
        Ok(pass)
    }

    /// Takes a free slot, or a position in the queue.
    fn join(&self, entrant: Entrant, bounded: bool) -> Result<(Pass, Option<oneshot::Receiver<()>>), Refusal> {
        let (tenant, key) = (entrant.scope.tenant, (entrant.scope.project, entrant.name));
        let mut state = self.state.lock();
        state.number += 1;
        let number = state.number;
        let running = state.running;
        let refused = |(most, limit): (usize, Limit)| Refusal::LimitReached { limit, max: most as u64 };
        let of_tenant = state.tenants.entry(tenant).or_default();
        let tenant_under_way = of_tenant.under_way;
        let tenant_running = of_tenant.running;
        let of_key = of_tenant.keys.entry(key.clone()).or_default();
        let over_key = of_key.under_way >= self.bounds.key.0;
        if bounded && (over_key || tenant_under_way >= self.bounds.tenant.0) {
            state.forget(tenant, &key);
            return Err(refused(if over_key { self.bounds.key } else { self.bounds.tenant }));
        }
        of_key.under_way += 1;
        let free = running < self.bounds.at_once
            && tenant_running < self.bounds.tenant_at_once
            && of_key.running < self.bounds.key_at_once;
        let permit = if free {
            of_key.running += 1;
            None
        } else {
            let (sender, receiver) = oneshot::channel();
            of_key.waiting.push_back((number, sender));
            Some(receiver)
        };
        let first_of_key = of_key.waiting.len() == 1 && !free;
        of_tenant.under_way += 1;
        if free {
            of_tenant.running += 1;
            state.running += 1;
        } else if first_of_key {
            of_tenant.queue.push_back(key.clone());
            if of_tenant.queue.len() == 1 {
                state.queue.push_back(tenant);
            }
        }
        drop(state);
        Ok((Pass { gate: self.clone(), tenant, key, number }, permit))
    }
}

impl GateState {
    /// Gives free slots to the waiting entrants in turn.
    fn admit(&mut self, bounds: &Bounds) {
        let mut passed_over = 0;
        while self.running < bounds.at_once && passed_over < self.queue.len() {
            let Some(tenant) = self.queue.pop_front() else { return };
            let Some(of_tenant) = self.tenants.get_mut(&tenant) else { continue };
            if of_tenant.admit(bounds) {
                self.running += 1;
                passed_over = 0;
            } else {
                passed_over += 1;
            }
            if !of_tenant.queue.is_empty() {
                self.queue.push_back(tenant);
            }
        }
    }

    /// Removes a pass, which either holds a slot or still waits.
    fn leave(&mut self, pass: &Pass) {
        let Some(of_tenant) = self.tenants.get_mut(&pass.tenant) else { return };
        let Some(of_key) = of_tenant.keys.get_mut(&pass.key) else { return };
        of_key.under_way -= 1;
        of_tenant.under_way -= 1;
        let waited = of_key.waiting.len();
        of_key.waiting.retain(|(number, _)| *number != pass.number);
        if of_key.waiting.len() == waited {
            of_key.running -= 1;
            of_tenant.running -= 1;
            self.running -= 1;
        } else if of_key.waiting.is_empty() {
            of_tenant.queue.retain(|key| *key != pass.key);
            if of_tenant.queue.is_empty() {
                self.queue.retain(|tenant| *tenant != pass.tenant);
            }
        }
        self.forget(pass.tenant, &pass.key);
    }

    /// Removes a key and its tenant if they have no operation running or waiting.
    fn forget(&mut self, tenant: TenantId, key: &QueueKey) {
        let Some(of_tenant) = self.tenants.get_mut(&tenant) else { return };
        if of_tenant.keys.get(key).is_some_and(|of_key| of_key.under_way == 0) {
            of_tenant.keys.remove(key);
        }
        if of_tenant.under_way == 0 {
            self.tenants.remove(&tenant);
        }
    }
}

impl OfTenant {
    /// Gives a slot to the next key in turn. Returns `false` if the tenant, or each waiting key, already has as many slots as it may.
    fn admit(&mut self, bounds: &Bounds) -> bool {
        if self.running >= bounds.tenant_at_once {
            return false;
        }
        for _ in 0..self.queue.len() {
            let Some(key) = self.queue.pop_front() else { return false };
            let Some(of_key) = self.keys.get_mut(&key) else { continue };
            let next = if of_key.running < bounds.key_at_once { of_key.waiting.pop_front() } else { None };
            if !of_key.waiting.is_empty() {
                self.queue.push_back(key);
            }
            if let Some((_, waiter)) = next {
                of_key.running += 1;
                self.running += 1;
                // If the receiver is gone, the slot is freed when the pass of that entrant is dropped.
                let _ = waiter.send(());
                return true;
            }
        }
        false
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let bounds = self.gate.bounds;
        let state = Arc::clone(&self.gate.state);
        let mut state = state.lock();
        state.leave(self);
        state.admit(&bounds);
    }
}

#[cfg(test)]
mod tests;
