//! The worker: claims due steps, runs each until it ends or sleeps, and keeps nothing of a sleeping step in memory.
//!
//! Any number of workers may run, inside the server or as separate processes. A step belongs to a worker while its
//! lease is extended. When a worker dies, the lease expires and the next worker continues after the last journalled
//! input. Start reading at [`Worker::run`], then `step_run.rs`. The rules of the loop are in `machine`, not here.

mod act;
mod ask;
mod run;
mod settle;
mod step_run;
mod think;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::{AgentVersion, ProjectName, Refusal, StepId};
use engine::{Engine, Error, StepClaim};
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

/// Longest pause between two checks for due steps. It bounds the delay of a step whose wake-up was not announced.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Time that a tool has to end after its step was lost or the worker was stopped.
const GRACE: Duration = Duration::from_secs(5);
/// Number of histories kept in memory, for steps that wake up soon.
const HISTORIES: u64 = 256;

/// The tools of an agent, or the reason why they cannot be used.
pub type Tools<'a> = BoxFuture<'a, Result<Vec<Arc<dyn Tool>>, ToolError>>;

/// Source of models and tools; the program that starts the worker implements it.
pub trait Kit: Send + Sync {
    /// Opens the model of an agent. `key` is the value of the kept secret that the agent names, if it names one.
    fn model(&self, agent: &AgentVersion, key: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError>;
    /// Opens the tools of an agent that the worker runs for a project. Tools of one project are never handed to
    /// another.
    fn tools<'a>(&'a self, project: &'a ProjectName, agent: &'a AgentVersion) -> Tools<'a>;
}

/// Runs the agents that this server hosts.
#[derive(Clone)]
pub struct Worker {
    engine: Engine,
    kit: Arc<dyn Kit>,
    name: String,
    at_once: usize,
    histories: Cache<StepId, Arc<(u64, History)>>,
}

impl Worker {
    /// A worker with this name that runs at most `at_once` steps at the same time.
    #[must_use]
    pub fn new(engine: Engine, kit: Arc<dyn Kit>, name: String, at_once: usize) -> Self {
        Self { engine, kit, name, at_once, histories: Cache::new(HISTORIES) }
    }

