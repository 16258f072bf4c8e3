//! What people decided about actions: those that agents proposed, and those that they asked about in their own words.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{
    Call, Decision, Effect, Interaction, Kind, Role, Scope, SessionId, SignedDuration, Status, Timestamp, Verdict,
};
use policy::{Decided, Policy, Said};
use store::{Cost, InteractionFilter, Page, PastFilter, Sort, StoreError};

use crate::doubt::{Asked, asked_about};
use crate::forms_check::off_reactor;
use crate::judge::Behalf;
use crate::past::Past;
use crate::work::Work;
use crate::{Engine, Error};

/// How many decisions of people are looked at.
const LOOKED_AT: usize = 2000;
/// How many actions that people were asked about are gone through for them.
const MOST_ASKED: u32 = 10_000;
/// For how long an answer may be on its way into the store, so that whoever looks does not see it.
const UNSEEN: SignedDuration = SignedDuration::from_secs(300);
/// How many questions are read at once, and how many times.
const PORTION: u32 = 200;
const MOST_PORTIONS: u32 = 50;
/// How many decisions are held against rules at once.
const HELD_AGAINST: usize = 200;

/// The decisions of people about actions, the last first, and what was decided about.
pub(crate) struct Known {
    pub(crate) decided: Arc<Vec<Decided>>,
    pub(crate) decisions: Vec<Decision>,
    /// Where each action is; without a call where the agent asked in its own words.
    pub(crate) places: Vec<(SessionId, Option<String>)>,
    pub(crate) more: bool,
    /// When they were looked for.
    at: Timestamp,
}

/// One of them.
struct One {
    decided: Decided,
    decision: Decision,
    place: (SessionId, Option<String>),
}

/// What speaks against the learnt rules of a policy.
#[derive(Debug, Clone)]
pub(crate) struct Against {
    /// The last decision against each.
    pub(crate) found: Vec<(String, Decision)>,
    /// From when on there may be decisions that were not seen.
    pub(crate) since: Timestamp,
}

impl Engine {
    /// What people decided about actions, as far back as rules are learnt from.
    pub(crate) async fn people_decided(&self, scope: Scope) -> Result<Known, Error> {
        let at = self.read(Cost::Point, |reads| Ok(reads.now()?)).await?;
        let mut looking = self.look_back(scope, PastFilter { since: None, asked: true }, MOST_ASKED);
        let mut known = Vec::new();
        while known.len() < LOOKED_AT {
            let past = looking.next().await?;
            if past.is_empty() {
                break;
            }
            past.into_iter().for_each(|past| known.extend(proposed(past)));
        }
        let (in_own_words, older) = self.asked_in_own_words(scope).await?;
        known.extend(in_own_words);
        known.sort_by_key(|one| Reverse(one.decision.at));
        let more = older || known.len() > LOOKED_AT || looking.more().await?;
        known.truncate(LOOKED_AT);
        let (mut decided, mut decisions, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for one in known {
            decided.push(one.decided);
            decisions.push(one.decision);
            places.push(one.place);
        }
        Ok(Known { decided: Arc::new(decided), decisions, places, more, at })
    }

    /// What was decided about actions that agents asked about by themselves, and whether there are questions that were not looked at.
    async fn asked_in_own_words(&self, scope: Scope) -> Result<(Vec<One>, bool), Error> {
        let (mut known, mut more) = (Vec::new(), false);
        // What goes to the archive meanwhile is found there.
        for archived in [false, true] {
            let (mut after, mut left) = (None, MOST_PORTIONS);
            loop {
                let page = Page { after, limit: PORTION };
                let read = self.read(Cost::Scan, move |reads| {
                    let found = match archived {
                        true => reads.archived_newest(&scope, page)?,
                        false => reads.interactions(&scope, &answered(), page)?,
                    };
                    let last = found.last().map(|asked| asked.id);
                    Ok((found.into_iter().filter_map(in_own_words).collect::<Vec<_>>(), last))
                });
                let (found, last) = read.await?;
                known.extend(found);
                after = last;
                left -= 1;
                if last.is_none() || left == 0 || known.len() >= LOOKED_AT {
                    more |= last.is_some();
                    break;
                }
            }
        }
        Ok((known, more))
    }

    /// The last decisions against the learnt rules of a policy; none where it has no such rules. Those of the last moments may be missing:
    /// they are looked for again in the transaction that puts the rules in force.
    pub(crate) async fn spoken_against(&self, scope: Scope, policy: &Arc<Policy>) -> Result<Option<Against>, Error> {
        if policy.learnt().next().is_none() {
            return Ok(None);
        }
        let Known { decided, decisions, at, .. } = self.people_decided(scope).await?;
        let mut found = BTreeMap::new();
        for (number, portion) in decisions.chunks(HELD_AGAINST).enumerate() {
            let (policy, decided, begin) = (Arc::clone(policy), Arc::clone(&decided), number * HELD_AGAINST);
            let against = off_reactor(move || {
                let portion = decided.iter().skip(begin).take(HELD_AGAINST);
                let names = |one| policy.contradicted(one).into_iter().map(str::to_owned).collect();
                portion.map(names).collect::<Vec<Vec<String>>>()
            });
            for (rules, decision) in against.await?.into_iter().zip(portion) {
                for rule in rules {
                    found.entry(rule).or_insert_with(|| decision.clone());
                }
            }
        }
        let since = at.saturating_sub(UNSEEN).unwrap_or(Timestamp::MIN);
        Ok(Some(Against { found: found.into_iter().collect(), since }))
    }
}

impl Work<'_> {
    /// The decisions since a moment that speak against learnt rules of a policy. Called once the policy is written: whoever decides after that
    /// finds the rules there.
    pub(crate) fn decided_against(
        &mut self,
        scope: &Scope,
        policy: &Policy,
        since: Timestamp,
    ) -> Result<Vec<(String, Decision)>, Error> {
        let mut found = Vec::new();
        let mut after = None;
        for _ in 0..MOST_PORTIONS {
            let closed = self.tx.closed(scope, since, after, PORTION)?;
            let whole = closed.len() < PORTION as usize;
            after = closed.last().map(|closed| (closed.resolved_at, closed.id));
            for closed in closed.into_iter().filter(|closed| closed.kind == Kind::Approval.name()) {
                let Some(asked) = self.tx.interaction(scope, closed.id)? else { continue };
                let Some(decision) = Decision::of(&asked) else { continue };
                let Some(Asked { action, behalf, .. }) = asked_about(&mut *self.tx, scope, asked)? else { continue };
                let Some(decided) = decided_about(action, behalf, &decision) else { continue };
                let against = policy.contradicted(&decided).into_iter();
                found.extend(against.map(|rule| (rule.to_owned(), decision.clone())));
            }
            if whole {
                return Ok(found);
            }
        }
        // So many at once cannot be looked at here: it is tried again.
        Err(StoreError::Conflict.into())
    }
}

