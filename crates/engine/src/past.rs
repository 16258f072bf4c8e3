//! Looks back: what was proposed in a project, the newest first, with what people decided about it.

use domain::{Action, Decision, Kind, Proposal, Scope, Timestamp};
use store::{ActionPlace, Cost, PastAction, Reads};

use crate::judge::Behalf;
use crate::{Engine, Error};

/// How many actions are read at once, so that nobody waits for it.
const PORTION: u32 = 50;

/// An action that was ruled on.
pub(crate) struct Past {
    pub(crate) proposal: Proposal,
    /// What its ruling is about: what was proposed, or what somebody made of it and others were asked about.
    pub(crate) action: Action,
    pub(crate) behalf: Behalf,
    /// What people decided about that very action.
    pub(crate) decision: Option<Decision>,
}

/// Somebody who looks back.
pub(crate) struct LookingBack {
    engine: Engine,
    scope: Scope,
    since: Option<Timestamp>,
    left: u32,
    before: Option<ActionPlace>,
}

impl Engine {
    /// Begins to look back at so many actions at most, and at none from before a moment.
    pub(crate) fn look_back(&self, scope: Scope, since: Option<Timestamp>, most: u32) -> LookingBack {
        LookingBack { engine: self.clone(), scope, since, left: most, before: None }
    }
}

impl LookingBack {
    /// The next actions; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Vec<Past>, Error> {
        let limit = self.left.min(PORTION);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (scope, since, before) = (self.scope, self.since, self.before.clone());
        let found = self.engine.read(Cost::Scan, move |reads| {
            let found = reads.past_actions(&scope, before.as_ref(), since, limit)?;
            let last = found.last().map(|past| past.place.clone());
            let found: Result<Vec<Past>, Error> = found.into_iter().map(|past| recalled(reads, past)).collect();
            Ok((found?, last))
        });
        let (found, last) = found.await?;
        self.left = if found.len() < limit as usize { 0 } else { self.left - limit };
        self.before = last.or(self.before.take());
        Ok(found)
    }

    /// Whether there is anything before what was looked at.
    pub(crate) async fn more(&self) -> Result<bool, Error> {
        let (scope, since, before) = (self.scope, self.since, self.before.clone());
        let found = self
            .engine
            .read(Cost::Scan, move |reads| Ok(!reads.past_actions(&scope, before.as_ref(), since, 1)?.is_empty()));
        found.await
    }
}

fn recalled(reads: &mut dyn Reads, PastAction { proposal, started_by, .. }: PastAction) -> Result<Past, Error> {
    let behalf = Behalf { agent: Some(proposal.proposed_by.name.clone()), user: started_by.name, role: proposal.role };
    // Later questions may be about what became of it.
    for id in proposal.asked.iter().rev() {
        let asked = reads.interaction(&proposal.scope, *id)?.filter(|asked| asked.question.kind == Kind::Approval);
        if let Some(asked) = asked {
            let decision = Decision::of(&asked);
            let action = asked.question.action.unwrap_or_else(|| proposal.action.clone());
            return Ok(Past { proposal, action, behalf, decision });
        }
    }
    Ok(Past { action: proposal.action.clone(), proposal, behalf, decision: None })
}
