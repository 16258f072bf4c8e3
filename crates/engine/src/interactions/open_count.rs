//! Counts open questions and their bytes, and refuses commands that exceed a budget.
//!
//! The counters of the askers are exact. A command updates them at the end of its transaction, in the order of the askers' names, so that their rows
//! are locked as briefly as possible and never crosswise.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::{Interaction, InteractionId, Limit, ProjectId, Refusal, Scope};
use store::OpenTotal;

use crate::engine::Budget;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// Number of attempts to recount the open questions when a server starts.
const RECOUNTS: u32 = 5;
/// Pause between two attempts.
const RECOUNT_PAUSE: Duration = Duration::from_secs(5);

/// Questions that a command has opened and closed, by project.
#[derive(Debug, Default)]
pub(crate) struct OpenChanges(BTreeMap<ProjectId, Changes>);

#[derive(Debug)]
struct Changes {
    scope: Scope,
    opened: Vec<InteractionId>,
    closed: Vec<InteractionId>,
    /// Askers whose budget is enforced in this command.
    held_to_budget: Vec<String>,
}

impl OpenChanges {
    /// Notes that a question was opened. `within_budget` enforces the budgets of its asker and tenant.
    pub(crate) fn opened(&mut self, interaction: &Interaction, within_budget: bool) {
        let changes = self.of(interaction.scope);
        changes.opened.push(interaction.id);
        if within_budget {
            changes.held_to_budget.push(interaction.origin.asked_by.asker());
        }
    }

    /// Notes that a question was closed.
    pub(crate) fn closed(&mut self, interaction: &Interaction) {
        self.of(interaction.scope).closed.push(interaction.id);
    }

    fn of(&mut self, scope: Scope) -> &mut Changes {
        let none = || Changes { scope, opened: Vec::new(), closed: Vec::new(), held_to_budget: Vec::new() };
        self.0.entry(scope.project).or_insert_with(none)
    }
}

/// Updates the counters, and refuses the command if an asker or the tenant is now over the budget.
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
    /// Recounts the open questions when a server starts. A failed attempt, for example because another node has locked the totals, is repeated a few
    /// times and then left to the next start. Until then the budgets may be enforced wrongly; the rest of the server
    /// works.
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

    /// Recounts the open questions once.
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