    /// Runs steps until `stop` is cancelled, then releases the steps that it holds.
    pub async fn run(&self, stop: CancellationToken) {
        let mut bell = self.engine.bell().listen(Topic::Steps);
        let mut running = JoinSet::new();
        let mut claimed_steps: HashSet<StepId> = HashSet::new();
        loop {
            let wait = self.start_due(&mut running, &mut claimed_steps, &stop).await;
            tokio::select! {
                () = stop.cancelled() => break,
                () = bell.wait(), if running.len() < self.at_once => {}
                () = tokio::time::sleep(wait) => {}
                Some(done) = running.join_next() => forget_finished(done, &mut claimed_steps),
            }
            while let Some(done) = running.try_join_next() {
                forget_finished(done, &mut claimed_steps);
            }
        }
        let emptied = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE * 2, emptied).await.is_err() {
            tracing::warn!("steps were left running; another worker takes them over when their leases expire");
        }
    }

    /// Runs all steps that are due now until each ends or sleeps, and returns whether there was one. Callers that control the time themselves use
    /// it instead of [`Worker::run`].
    pub async fn run_due(&self, stop: &CancellationToken) -> Result<bool, Error> {
        let (due, _) = self.engine.steps_due(u32::try_from(self.at_once).unwrap_or(u32::MAX)).await?;
        let any = !due.is_empty();
        stream::iter(due).for_each_concurrent(None, |due| self.run_step(due, stop.clone())).await;
        Ok(any)
    }

    /// Starts the due steps and returns the time until the next check.
    async fn start_due(
        &self,
        running: &mut JoinSet<StepId>,
        claimed_steps: &mut HashSet<StepId>,
        stop: &CancellationToken,
    ) -> Duration {
        let free = self.at_once.saturating_sub(running.len());
        if free == 0 {
            return LONGEST_PAUSE;
        }
        // Steps that are being claimed are still listed as due.
        let limit = u32::try_from(free + claimed_steps.len()).unwrap_or(u32::MAX);
        match self.engine.steps_due(limit).await {
            Ok((due, next)) => {
                let fresh: Vec<DueStep> =
                    due.into_iter().filter(|due| !claimed_steps.contains(&due.step)).take(free).collect();
                for due in fresh {
                    claimed_steps.insert(due.step);
                    let (worker, stop) = (self.clone(), stop.clone());
                    running.spawn(async move {
                        worker.run_step(due, stop).await;
                        due.step
                    });
                }
                next.filter(|next| !next.is_zero()).map_or(LONGEST_PAUSE, |next| next.min(LONGEST_PAUSE))
            }
            Err(error) => {
                tracing::warn!(%error, "the worker could not look for due steps");
                LONGEST_PAUSE
            }
        }
    }

    /// Claims a step and runs it until it ends or sleeps.
    async fn run_step(&self, due: DueStep, stop: CancellationToken) {
        let claimed = match self.engine.step_claim(due, &self.name).await {
            Ok(Some(claimed)) => claimed,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, step = %due.step, "a step could not be claimed");
                // The step is still due. Without the pause the next check would fail in the same way at once.
                return tokio::time::sleep(LONGEST_PAUSE * 2).await;
            }
        };
        metrics::counter!("flow_steps_claimed_total").increment(1);
        let _running = RunningGauge::begin();
        let claim = claimed.claim.clone();
        let lost = CancellationToken::new();
        let run = async { step_run::StepRun::begin(self, claimed, lost.clone()).await?.run().await };
        tokio::pin!(run);
        let result = tokio::select! {
            // The fixed order lets a simulation replay.
            biased;
            result = &mut run => result,
            why = self.watch(&claim, &stop) => {
                // Running tools are told to end and have a moment to report their outcome.
                lost.cancel();
                let ended = tokio::time::timeout(GRACE, &mut run).await;
                if why == WatchEnd::Stopped && ended.is_err() {
                    self.release(&claim).await;
                }
                match ended {
                    Ok(result) => result,
                    Err(_) => return,
                }
            }
        };
        self.finish_run(&claim, result, lost.is_cancelled()).await;
    }

    async fn finish_run(&self, claim: &StepClaim, result: Result<(), StepError>, stopped: bool) {
        match result {
            Ok(()) => {}
            Err(StepError::Engine(Error::Refused(Refusal::StepLost))) => {}
            Err(StepError::Stopped) => self.release(claim).await,
            Err(_) if stopped => self.release(claim).await,
            Err(trouble) => {
                metrics::counter!("flow_steps_troubled_total").increment(1);
                tracing::warn!(%trouble, step = %claim.step, "a step could not continue");
                if let Err(error) = self.engine.step_report_trouble(claim, trouble.public_message()).await {
                    tracing::debug!(%error, step = %claim.step, "a step could not be released");
                }
            }
        }
    }

    async fn release(&self, claim: &StepClaim) {
        if let Err(error) = self.engine.step_release(claim).await {
            tracing::debug!(%error, step = %claim.step, "a step could not be released");
        }
    }

    /// Extends the lease. Returns when the lease is lost or the worker is stopped.
    async fn watch(&self, claim: &StepClaim, stop: &CancellationToken) -> WatchEnd {
        let lease = Duration::try_from(self.engine.settings().step_lease).unwrap_or(LONGEST_PAUSE);
        let mut bell = self.engine.bell().listen(Topic::Session(claim.session));
        let mut beat = tokio::time::interval(lease / 3);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        beat.tick().await;
        loop {
            let held = tokio::select! {
                biased;
                () = stop.cancelled() => return WatchEnd::Stopped,
                _ = beat.tick() => self.engine.step_extend_lease(claim).await,
                () = bell.wait() => {
                    tokio::time::sleep(LONGEST_PAUSE / 5).await;
                    self.engine.step_require_claim(claim).await
                }
            };
            if matches!(held, Err(Error::Refused(_))) {
                return WatchEnd::Lost;
            }
        }
    }
}

/// Counts a step in the metric of running steps while the value lives.
struct RunningGauge;

impl RunningGauge {
    fn begin() -> Self {
        metrics::gauge!("flow_steps_running").increment(1.0);
        Self
    }
}

impl Drop for RunningGauge {
    fn drop(&mut self) {
        metrics::gauge!("flow_steps_running").decrement(1.0);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchEnd {
    Lost,
    Stopped,
}

fn forget_finished(done: Result<StepId, tokio::task::JoinError>, claimed_steps: &mut HashSet<StepId>) {
    match done {
        Ok(step) => {
            claimed_steps.remove(&step);
        }
        Err(error) => {
            tracing::error!(%error, "the task of a step panicked");
            // The error does not name the step; steps that still run are protected by their leases.
            claimed_steps.clear();
        }
    }
}

/// Reason why a step could not continue for now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    #[error(transparent)]
    Engine(#[from] Error),
    #[error("{0}")]
    Tools(#[from] ToolError),
    #[error("the journal cannot be read: {0}")]
    Journal(#[from] serde_json::Error),
    #[error("the worker stops")]
    Stopped,
}

impl StepError {
    /// Message that people may read. A database error may contain an address and goes to the log only.
    fn public_message(&self) -> String {
        match self {
            Self::Engine(Error::Store(_)) => "the database failed; the log of the server has the reason".to_owned(),
            Self::Engine(_) | Self::Tools(_) | Self::Journal(_) | Self::Stopped => self.to_string(),
        }
    }
}

impl From<Refusal> for StepError {
    fn from(refusal: Refusal) -> Self {
        Self::Engine(refusal.into())
    }
}

#[cfg(test)]
mod tests {
    use store::StoreError;

    use super::*;

    #[test]
    fn database_address_is_not_in_the_public_message() {
        let trouble = StepError::from(Error::from(StoreError::Unavailable("no route to 10.0.0.5:5432".to_owned())));
        assert_eq!(trouble.public_message(), "the database failed; the log of the server has the reason");
        assert_eq!(StepError::from(ToolError("no tools".to_owned())).public_message(), "no tools");
    }
}
