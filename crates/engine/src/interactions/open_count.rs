//! Counts what a command has opened and closed, at its end and in its transaction, and refuses what is over a budget.
//!
//! The counters of the askers are exact. They are changed last, in the order of the askers' names, so that their rows are locked for as short a
//! time as possible and never crosswise.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::{Interaction, InteractionId, Limit, ProjectId, Refusal, Scope};
use store::OpenTotal;

use crate::engine::Budget;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// How often counting anew is tried when a server starts, and the pause between two tries.
const RECOUNTS: u32 = 5;
const RECOUNT_PAUSE: Duration = Duration::from_secs(5);

/// The questions that a command has opened and closed, by project.
#[derive(Debug, Default)]
pub(crate) struct OpenChanges(BTreeMap<ProjectId, Changes>);

#[derive(Debug)]
struct Changes {
    scope: Scope,
    opened: Vec<InteractionId>,
    closed: Vec<InteractionId>,
    /// The askers who have to stay within their budget.
    held_to_budget: Vec<String>,
}

impl OpenChanges {
    /// A question was opened.
    pub(crate) fn opened(&mut self, interaction: &Interaction, within_budget: bool) {
        let changes = self.of(interaction.scope);
        changes.opened.push(interaction.id);
        if within_budget {
            changes.held_to_budget.push(interaction.origin.asked_by.asker());
        }
    }

    /// A question was closed.
    pub(crate) fn closed(&mut self, interaction: &Interaction) {
        self.of(interaction.scope).closed.push(interaction.id);
    }

    fn of(&mut self, scope: Scope) -> &mut Changes {
        let none = || Changes { scope, opened: Vec::new(), closed: Vec::new(), held_to_budget: Vec::new() };
        self.0.entry(scope.project).or_insert_with(none)
    }
}

/// Counts what was opened and closed, and refuses the command if whoever asked, or the tenant, now has more open than they may.
pub(crate) fn save_open_counts(work: &mut Work<'_>) -> Result<(), Error> {
    for changes in std::mem::take(&mut work.open).0.into_values() {
        let totals = work.tx.open_totals_update(&changes.scope, &changes.opened, &changes.closed)?;
        if changes.held_to_budget.is_empty() {
            continue;
        }
        let limits = (Limit::KeyOpenQuestions, Limit::KeyOpenBytes);
        for (_, total) in totals.askers.iter().filter(|(asker, _)| changes.held_to_budget.contains(asker)) {
            within(*total, work.settings.key_open, limits)?;
        }
        let limits = (Limit::TenantOpenQuestions, Limit::TenantOpenBytes);
        within(totals.tenant, work.settings.tenant_open, limits)?;
    }
    Ok(())
}

impl Engine {
    /// Counts what is open anew, when a server starts. Where that fails, for instance because others hold the totals locked, it is tried
    /// a few times more and then left to the next start: the totals may be wrong until then, and everything else works.
    pub async fn run_recount(&self) {
        for left in (0..RECOUNTS).rev() {
            match self.recount_open().await {
                Ok(()) => return,
                Err(error) => tracing::warn!(%error, tries_left = left, "openQuestionsNotRecounted"),
            }
            if left > 0 {
                tokio::time::sleep(RECOUNT_PAUSE).await;
            }
        }
    }

    /// Counts what is open anew, once.
    pub async fn recount_open(&self) -> Result<(), Error> {
        self.transact(|work| Ok(work.tx.open_totals_recount()?)).await
    }
}

fn within(total: OpenTotal, budget: Budget, (questions, bytes): (Limit, Limit)) -> Result<(), Refusal> {
    if total.questions > budget.questions {
        return Err(Refusal::LimitReached { limit: questions, max: budget.questions });
    }
    if total.bytes > budget.bytes {
        return Err(Refusal::LimitReached { limit: bytes, max: budget.bytes });
    }
    Ok(())
}
