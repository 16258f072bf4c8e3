//! Looks back: what was proposed in a project, the newest first, with what people decided about it.

use domain::{Action, Call, Decision, Kind, Scope};
use store::{ActionCursor, ActionHistoryFilter, Cost, PastAction, Reads};

use crate::policy::ruling::OnBehalfOf;
use crate::{Engine, Error};

/// How many actions are read at once, so that nobody waits for it.
const PORTION: u32 = 50;

/// An action that was ruled on.
pub(crate) struct HistoricAction {
    pub(crate) proposal: Action,
    /// What its ruling is about: what was proposed, or what somebody made of it and others were asked about.
    pub(crate) action: Call,
    pub(crate) behalf: OnBehalfOf,
    /// What people decided about that very action.
    pub(crate) decision: Option<Decision>,
    /// What was decided before about what it was then: whoever edits it says no to that.
    pub(crate) earlier: Vec<(Call, Decision)>,
}

/// Somebody who looks back.
pub(crate) struct ActionHistory {
    engine: Engine,
    scope: Scope,
    filter: ActionHistoryFilter,
    left: u32,
    before: Option<ActionCursor>,
}

impl Engine {
    /// Begins to look back at so many actions at most.
    pub(crate) fn look_back(&self, scope: Scope, filter: ActionHistoryFilter, most: u32) -> ActionHistory {
        ActionHistory { engine: self.clone(), scope, filter, left: most, before: None }
    }
}

impl ActionHistory {
    /// The next actions; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Vec<HistoricAction>, Error> {
        let limit = self.left.min(PORTION);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (scope, filter, before) = (self.scope, self.filter, self.before.clone());
        let found = self.engine.read(Cost::Scan, move |reads| {
            let found = reads.action_history(&scope, &filter, before.as_ref(), limit)?;
            let (last, more) = (found.last().map(|past| past.cursor.clone()), found.more);
            let found: Result<Vec<HistoricAction>, Error> =
                found.into_iter().map(|past| recalled(reads, past)).collect();
            Ok((found?, last, more))
        });
        let (found, last, more) = found.await?;
        self.left = if more { self.left.saturating_sub(found.len() as u32) } else { 0 };
        self.before = last.or(self.before.take());
        Ok(found)
    }

    /// Whether there is anything before what was looked at.
    pub(crate) async fn more(&self) -> Result<bool, Error> {
        let (scope, filter, before) = (self.scope, self.filter, self.before.clone());
        let found = self
            .engine
            .read(Cost::Scan, move |reads| Ok(!reads.action_history(&scope, &filter, before.as_ref(), 1)?.is_empty()));
        found.await
    }
}

fn recalled(
    reads: &mut dyn Reads,
    PastAction { proposal, started_by, .. }: PastAction,
) -> Result<HistoricAction, Error> {
    let behalf =
        OnBehalfOf { agent: Some(proposal.proposed_by.name.clone()), user: started_by.name, role: proposal.role };
    let mut asked: Vec<(Call, Option<Decision>)> = Vec::new();
    for id in &proposal.asked {
        // Later questions may be about what became of it.
        let found = reads.interaction(&proposal.scope, *id)?.filter(|asked| asked.question.kind == Kind::Approval);
        if let Some(found) = found {
            let decision = Decision::of(&found);
            asked.push((found.question.call.unwrap_or_else(|| proposal.call.clone()), decision));
        }
    }
    let (action, decision) = asked.pop().unwrap_or_else(|| (proposal.call.clone(), None));
    let earlier = asked.into_iter().filter_map(|(action, decision)| Some((action, decision?))).collect();
    Ok(HistoricAction { proposal, action, behalf, decision, earlier })
}
