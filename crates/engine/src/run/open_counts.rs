//! Counts the open questions of askers and tenants.
//!
//! The counters are exact. A command notes in its `Work` which questions it opens and closes; its transaction updates the counters once, at its end,
//! in the order of the askers' names, so that their rows are locked as briefly as possible and always in one order.

use std::collections::BTreeMap;

use domain::{Interaction, InteractionId, Limit, ProjectId, Refusal, Scope};
use store::OpenTotal;

use crate::Error;
use crate::engine::Budget;
use crate::run::transaction::Work;

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
    pub(crate) fn note_opened(&mut self, interaction: &Interaction, within_budget: bool) {
        let changes = self.of(interaction.scope);
        changes.opened.push(interaction.id);
        if within_budget {
            changes.held_to_budget.push(interaction.origin.asked_by.asker());
        }
    }

    /// Notes that a question was closed.
    pub(crate) fn note_closed(&mut self, interaction: &Interaction) {
        self.of(interaction.scope).closed.push(interaction.id);
    }

    fn of(&mut self, scope: Scope) -> &mut Changes {
        let none = || Changes { scope, opened: Vec::new(), closed: Vec::new(), held_to_budget: Vec::new() };
        self.0.entry(scope.project).or_insert_with(none)
    }
}

/// Updates the counters, and refuses the command if an asker or the tenant is now over the budget.
pub(crate) fn save_open_counts(work: &mut Work<'_>) -> Result<(), Error> {
    for changes in std::mem::take(&mut work.open_changes).0.into_values() {
        let totals = work.tx.open_totals_update(&changes.scope, &changes.opened, &changes.closed)?;
        if changes.held_to_budget.is_empty() {
            continue;
        }
        let limits = (Limit::KeyOpenQuestions, Limit::KeyOpenBytes);
        for (_, total) in totals.askers.iter().filter(|(asker, _)| changes.held_to_budget.contains(asker)) {
            require_within(*total, work.settings.key_open, limits)?;
        }
        let limits = (Limit::TenantOpenQuestions, Limit::TenantOpenBytes);
        require_within(totals.tenant, work.settings.tenant_open, limits)?;
    }
    Ok(())
}

fn require_within(total: OpenTotal, budget: Budget, (questions, bytes): (Limit, Limit)) -> Result<(), Refusal> {
    if total.questions > budget.questions {
        return Err(Refusal::LimitReached { limit: questions, max: budget.questions });
    }
    if total.bytes > budget.bytes {
        return Err(Refusal::LimitReached { limit: bytes, max: budget.bytes });
    }
    Ok(())
}
