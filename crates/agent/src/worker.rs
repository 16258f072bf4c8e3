//! The worker: claims steps that are due, drives each until it ends or sleeps, and keeps nothing of one that sleeps.
//!
//! Any number of workers may run, in the server or beside it. A step is a worker's for as long as its lease is kept; one that dies loses it, and
//! the next goes on from the last input that was journalled.

mod act;
mod ask;
mod drive;
mod run;
mod settle;
mod think;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::{AgentVersion, ProjectName, Refusal, StepId};
use engine::{ClaimedStep, Engine, Error, StepClaim};
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use moka::sync::Cache;
use store::{DueStep, Topic};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::history::History;
use crate::model::{Model, ModelError};
use crate::tool::{Tool, ToolError};

/// The longest sleep: so soon a step is found of which no bell told.
const LONGEST: Duration = Duration::from_millis(500);
/// How long a tool has to come to its end once its step is lost or the worker stops.
const GRACE: Duration = Duration::from_secs(5);
/// How many histories are kept at hand, for steps that wake up soon.
const HISTORIES: u64 = 256;

/// The tools that a kit finds, or why there are none.
pub type Tools<'a> = BoxFuture<'a, Result<Vec<Arc<dyn Tool>>, ToolError>>;

/// What a worker needs and somebody else chooses: who speaks to models, and which tools there are.
pub trait Kit: Send + Sync {
    /// The model of an agent; `key` is the kept secret that the agent names, where it names one.
    fn model(&self, agent: &AgentVersion, key: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError>;
    /// The tools of an agent that the worker runs for a project. What belongs to one project is never handed to another.
    fn tools<'a>(&'a self, project: &'a ProjectName, agent: &'a AgentVersion) -> Tools<'a>;
}

/// Runs the agents that this server runs itself.
#[derive(Clone)]
pub struct Worker {
    engine: Engine,
    kit: Arc<dyn Kit>,
    name: String,
    at_once: usize,
    histories: Cache<StepId, Arc<(u64, History)>>,
}

impl Worker {
    /// A worker of this name that drives so many steps at once.
    #[must_use]
    pub fn new(engine: Engine, kit: Arc<dyn Kit>, name: String, at_once: usize) -> Self {
        Self { engine, kit, name, at_once, histories: Cache::new(HISTORIES) }
    }

    /// Runs until it is told to stop; then lets go of what it has.
    pub async fn run(&self, stop: CancellationToken) {
        let mut bell = self.engine.bell().listen(Topic::Steps);
        let mut driving = JoinSet::new();
        let mut taken: HashSet<StepId> = HashSet::new();
        loop {
            let wait = self.take_up(&mut driving, &mut taken, &stop).await;
            tokio::select! {
                () = stop.cancelled() => break,
                () = bell.heard(), if driving.len() < self.at_once => {}
                () = tokio::time::sleep(wait) => {}
                Some(done) = driving.join_next() => ended(done, &mut taken),
            }
            while let Some(done) = driving.try_join_next() {
                ended(done, &mut taken);
            }
        }
        let emptied = async { while driving.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE * 2, emptied).await.is_err() {
            tracing::warn!("steps were left behind; another worker takes them up when their leases have run out");
        }
    }

    /// Drives everything that is due now until it ends or sleeps, and says whether there was anything: for whoever keeps time without
    /// [`Worker::run`].
    pub async fn drive_due(&self, stop: &CancellationToken) -> Result<bool, Error> {
        let (due, _) = self.engine.steps_due(u32::try_from(self.at_once).unwrap_or(u32::MAX)).await?;
        let any = !due.is_empty();
        stream::iter(due).for_each_concurrent(None, |due| self.drive(due, stop.clone())).await;
        Ok(any)
    }

    /// Takes up what is due, and says how long there is nothing more.
    async fn take_up(
        &self,
        driving: &mut JoinSet<StepId>,
        taken: &mut HashSet<StepId>,
        stop: &CancellationToken,
    ) -> Duration {
        let free = self.at_once.saturating_sub(driving.len());
        if free == 0 {
            return LONGEST;
        }
        // Those that are being claimed are still found as due.
        let limit = u32::try_from(free + taken.len()).unwrap_or(u32::MAX);
        match self.engine.steps_due(limit).await {
            Ok((due, next)) => {
                let fresh: Vec<DueStep> = due.into_iter().filter(|due| !taken.contains(&due.step)).take(free).collect();
                for due in fresh {
                    taken.insert(due.step);
                    let (worker, stop) = (self.clone(), stop.clone());
                    driving.spawn(async move {
                        worker.drive(due, stop).await;
                        due.step
                    });
                }
                next.filter(|next| !next.is_zero()).map_or(LONGEST, |next| next.min(LONGEST))
            }
            Err(error) => {
                tracing::warn!(%error, "the worker could not look for what is due");
                LONGEST
            }
        }
    }

