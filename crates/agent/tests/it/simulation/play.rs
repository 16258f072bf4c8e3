//! Shared state of the models and tools: random numbers, runs and violations.

use std::sync::Arc;

use domain::Scope;
use parking_lot::Mutex;
use serde_json::Value;
use store::Store;
use testkit::Random;

use crate::simulation::broken::Defect;
use crate::simulation::stored_state::{StoredState, look};

/// One run of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordedRun {
    pub tool: String,
    pub arguments: Value,
}

/// State that the models and tools share.
pub(crate) struct Play {
    pub scope: Scope,
    pub stage: Mutex<PlayState>,
}

/// Mutable part of [`Play`].
pub(crate) struct PlayState {
    pub random: Random,
    /// Store of the living process; simulated work passes time by queries to it.
    pub process: Arc<dyn Store>,
    /// Store behind the process, for reading the true state.
    pub behind: Arc<dyn Store>,
    /// Whether the simulation is ending: models finish and tools return.
    pub quiet: bool,
    /// Whether leases may expire under living workers.
    pub drifts: bool,
    pub ran: Vec<RecordedRun>,
    /// Calls that run, or that ran when their worker died.
    pub begun: Vec<RecordedRun>,
    pub defect: Option<Defect>,
    pub asked: usize,
    pub drawn: u64,
    /// First violation that was noticed.
    pub wrong: Option<String>,
}

impl Play {
    /// Reads the true state.
    pub(crate) fn look(&self) -> StoredState {
        let behind = Arc::clone(&self.stage.lock().behind);
        look(&*behind, self.scope)
    }

    /// Records the first violation.
    pub(crate) fn noticed(&self, verdict: Result<(), String>) {
        if let Err(wrong) = verdict {
            self.stage.lock().wrong.get_or_insert(wrong);
        }
    }

    /// Next number; no number is used twice.
    pub(crate) fn number(&self) -> u64 {
        let mut stage = self.stage.lock();
        stage.drawn += 1;
        stage.drawn
    }

    /// Passes time for a model or a tool: other tasks run meanwhile, and the process may die.
    pub(crate) async fn takes_time(&self, most: usize) {
        let (times, process) = {
            let mut stage = self.stage.lock();
            (stage.random.below(most + 1), Arc::clone(&stage.process))
        };
        for _ in 0..times {
            let passed = store::read::<_, store::StoreError, _>(&*process, store::Cost::Point, |_| Ok(()));
            if passed.await.is_err() {
                // The process is dead.
                std::future::pending::<()>().await;
            }
        }
    }
}

/// Counts of the events in one or more seeds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Totals {
    pub deaths: usize,
    pub lone_deaths: usize,
    pub sessions: usize,
    pub steps: usize,
    pub turns: usize,
    pub asked: usize,
    pub runs: usize,
    pub again: usize,
    pub edited: usize,
    pub granted: usize,
    pub rejected: usize,
    pub unknown: usize,
    pub questions: usize,
    pub completed: usize,
}

impl Totals {
    /// Adds the counts of another seed.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self { deaths, lone_deaths, sessions, steps, turns, asked, runs, .. } = other;
        self.deaths += deaths;
        self.lone_deaths += lone_deaths;
        self.sessions += sessions;
        self.steps += steps;
        self.turns += turns;
        self.asked += asked;
        self.runs += runs;
        self.again += other.again;
        self.edited += other.edited;
        self.granted += other.granted;
        self.rejected += other.rejected;
        self.unknown += other.unknown;
        self.questions += other.questions;
        self.completed += other.completed;
    }

    /// Checks that enough happened in this number of seeds.
    pub(crate) fn require_enough(&self, seeds: u64) -> Result<(), String> {
        let seeds = seeds as usize;
        let often = self.deaths > seeds && self.lone_deaths > seeds / 10 && self.turns > 2 * seeds && self.runs > seeds;
        let seldom = [self.again, self.edited, self.granted, self.rejected, self.unknown, self.completed];
        if often && self.questions > 2 * seeds && seldom.iter().all(|many| *many > seeds / 50) {
            Ok(())
        } else {
            Err(format!("too few events to be meaningful: {self:?}"))
        }
    }
}
