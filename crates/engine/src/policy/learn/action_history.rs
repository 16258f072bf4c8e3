//! Reads the past actions of a project, the newest first, with the decisions of people about them.

use domain::{Action, Call, Decision, Kind, Scope};
use store::{ActionCursor, ActionHistoryFilter, Cost, PastAction, Reads};

use crate::policy::ruling::OnBehalfOf;
use crate::{Engine, Error};

/// Number of actions that one read fetches. The limit keeps each read short.
const BATCH: u32 = 50;

/// Past action with its ruling.
pub(crate) struct HistoricAction {
    pub(crate) action: Action,
    /// Call that was judged last: the proposed call, or an edited version of it that other people were asked about.
    pub(crate) call: Call,
    pub(crate) behalf: OnBehalfOf,
    /// Decision of people about this call.
    pub(crate) decision: Option<Decision>,
    /// Decisions about earlier versions of the call. An edit rejects the version before it.
    pub(crate) earlier: Vec<(Call, Decision)>,
}

/// Cursor over the past actions of a project.
pub(crate) struct ActionHistory {
    engine: Engine,
    scope: Scope,
    filter: ActionHistoryFilter,
    left: u32,
    before: Option<ActionCursor>,
}

/// Creates a cursor over at most `most` past actions.
pub(crate) fn look_back(engine: &Engine, scope: Scope, filter: ActionHistoryFilter, most: u32) -> ActionHistory {
    ActionHistory { engine: engine.clone(), scope, filter, left: most, before: None }
}

impl ActionHistory {
    /// Reads the next actions. Returns an empty list at the end.
    pub(crate) async fn next(&mut self) -> Result<Vec<HistoricAction>, Error> {
        let limit = self.left.min(BATCH);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (scope, filter, before) = (self.scope, self.filter, self.before.clone());
        let found = self.engine.read(Cost::Scan, move |reads| {
            let found = reads.action_history(&scope, &filter, before.as_ref(), limit)?;
            let (last, more) = (found.last().map(|past| past.cursor.clone()), found.more);
            let found: Result<Vec<HistoricAction>, Error> =
                found.into_iter().map(|past| read_historic_action(reads, past)).collect();
            Ok((found?, last, more))
        });
        let (found, last, more) = found.await?;
        self.left = if more { self.left.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX)) } else { 0 };
        self.before = last.or(self.before.take());
        Ok(found)
    }

    /// Whether there are actions before the last one that was read.
    pub(crate) async fn more(&self) -> Result<bool, Error> {
        let (scope, filter, before) = (self.scope, self.filter, self.before.clone());
        let found = self
            .engine
            .read(Cost::Scan, move |reads| Ok(!reads.action_history(&scope, &filter, before.as_ref(), 1)?.is_empty()));
        found.await
    }
}

fn read_historic_action(
    reads: &mut dyn Reads,
    PastAction { action, started_by, .. }: PastAction,
) -> Result<HistoricAction, Error> {
    let behalf = OnBehalfOf::of(&action, started_by.name);
    let mut asked: Vec<(Call, Option<Decision>)> = Vec::new();
    for id in &action.asked {
        // A later question may ask about the outcome of the action; it is not an approval.
        let found = reads.interaction(&action.scope, *id)?.filter(|asked| asked.question.kind == Kind::Approval);
        if let Some(found) = found {
            let decision = Decision::of(&found);
            asked.push((found.question.call.unwrap_or_else(|| action.call.clone()), decision));
        }
    }
    let (call, decision) = asked.pop().unwrap_or_else(|| (action.call.clone(), None));
    let earlier = asked.into_iter().filter_map(|(call, decision)| Some((call, decision?))).collect();
    Ok(HistoricAction { action, call, behalf, decision, earlier })
}
