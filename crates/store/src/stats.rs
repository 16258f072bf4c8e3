//! Figures.

use std::collections::BTreeMap;

use domain::{InteractionId, ProjectId, Resolution, Scope, TenantId, Timestamp};

use crate::{Bounded, StoreResult};

/// How many questions of a project are open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCount {
    /// Whose.
    pub tenant: TenantId,
    /// Where.
    pub project: ProjectId,
    /// Of which kind, as the wire names it.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// Figures of one project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Open questions by kind.
    pub open: BTreeMap<String, u64>,
    /// When the oldest open one was asked.
    pub oldest_open_at: Option<Timestamp>,
    /// Closed within the window, by status.
    pub closed: BTreeMap<String, u64>,
    /// How long those that were answered had waited: median and 95th percentile, in microseconds.
    pub wait_p50: Option<i64>,
    /// The 95th percentile of the same.
    pub wait_p95: Option<i64>,
    /// Answers that their agents have not taken yet.
    pub deliveries_waiting: u64,
}

/// A closed question, as figures count it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedInteraction {
    /// Its id.
    pub id: InteractionId,
    /// Of which kind, as the wire names it.
    pub kind: String,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it was closed.
    pub resolved_at: Timestamp,
    /// How, and on whose word.
    pub resolution: Resolution,
    /// The rule that asked, where policy did; empty where no rule matched and the default asked.
    pub rule: Option<String>,
}

/// The value below which so many per cent of a sorted list lie.
#[must_use]
pub fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last * percent).div_ceil(100)).copied()
}

/// How many steps that our own workers run are where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// In the hands of a worker whose lease is in force.
    pub running: u64,
    /// To be looked at by now, and in nobody's hands.
    pub due: u64,
    /// Resting until they are tried again.
    pub resting: u64,
    /// Asleep, in sessions that wait for people.
    pub waiting: u64,
}

/// What can be read of them.
pub trait StatsReads {
    /// Figures of one project, with what was closed since a moment.
    fn stats(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<Stats>;
    /// What a project closed since a moment, in the order in which it was closed, from after the given one on.
    fn closed_interactions(
        &mut self,
        scope: &Scope,
        since: Timestamp,
        after: Option<(Timestamp, InteractionId)>,
        limit: u32,
    ) -> StoreResult<Bounded<ClosedInteraction>>;
    /// How many of a project's open questions were asked at a moment or later.
    fn open_since(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<u64>;
    /// How many answers wait for their agents, everywhere, and since when the oldest has.
    fn delivery_backlog(&mut self) -> StoreResult<(u64, Option<Timestamp>)>;
    /// How many steps our workers have, should look at by now, and wait for people with, everywhere.
    fn step_counts(&mut self, now: Timestamp) -> StoreResult<StepCounts>;
    /// How many questions are open, everywhere.
    fn open_counts(&mut self) -> StoreResult<Vec<OpenCount>>;
}
