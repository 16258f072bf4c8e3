//! Reads the decisions of people about actions: those that agents proposed, and those that agents asked about in their own words.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use ::policy::{Decided, DecisionOutcome, Policy};
use domain::{
    Call, Decision, Effect, Interaction, Kind, KindName, Scope, SessionId, SignedDuration, Status, Timestamp, Verdict,
};
use store::{ActionHistoryFilter, ClosedInteraction, Cost, InteractionFilter, Page, Sort, StoreError};

use crate::interactions::plan::AnswerSubject;
use crate::policy::learn;
use crate::policy::learn::action_history::HistoricAction;
use crate::policy::learn::suspend::AskedCall;
use crate::policy::ruling::OnBehalfOf;
use crate::run;
use crate::run::pages::Pages;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// Number of decisions that are considered.
const LOOKED_AT: usize = 2000;
/// Number of actions with a question that are searched for decisions.
const MOST_ASKED: u32 = 10_000;
/// Time for which a commit may still hide an answer from a reader.
const UNSEEN: SignedDuration = SignedDuration::from_secs(300);
/// Number of questions that one read fetches, and largest number of reads.
const BATCH: u32 = 200;
const MOST_BATCHES: u32 = 50;
/// Number of decisions that are compared with rules in one blocking task.
const HELD_AGAINST: usize = 200;

/// Decisions of people about actions, the newest first.
pub(crate) struct PeopleDecisions {
    pub(crate) decided: Arc<Vec<Decided>>,
    pub(crate) decisions: Vec<Decision>,
    /// Session and call id of each action. The call id is `None` where the agent asked in its own words.
    pub(crate) places: Vec<(SessionId, Option<String>)>,
    pub(crate) more: bool,
    /// Time at which the search began.
    at: Timestamp,
}

/// One decision and the action that it is about.
struct DecidedCall {
    decided: Decided,
    decision: Decision,
    place: (SessionId, Option<String>),
}

/// Decisions that contradict the learnt rules of a policy.
#[derive(Debug, Clone)]
pub(crate) struct Contradictions {
    /// Name of each contradicted rule, with the last decision against it.
    pub(crate) found: Vec<(String, Decision)>,
    /// Time from which on the search may have missed decisions.
    pub(crate) since: Timestamp,
}

/// Reads the decisions of people about actions, as far back as rules are learnt from.
pub(crate) async fn read_people_decisions(engine: &Engine, scope: Scope) -> Result<PeopleDecisions, Error> {
    let at = engine.read(Cost::Point, |reads| Ok(reads.now()?)).await?;
    let mut looking =
        learn::action_history::look_back(engine, scope, ActionHistoryFilter { since: None, asked: true }, MOST_ASKED);
    let mut known = Vec::new();
    while known.len() < LOOKED_AT {
        let past = looking.next().await?;
        if past.is_empty() {
            break;
        }
        past.into_iter().for_each(|past| known.extend(proposed(past)));
    }
    let (in_own_words, older) = read_decisions_in_own_words(engine, scope).await?;
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
    Ok(PeopleDecisions { decided: Arc::new(decided), decisions, places, more, at })
}

