//! Gives, finds, counts, lists and revokes grants: standing approvals that a person gives with an answer and that cover later actions.

use domain::access::Right;
use domain::grant::{Covers, RememberedArguments};
use domain::{
    Action, Actor, Audience, Caller, Grant, GrantId, Interaction, InteractionId, Problem, Refusal, Remember, Session,
};
use store::Page;

use crate::access::sight::Sight;
use crate::policy::ruling::Judged;
use crate::run::pages::Pages;
use crate::run::transaction::Work;
use crate::{Engine, Error, Idempotency};

/// Number of grants for a tool that are examined, at most, to find one that covers an action.
const MOST_LOOKED_AT: u32 = 1000;

/// Agent that proposes an action. A hosted agent and the holder of a key are different agents, even if they have one name.
#[derive(Clone, Copy)]
pub(crate) struct Proposer<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) hosted: bool,
}

/// Finds a grant that covers an action about which the policy asks, and counts one use of it.
pub(crate) fn use_grant(
    work: &mut Work<'_>,
    session: &Session,
    by: Proposer<'_>,
    judged: &Judged,
) -> Result<Option<GrantId>, Error> {
    let mut left = MOST_LOOKED_AT;
    let mut pages = Pages::new(left, |grant: &Grant| grant.id);
    let (scope, tool, now) = (&session.scope, &judged.call.tool, work.now);
    while left > 0
        && let Some(found) = pages.next(|page| work.tx.grants_for(scope, tool, now, Page { limit: left, ..page }))?
    {
        left = left.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        for grant in found {
            if may_use_grant(work, session, by, judged, &grant)? && work.tx.grant_use(scope, grant.id, now)? {
                return Ok(Some(grant.id));
            }
        }
    }
    Ok(None)
}

/// Refuses to start an action if the grant that allowed it is over or no longer covers the action under today's policy.
pub(crate) fn require_grant_covers(
    work: &mut Work<'_>,
    session: &Session,
    by: Proposer<'_>,
    judged: &Judged,
    id: GrantId,
) -> Result<(), Error> {
    let grant = work.tx.grant(&session.scope, id)?.ok_or(Refusal::GrantOver(id))?;
    grant.require_not_over(work.now)?;
    let covered = may_use_grant(work, session, by, judged, &grant)?;
    if covered { Ok(()) } else { Err(Refusal::NowAsked(Box::new(judged.ruling.clone())).into()) }
}

/// Whether a grant covers an action, given the rule and the audience that ask about it.
fn may_use_grant(
    work: &mut Work<'_>,
    session: &Session,
    by: Proposer<'_>,
    judged: &Judged,
    grant: &Grant,
) -> Result<bool, Error> {
    if judged.ruling.floor_asks() {
        return Ok(false);
    }
    // A rule might deny the part of the call that the policy could not read. Only a grant for exactly these arguments was given by a person who
    // saw that part.
    if !judged.certain && !matches!(grant.arguments, Covers::Exactly(_)) {
        return Ok(false);
    }
    let call = &judged.call;
    // A grant for any arguments is meant for ordinary files, not for a file that decides what runs later, such as a git hook.
    if matches!(grant.arguments, Covers::Anything) && ::policy::steers(&call.tool, &call.arguments) {
        return Ok(false);
    }
    let matches = |name: &str, pattern: &str| ::policy::fits(&call.tool, &call.arguments, name, pattern);
    let here = (session.id, by.actor.name.as_str());
    if !grant.covers(here, judged.ruling.rule.as_deref(), call, matches) || !is_given_to(work, grant, by.hosted)? {
        return Ok(false);
    }
    // A question to several audiences is asked every time: a grant is the decision of one person.
    let [audience] = judged.ask.audiences.as_slice() else { return Ok(false) };
    satisfies_audience(work, audience, session, grant)
}

/// Whether a grant was given to a hosted agent (`hosted`) or to the holder of a key (not `hosted`). A grant that does not record this takes it from
/// the question that it was given with. If that question no longer exists, the grant covers neither.
fn is_given_to(work: &mut Work<'_>, grant: &Grant, hosted: bool) -> Result<bool, Error> {
    let given_to = match grant.hosted {
        None => work.tx.interaction(&grant.scope, grant.interaction)?.map(|asked| asked.origin.hosted),
        known => known,
    };
    Ok(given_to == Some(hosted))
}

