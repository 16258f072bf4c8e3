//! Statistics of projects and of the installation.

use std::collections::BTreeMap;

use domain::{InteractionId, KindName, ProjectId, Resolution, Scope, TenantId, Timestamp};

use crate::{Bounded, StoreResult};

/// Number of open questions of a project and a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCount {
    /// Tenant of the project.
    pub tenant: TenantId,
    /// Project of the questions.
    pub project: ProjectId,
    /// Kind of the questions.
    pub kind: KindName,
    /// Number of open questions.
    pub count: u64,
}

/// Statistics of one project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Number of open questions by kind.
    pub open: BTreeMap<String, u64>,
    /// Time at which the oldest open question was asked.
    pub oldest_open_at: Option<Timestamp>,
    /// Number of questions closed within the window, by status.
    pub closed: BTreeMap<String, u64>,
    /// Median time between asking and answer, in microseconds.
    pub wait_p50: Option<i64>,
    /// 95th percentile of the time between asking and answer, in microseconds.
    pub wait_p95: Option<i64>,
    /// Number of deliveries that agents have not taken yet.
    pub deliveries_waiting: u64,
}

/// A closed question, with the columns that statistics use.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedInteraction {
    /// Identifier of the question.
    pub id: InteractionId,
    /// Kind of the question.
    pub kind: KindName,
    /// Time at which the question was asked.
    pub asked_at: Timestamp,
    /// Time at which the question was closed.
    pub resolved_at: Timestamp,
    /// Resolution of the question, with the actor who closed it.
    pub resolution: Resolution,
    /// Policy rule that asked; empty if the default asked, `None` if no policy did.
    pub rule: Option<String>,
}

/// Returns a percentile of a sorted list; `None` if the list is empty.
#[must_use]
pub fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last * percent).div_ceil(100)).copied()
}

/// Number of hosted steps by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// Steps that a worker runs under a valid lease.
    pub running: u64,
    /// Steps that are due and have no worker.
    pub due: u64,
    /// Steps that wait for their next attempt.
    pub resting: u64,
    /// Hosted sessions that wait for people.
    pub waiting: u64,
}

/// Reads of counts and times for the stats.
pub trait StatsReads {
    /// Returns the stats of a project, with the questions closed since a time.
    fn stats(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<Stats>;
    /// Lists the questions that a project closed since a time, in the order of closing, after the given one.
    fn closed_interactions(
        &mut self,
        scope: &Scope,
        since: Timestamp,
        after: Option<(Timestamp, InteractionId)>,
        limit: u32,
    ) -> StoreResult<Bounded<ClosedInteraction>>;
    /// Counts the open questions of a project that were asked at a time or later.
    fn open_since(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<u64>;
    /// Returns the number of waiting deliveries in all projects, and the time of the oldest.
    fn delivery_backlog(&mut self) -> StoreResult<(u64, Option<Timestamp>)>;
    /// Returns the number of hosted steps by state in all projects.
    fn step_counts(&mut self, now: Timestamp) -> StoreResult<StepCounts>;
    /// Returns the number of open questions of all projects.
    fn open_counts(&mut self) -> StoreResult<Vec<OpenCount>>;
}