/// Reads the decisions about actions that agents asked about in their own words. Also returns whether there are more questions than
/// were read.
async fn read_decisions_in_own_words(engine: &Engine, scope: Scope) -> Result<(Vec<DecidedCall>, bool), Error> {
    let (mut known, mut more) = (Vec::new(), false);
    // The archive is read second, so that a question that is archived meanwhile is found there.
    for archived in [false, true] {
        let (mut after, mut left) = (None, MOST_BATCHES);
        loop {
            let page = Page { after, limit: BATCH };
            let read = engine.read(Cost::Scan, move |reads| {
                let found = if archived {
                    reads.archived_interactions_newest(&scope, page)?
                } else {
                    reads.interactions(&scope, &answered(), page)?
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

/// Finds the last decision against each learnt rule of a policy. Returns `None` if the policy has no learnt rules. Very recent
/// decisions may be missing; the transaction that puts the rules in force searches for them again.
pub(crate) async fn read_contradictions(
    engine: &Engine,
    scope: Scope,
    policy: &Arc<Policy>,
) -> Result<Option<Contradictions>, Error> {
    if policy.learnt().next().is_none() {
        return Ok(None);
    }
    let PeopleDecisions { decided, decisions, at, .. } = read_people_decisions(engine, scope).await?;
    let mut found = BTreeMap::new();
    for (number, batch) in decisions.chunks(HELD_AGAINST).enumerate() {
        let (policy, decided, begin) = (Arc::clone(policy), Arc::clone(&decided), number * HELD_AGAINST);
        let against = run::heavy_work::off_reactor(move || {
            let batch = decided.iter().skip(begin).take(HELD_AGAINST);
            let names = |one| policy.contradicted(one).into_iter().map(str::to_owned).collect();
            batch.map(names).collect::<Vec<Vec<String>>>()
        });
        for (rules, decision) in against.await?.into_iter().zip(batch) {
            for rule in rules {
                found.entry(rule).or_insert_with(|| decision.clone());
            }
        }
    }
    let since = at.saturating_sub(UNSEEN).unwrap_or(Timestamp::MIN);
    Ok(Some(Contradictions { found: found.into_iter().collect(), since }))
}

/// Finds the decisions since a time that contradict learnt rules of a policy. It is called after the policy is written, so that every
/// later decision finds the rules.
pub(crate) fn find_contradictions(
    work: &mut Work<'_>,
    scope: &Scope,
    policy: &Policy,
    since: Timestamp,
) -> Result<Vec<(String, Decision)>, Error> {
    let mut found = Vec::new();
    let mut pages = Pages::new(BATCH, |closed: &ClosedInteraction| (closed.resolved_at, closed.id));
    for _ in 0..MOST_BATCHES {
        let closed = pages.next(|page| work.tx.closed_interactions(scope, since, page.after, page.limit))?;
        for closed in closed.into_iter().flatten().filter(|closed| closed.kind == KindName::Approval) {
            let Some(asked) = work.tx.interaction(scope, closed.id)? else { continue };
            let Some(decision) = Decision::of(&asked) else { continue };
            let subject = AnswerSubject::read(&mut *work.tx, asked, None)?;
            let Some(AskedCall { call, behalf, .. }) = AskedCall::of(&subject) else { continue };
            let Some(decided) = decided_about(call, behalf, &decision) else { continue };
            let against = policy.contradicted(&decided).into_iter();
            found.extend(against.map(|rule| (rule.to_owned(), decision.clone())));
        }
        if pages.is_over() {
            return Ok(found);
        }
    }
    // Too many questions for one transaction: the command is tried again.
    Err(StoreError::Conflict.into())
}

/// Whether a contradicted rule may be suspended by an answer. Only a rule that allows may be, because an answer never loosens a policy.
pub(crate) fn allows(policy: &Policy, rule: &str) -> bool {
    policy.rules().any(|known| known.name == rule && known.verdict == Verdict::Allow)
}

/// Converts a past action into the decisions about its last call and about the earlier versions of it.
fn proposed(HistoricAction { call, behalf, decision, action, earlier }: HistoricAction) -> Vec<DecidedCall> {
    let last = decision.map(|decision| (call, decision));
    let one = |(call, decision): (Call, Decision)| {
        let decided = decided_about(call, behalf.clone(), &decision)?;
        Some(DecidedCall { decided, decision, place: (action.session, Some(action.call_id.clone())) })
    };
    last.into_iter().chain(earlier.into_iter().rev()).filter_map(one).collect()
}

/// Filter for answered approval questions, the newest first.
fn answered() -> InteractionFilter {
    InteractionFilter {
        status: Some(Status::Answered),
        kind: Some(Kind::Approval),
        sort: Sort::Newest,
        ..InteractionFilter::default()
    }
}

/// Converts an approval question that an agent asked in its own words into a decision. A question that a handover created is skipped,
/// because the first question has the answer too.
fn in_own_words(asked: Interaction) -> Option<DecidedCall> {
    let decision = Decision::of(&asked)?;
    let by_itself = asked.question.call_id.is_none() && asked.origin.handed_from.is_none();
    let call = asked.question.call.filter(|_| by_itself && asked.question.kind == Kind::Approval)?;
    let behalf = OnBehalfOf::agent(asked.origin.asked_by.name, asked.origin.started_by.name);
    let decided = Decided { own_words: true, ..decided_about(call, behalf, &decision)? };
    Some(DecidedCall { decided, decision, place: (asked.origin.session, None) })
}

/// Describes a decision about a call. Returns `None` if the agent has no name.
fn decided_about(call: Call, behalf: OnBehalfOf, decision: &Decision) -> Option<Decided> {
    let Call { tool, arguments } = call;
    let OnBehalfOf { agent, user, role, environment } = behalf;
    Some(Decided {
        tool,
        arguments,
        agent: agent?,
        user,
        role,
        environment,
        said: outcome_of(decision.effect),
        own_words: false,
    })
}

const fn outcome_of(effect: Effect) -> DecisionOutcome {
    match effect {
        Effect::Approve => DecisionOutcome::Approved,
        Effect::Reject => DecisionOutcome::Rejected,
        Effect::Edit | Effect::Retry | Effect::Terminate | Effect::Provide | Effect::Skip | Effect::Custom => {
            DecisionOutcome::Otherwise
        }
    }
}