/// Whether the answer with which the grant was given would satisfy the audience that the rule names today. The groups of the giver count as they
/// were at the time of that answer.
fn satisfies_audience(
    work: &mut Work<'_>,
    audience: &Audience,
    session: &Session,
    grant: &Grant,
) -> Result<bool, Error> {
    if audience.quorum > 1 || (audience.four_eyes && grant.by.is_same_person(&session.started_by)) {
        return Ok(false);
    }
    if audience.named.is_none() {
        // An audience without named members includes everybody who has the right to grant.
        return Ok(true);
    }
    let given = work.tx.interaction(&session.scope, grant.interaction)?;
    let answer = given.as_ref().and_then(Interaction::final_answer);
    Ok(answer.is_some_and(|answer| audience.settled_by(&[answer], &session.started_by)))
}

/// Stores the grant that a person asked for together with an approval, and records its event.
pub(crate) fn give_grant(
    work: &mut Work<'_>,
    session: &mut Session,
    action: &Action,
    (interaction, by): (InteractionId, &Actor),
    remember: &Remember,
) -> Result<(), Error> {
    require_pattern_match(remember, action)?;
    let given = (remember, by.clone(), interaction);
    let id = work.ids.grant(work.now);
    let (grant, event_draft) = Grant::give(id, action, given, work.now);
    work.tx.grant_insert(&grant)?;
    work.record_event(session, Some(interaction), event_draft)?;
    Ok(())
}

/// Refuses a pattern that does not match the arguments that were just approved: such a grant would not cover the calls that its giver expects.
fn require_pattern_match(remember: &Remember, action: &Action) -> Result<(), Error> {
    let RememberedArguments::Pattern(named) = &remember.arguments else { return Ok(()) };
    let call = action.effective();
    let misses = named.iter().filter(|(name, pattern)| !::policy::fits(&call.tool, &call.arguments, name, pattern));
    let problems: Vec<Problem> = misses
        .map(|(name, _)| {
            let pointer = domain::text::field("/remember/arguments", name);
            Problem::new(
                pointer,
                "does not match the approved arguments; no pattern matches commands, addresses, SQL and unparsed values",
            )
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Refusal::AnswerInvalid(problems).into()) }
}

impl Engine {
    /// Page of grants, newest first, and the cursor of the next page. The cursor is `None` on the last page.
    pub async fn grant_list(
        &self,
        caller: &Caller,
        over: bool,
        page: Page<GrantId>,
    ) -> Result<(Vec<Grant>, Option<GrantId>), Error> {
        caller.require(Right::Read)?;
        self.list(caller, move |reads, caller| {
            let own = Sight::of(reads, caller)?.limited_to();
            let seen =
                |grant: &Grant| own.as_ref().is_none_or(|own| grant.agent == own.name && grant.hosted == Some(false));
            let mut pages = Pages::from(page, |grant: &Grant| grant.id);
            while let Some(batch) = pages.next(|page| reads.grants(&caller.scope, over, page))? {
                let found: Vec<Grant> = batch.into_iter().filter(seen).collect();
                // A page may be shorter than its limit, but only the last page may be empty.
                if !found.is_empty() {
                    return Ok((found, pages.cursor()));
                }
            }
            Ok((Vec::new(), None))
        })
        .await
    }

    /// Revokes a grant. People are asked again about the actions that it covered.
    pub async fn grant_revoke(
        &self,
        caller: &Caller,
        id: GrantId,
        idempotency: Option<Idempotency>,
    ) -> Result<Grant, Error> {
        caller.require(Right::Grant)?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let grant = work.tx.grant(&scope, id)?.ok_or(Refusal::NotFound("grant"))?;
            let (grant, event_draft) = grant.revoke(work.by().clone(), work.now)?;
            if !work.tx.grant_revoke(&grant)? {
                return Err(Refusal::GrantRevoked(id).into());
            }
            work.append_audit(&scope, &event_draft)?;
            Ok(grant)
        })
        .await
    }
}