    /// Claims a step and drives it for as long as there is something to do.
    async fn drive(&self, due: DueStep, stop: CancellationToken) {
        let claimed = match self.engine.step_claim(due, &self.name).await {
            Ok(Some(claimed)) => claimed,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, step = %due.step, "a step could not be claimed");
                // It is due still: whoever looks again at once would do nothing else.
                return tokio::time::sleep(LONGEST * 2).await;
            }
        };
        metrics::counter!("flow_steps_claimed_total").increment(1);
        let _running = Running::begin();
        let claim = claimed.claim.clone();
        let lost = CancellationToken::new();
        let driven = self.driven(claimed, lost.clone());
        tokio::pin!(driven);
        let result = tokio::select! {
            // In this order, so that a simulation can be replayed.
            biased;
            result = &mut driven => result,
            why = self.watch(&claim, &stop) => {
                // Whatever was begun is told to end, and has a moment to say what became of it.
                lost.cancel();
                let ended = tokio::time::timeout(GRACE, &mut driven).await;
                if why == Why::Stopped && ended.is_err() {
                    self.let_go(&claim).await;
                }
                match ended {
                    Ok(result) => result,
                    Err(_) => return,
                }
            }
        };
        self.over(&claim, result, lost.is_cancelled()).await;
    }

    async fn over(&self, claim: &StepClaim, result: Result<(), Trouble>, stopped: bool) {
        match result {
            Ok(()) => {}
            Err(Trouble::Engine(Error::Refused(Refusal::StepLost))) => {}
            Err(Trouble::Stopped) => self.let_go(claim).await,
            Err(_) if stopped => self.let_go(claim).await,
            Err(trouble) => {
                metrics::counter!("flow_steps_troubled_total").increment(1);
                tracing::warn!(%trouble, step = %claim.step, "a step could not go on");
                if let Err(error) = self.engine.step_troubled(claim, trouble.told()).await {
                    tracing::debug!(%error, step = %claim.step, "a step could not be let go of");
                }
            }
        }
    }

    async fn let_go(&self, claim: &StepClaim) {
        if let Err(error) = self.engine.step_let_go(claim).await {
            tracing::debug!(%error, step = %claim.step, "a step could not be let go of");
        }
    }

    /// Keeps the lease, and returns when it is lost or the worker is to stop.
    async fn watch(&self, claim: &StepClaim, stop: &CancellationToken) -> Why {
        let lease = Duration::try_from(self.engine.settings().step_lease).unwrap_or(LONGEST);
        let mut bell = self.engine.bell().listen(Topic::Session(claim.session));
        let mut beat = tokio::time::interval(lease / 3);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        beat.tick().await;
        loop {
            let held = tokio::select! {
                biased;
                () = stop.cancelled() => return Why::Stopped,
                _ = beat.tick() => self.engine.step_keep(claim).await,
                () = bell.heard() => {
                    tokio::time::sleep(LONGEST / 5).await;
                    self.engine.step_held(claim).await
                }
            };
            if matches!(held, Err(Error::Refused(_))) {
                return Why::Lost;
            }
        }
    }

    async fn driven(&self, claimed: ClaimedStep, lost: CancellationToken) -> Result<(), Trouble> {
        drive::Driven::begin(self, claimed, lost).await?.run().await
    }
}

/// Counts a step as driven here for as long as it lives.
struct Running;

impl Running {
    fn begin() -> Self {
        metrics::gauge!("flow_steps_running").increment(1.0);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        metrics::gauge!("flow_steps_running").decrement(1.0);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Lost,
    Stopped,
}

fn ended(done: Result<StepId, tokio::task::JoinError>, taken: &mut HashSet<StepId>) {
    match done {
        Ok(step) => {
            taken.remove(&step);
        }
        Err(error) => {
            tracing::error!(%error, "a step ended its worker");
            // Which one is not told; those that are still driven have leases of their own.
            taken.clear();
        }
    }
}

/// Why a step could not go on for now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Engine(#[from] Error),
    #[error("{0}")]
    Tools(#[from] ToolError),
    #[error("what was journalled cannot be read: {0}")]
    Journal(#[from] serde_json::Error),
    #[error("the worker stops")]
    Stopped,
}

impl Trouble {
    /// What people are told of it. What a database says of itself may name where it is, and is for the log alone.
    fn told(&self) -> String {
        match self {
            Self::Engine(Error::Store(_)) => {
                "the database could not do its work; the operator finds the reason in the log".to_owned()
            }
            _ => self.to_string(),
        }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Engine(refusal.into())
    }
}

#[cfg(test)]
mod tests {
    use store::StoreError;

    use super::*;

    #[test]
    fn where_the_database_is_is_not_told() {
        let trouble = Trouble::from(Error::from(StoreError::Unavailable("no route to 10.0.0.5:5432".to_owned())));
        assert_eq!(trouble.told(), "the database could not do its work; the operator finds the reason in the log");
        assert_eq!(Trouble::from(ToolError("no tools".to_owned())).told(), "no tools");
    }
}
