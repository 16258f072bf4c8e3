//! Figures of a project.

mod details;

use domain::access::Right;
use domain::{Caller, SignedDuration};
use store::{Cost, OpenCount, Stats, StepCounts};

use crate::access::sight::Sight;
use crate::{Engine, Error};

pub use details::{StatsDetails, Tally};

impl Engine {
    /// What is open now, and what was closed within a window.
    pub async fn stats(&self, caller: &Caller, window: SignedDuration) -> Result<Stats, Error> {
        caller.require(Right::Read)?;
        let reader = caller.clone();
        self.list(caller, move |reads| {
            Sight::whole(reads, &reader)?;
            let now = reads.now()?;
            Ok(reads.stats(&reader.scope, now.saturating_sub(window).unwrap_or(now))?)
        })
        .await
    }

    /// How many answers wait for their agents, everywhere, and for how long the oldest has.
    pub async fn backlog(&self) -> Result<(u64, SignedDuration), Error> {
        self.read(Cost::Scan, |reads| {
            let now = reads.now()?;
            let (waiting, since) = reads.delivery_backlog()?;
            Ok((waiting, since.map_or(SignedDuration::ZERO, |since| now.duration_since(since))))
        })
        .await
    }

    /// How many steps our workers have, should look at, and wait for people with, everywhere.
    pub async fn step_counts(&self) -> Result<StepCounts, Error> {
        self.read(Cost::Scan, |reads| {
            let now = reads.now()?;
            Ok(reads.step_counts(now)?)
        })
        .await
    }

    /// How many questions are open, everywhere: for the metrics of the whole installation.
    pub async fn open_counts(&self) -> Result<Vec<OpenCount>, Error> {
        self.read(Cost::Scan, |reads| Ok(reads.open_counts()?)).await
    }
}
