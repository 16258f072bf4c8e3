//! Counts the questions of a project, and the questions, answers and steps of the whole installation.

use domain::access::Right;
use domain::{Caller, SignedDuration};
use store::{Cost, OpenCount, Stats, StepCounts};

use crate::access::sight::Sight;
use crate::{Engine, Error};

impl Engine {
    /// Counts the open questions of a project, and the questions that were closed within a window.
    pub async fn stats_get(&self, caller: &Caller, window: SignedDuration) -> Result<Stats, Error> {
        caller.require(Right::Read)?;
        self.list(caller, move |reads, caller| {
            Sight::require_whole_project(reads, caller)?;
            let now = reads.now()?;
            Ok(reads.stats(&caller.scope, now.saturating_sub(window).unwrap_or(now))?)
        })
        .await
    }

    /// Number of answers that wait for their agents in all projects, and the waiting time of the oldest.
    pub async fn backlog(&self) -> Result<(u64, SignedDuration), Error> {
        self.read(Cost::Scan, |reads| {
            let now = reads.now()?;
            let (waiting, since) = reads.delivery_backlog()?;
            Ok((waiting, since.map_or(SignedDuration::ZERO, |since| now.duration_since(since))))
        })
        .await
    }

    /// Counts the steps of hosted agents in all projects: running, due, waiting for their next attempt, and waiting for people.
    pub async fn step_counts(&self) -> Result<StepCounts, Error> {
        self.read(Cost::Scan, |reads| {
            let now = reads.now()?;
            Ok(reads.step_counts(now)?)
        })
        .await
    }

    /// Counts the open questions of all projects.
    pub async fn open_counts(&self) -> Result<Vec<OpenCount>, Error> {
        self.read(Cost::Scan, |reads| Ok(reads.open_counts()?)).await
    }
}