/// The rules among those that are spoken against that an answer may suspend: an answer never loosens a policy.
pub(crate) fn loosening(policy: &Policy, rule: &str) -> bool {
    policy.rules().any(|known| known.name == rule && known.verdict == Verdict::Allow)
}

/// What was decided about an action, and about what it was before.
fn proposed(Past { action, behalf, decision, proposal, earlier }: Past) -> Vec<One> {
    let last = decision.map(|decision| (action, decision));
    let one = |(action, decision): (Call, Decision)| {
        let decided = decided_about(action, behalf.clone(), &decision)?;
        Some(One { decided, decision, place: (proposal.session, Some(proposal.call_id.clone())) })
    };
    last.into_iter().chain(earlier.into_iter().rev()).filter_map(one).collect()
}

/// Questions that people have answered, the newest first.
fn answered() -> InteractionFilter {
    InteractionFilter {
        status: Some(Status::Answered),
        kind: Some(Kind::Approval),
        sort: Sort::Newest,
        ..InteractionFilter::default()
    }
}

/// What was decided about an action that an agent asked about by itself. Where the question was handed over, the first one has the answer too.
fn in_own_words(asked: Interaction) -> Option<One> {
    let decision = Decision::of(&asked)?;
    let by_itself = asked.question.call_id.is_none() && asked.origin.handed_from.is_none();
    let action = asked.question.call.filter(|_| by_itself && asked.question.kind == Kind::Approval)?;
    let behalf =
        Behalf { agent: Some(asked.origin.asked_by.name), user: asked.origin.started_by.name, role: Role::Agent };
    let decided = Decided { own_words: true, ..decided_about(action, behalf, &decision)? };
    Some(One { decided, decision, place: (asked.origin.session, None) })
}

/// A decision about an action of an agent that has a name.
fn decided_about(action: Call, behalf: Behalf, decision: &Decision) -> Option<Decided> {
    let Call { tool, arguments } = action;
    let Behalf { agent, user, role } = behalf;
    Some(Decided { tool, arguments, agent: agent?, user, role, said: said(decision.effect), own_words: false })
}

const fn said(effect: Effect) -> Said {
    match effect {
        Effect::Approve => Said::Approved,
        Effect::Reject => Said::Rejected,
        Effect::Edit | Effect::Retry | Effect::Terminate | Effect::Provide | Effect::Skip | Effect::Custom => {
            Said::Otherwise
        }
    }
}
