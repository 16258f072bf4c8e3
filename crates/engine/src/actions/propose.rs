//! Rules on an action that an agent proposes. One transaction allows it with a permit, denies it, or opens a question about it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::access::Right;
use domain::action::{Action, ActionState, is_reserved};
use domain::ruling::AskingRule;
use domain::{
    Call, Caller, EntryPoint, Kind, Permit, Problem, Question, Refusal, Ruling, Session, SessionId, SignedDuration,
    Timestamp, Verdict, text,
};
use serde_json::Value;
use store::Cost;

use crate::access::sight::Sight;
use crate::actions;
use crate::actions::grants::Proposer;
use crate::interactions;
use crate::interactions::open::QuestionTerms;
use crate::policy;
use crate::policy::learn;
use crate::policy::ruling::{Judged, OnBehalfOf};
use crate::run::transaction::Work;
use crate::secrets;
use crate::sessions;
use crate::{Engine, Error, Idempotency, Vault};

/// Purpose under which the vault computes the seal of a permit.
pub(crate) const PERMIT: &str = "permit";
/// Maximum length of the name of a tool, in characters.
const TOOL: usize = 200;

/// Proposal of an agent: a call, with its context for the people who may be asked.
#[derive(Debug, Clone)]
pub struct Propose {
    /// Identifier of the action (`call_id`), chosen by the agent and unique in the session.
    pub call_id: String,
    /// Call that the agent wants to make: the tool and its arguments.
    pub call: Call,
    /// Context that is shown to people beside the call.
    pub context: Value,
    /// Hash of the file content that the call would replace, at the time of the proposal.
    pub expected_content: Option<String>,
    /// W3C `traceparent` of the trace in which the agent proposes the action.
    pub traceparent: Option<String>,
    /// Whether the tool declares that a call may run more than once. The action is also repeatable if the policy says so.
    pub repeatable: bool,
    /// Whether the client of the person who started the session runs the call, instead of a worker.
    pub client: bool,
    /// Time that the agent's version gives people to approve, in seconds.
    pub deadline_seconds: Option<i64>,
}

impl Engine {
    /// Rules on an action. A second proposal with the same `call_id` and the same call returns the stored action with its decision.
    pub async fn action_propose(
        &self,
        caller: &Caller,
        session: SessionId,
        propose: Propose,
        idempotency: Option<Idempotency>,
    ) -> Result<ActionReply, Error> {
        caller.require(Right::Ask)?;
        check_propose(&propose)?;
        let ruled = policy::in_force::with_current_ruling(self, || {
            rule_on_action(self, caller, session, propose.clone(), idempotency.clone())
        })
        .await?;
        reply(self, caller, ruled, self.now()).await
    }
}

/// Judges a call and saves the action with its decision, once. Returns the stored action if it is known already.
async fn rule_on_action(
    engine: &Engine,
    caller: &Caller,
    session: SessionId,
    propose: Propose,
    idempotency: Option<Idempotency>,
) -> Result<Action, Error> {
    let Propose { call_id, call, context, expected_content, traceparent, repeatable, client, deadline_seconds } =
        propose;
    let (scope, actor, role) = (caller.scope, caller.actor.clone(), caller.role);
    let (known, origin, entry_point) = read_known(engine, caller, session, call_id.clone()).await?;
    if let Some(known) = known.filter(|_| idempotency.is_none()) {
        return require_repeat(known, caller, &call);
    }
    require_proposer(caller, &origin, &call_id)?;
    let behalf = OnBehalfOf::caller(caller, origin.started_by.name);
    let in_force = learn::suggest::load_for(engine, scope, &actor.name, caller.is_worker()).await?;
    let state = in_force.state.clone();
    let judged = policy::ruling::judge(engine, in_force, behalf.clone(), call.clone()).await?;
    let asking = question_terms(engine, &judged, deadline_seconds, entry_point, traceparent);
    let question = question_about(&judged, call_id.clone(), context)?;
    let (policies, hosted, environment) =
        (Arc::clone(&engine.policies), caller.is_worker(), caller.environment.clone());
    let new = Arc::new(AtomicBool::new(false));
    let made = Arc::clone(&new);
    let action = engine.command(caller, idempotency, move |work| {
        made.store(false, Ordering::Relaxed);
        let mut session = sessions::lock(work, &scope, session)?;
        if let Some(known) = work.tx.action(&scope, session.id, &call_id)? {
            return require_repeat(known, &work.caller()?, &call);
        }
        session.require_alive()?;
        policy::require_in_force(work, &scope, &judged, &policies)?;
        let mut action = Action {
            scope,
            session: session.id,
            call_id: call_id.clone(),
            call: call.clone(),
            edited: None,
            proposed_by: actor.clone(),
            role,
            environment: environment.clone(),
            at: work.now,
            ruling: judged.ruling.clone(),
            grant: None,
            repeatable: judged.repeatable || repeatable,
            hosted,
            runner: client.then(|| session.started_by.clone()),
            step: hosted.then_some(session.step),
            expected_content: expected_content.clone(),
            asked: Vec::new(),
            state: ActionState::Denied,
            revision: 1,
        };
        decide(work, &mut session, &mut action, &judged, (&question, &asking))?;
        made.store(true, Ordering::Relaxed);
        Ok(action)
    });
    let action = action.await?;
    if new.load(Ordering::Relaxed) {
        policy::shadow::judge_in_background(engine, state, behalf, action.clone());
    }
    Ok(action)
}

/// Returns a known action to the caller that proposes its call again. Refuses another caller and another call.
fn require_repeat(known: Action, caller: &Caller, call: &Call) -> Result<Action, Error> {
    known.require_access(caller)?;
    known.require_same(call, &caller.actor)?;
    Ok(known)
}

/// The action of a call if it is known already, its session, and the entry point that counts for a question about it.
async fn read_known(
    engine: &Engine,
    caller: &Caller,
    session: SessionId,
    call: String,
) -> Result<(Option<Action>, Session, EntryPoint), Error> {
    let scope = caller.scope;
    engine
        .read_by(caller, Cost::Point, move |reads, caller| {
            let session = Sight::of(reads, caller)?.session(reads, &scope, session)?;
            let entry_point = if caller.is_worker() {
                interactions::ask::read_entry_point(reads, &scope, session.id)?
            } else {
                caller.entry_point
            };
            Ok((reads.action(&scope, session.id, &call)?, session, entry_point))
        })
        .await
}

/// Terms of a question about an action. The time to answer is the one that the agent's version gives (`given`), else the shortest time that an
/// asking rule gives, else the usual time. An asking rule without a time counts as one with the usual time.
pub(crate) fn question_terms(
    engine: &Engine,
    judged: &Judged,
    given: Option<i64>,
    entry_point: EntryPoint,
    traceparent: Option<String>,
) -> QuestionTerms {
    let usual = interactions::ask::usual_time(engine, &Kind::Approval, entry_point);
    let time = match (given.or(judged.ask.deadline_seconds).map(SignedDuration::from_secs), usual) {
        (Some(ruled), Some(usual)) if given.is_none() && judged.ask.undated => Some(ruled.min(usual)),
        (ruled, usual) => ruled.or(usual),
    };
    QuestionTerms { time, traceparent, within_budget: true }
}

/// Refuses a call that the caller may not propose in a session. A worker proposes in any hosted session.
fn require_proposer(caller: &Caller, session: &Session, call: &str) -> Result<(), Error> {
    if !(caller.is_worker() && session.hosted) {
        session.require_owner(&caller.actor)?;
        if session.hosted && is_reserved(call) {
            return Err(Refusal::CallReserved(call.to_owned()).into());
        }
    }
    Ok(())
}

/// Decides on a new action by its ruling and saves it: looks for a grant, opens the question, or gives a permit.
fn decide(
    work: &mut Work<'_>,
    session: &mut Session,
    action: &mut Action,
    judged: &Judged,
    (question, terms): (&Question, &QuestionTerms),
) -> Result<(), Error> {
    let verdict = judged.ruling.verdict;
    // A grant replaces the answer to a question of the project's policy, never to a question of the floor.
    if verdict == Verdict::Ask && !judged.ruling.floor_asks() {
        let proposer = Proposer { actor: &action.proposed_by, hosted: action.hosted };
        action.grant = actions::use_grant(work, session, proposer, judged)?;
    }
    action.state = match verdict {
        Verdict::Deny => ActionState::Denied,
        Verdict::Ask if action.grant.is_none() => {
            let interaction = interactions::open(work, session, action.proposed_by.clone(), question.clone(), terms)?;
            action.asked.push(interaction.id);
            ActionState::Waiting { interaction: interaction.id }
        }
        Verdict::Allow | Verdict::Ask => ActionState::Allowed { permit: actions::new_permit(work, &action.call) },
    };
    work.tx.action_insert(action)?;
    work.wake_at(action.wake_at());
    let about = action.asked.first().copied();
    work.record_event(session, about, action.proposed_event())?;
    sessions::save(work, session)
}

/// Builds the question about an action from the audiences, options and fallback of the rules that ask.
pub(crate) fn question_about(judged: &Judged, call: String, context: Value) -> Result<Question, Error> {
    let (ask, ruling) = (&judged.ask, &judged.ruling);
    let (policy, rule) = (ruling.policy.clone(), ruling.rule.clone());
    let question = Question {
        message: Some(reason_to_ask(ruling)).filter(|reason| !reason.is_empty()),
        context,
        call: Some(judged.call.clone()),
        options: ask.options.clone(),
        // `admit` needs a deadline to check; `interactions::open` sets the real one in the transaction.
        deadline: ask.deadline_seconds.map(|_| Timestamp::MAX),
        fallback: ask.fallback.clone(),
        asked_by_rule: Some(AskingRule { policy, rule, also: judged.also_asking() }),
        call_id: Some(call),
        ..Question::plain(Kind::Approval, format!("Run {}", judged.call.tool))
    };
    let question = question.asked_of(ask.audiences.clone()).admit().map_err(Refusal::QuestionInvalid)?;
    interactions::ask::check_size(&question)?;
    Ok(question)
}

/// Reason why people are asked. If the floor asks for another reason than the policy, its reason is appended.
fn reason_to_ask(ruling: &Ruling) -> String {
    let below = ruling.floor.as_ref().filter(|floor| floor.verdict == Verdict::Ask && floor.reason != ruling.reason);
    below.map_or_else(|| ruling.reason.clone(), |floor| format!("{} {}", ruling.reason, floor.reason).trim().to_owned())
}

fn check_propose(propose: &Propose) -> Result<(), Error> {
    let mut problems = Vec::new();
    text::check_identifier("/call_id", &propose.call_id, &mut problems);
    propose.call.check("", &mut problems);
    text::check_depth("/context", &propose.context, &mut problems);
    if propose.call.tool.chars().count() > TOOL {
        problems.push(Problem::new("/tool", format!("is longer than {TOOL} characters")));
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

/// Action as the engine returns it to its agent or to a reader.
#[derive(Debug, Clone)]
pub struct ActionReply {
    /// Action, with its permit shortened to the end of the grant that allowed it.
    pub action: Action,
    /// Text of the permit that starts the action. Only the agent that proposed the action and its runner receive it.
    pub permit: Option<String>,
    /// Time at which the state was read.
    pub at: Timestamp,
}

pub(crate) async fn reply(
    engine: &Engine,
    caller: &Caller,
    action: Action,
    at: Timestamp,
) -> Result<ActionReply, Error> {
    secrets::unlock::fingerprint(engine, PERMIT, "").await?;
    // The seal covers the expiry that was stored. The text is computed before the permit is shortened, and shown only while the permit is valid.
    let text = if let ActionState::Allowed { permit } = &action.state
        && is_own(&action, caller)
    {
        Some(engine.vault.permit_text(&action, permit)?)
    } else {
        None
    };
    let action = limit_permit_to_grant(engine, action, at).await?;
    let permit = text.filter(|_| action.may_start(at));
    Ok(ActionReply { action, permit, at })
}

/// Shortens the permit of an action to the end of the grant that allowed it.
async fn limit_permit_to_grant(engine: &Engine, action: Action, at: Timestamp) -> Result<Action, Error> {
    let (ActionState::Allowed { .. }, Some(id), []) = (&action.state, action.grant, action.asked.as_slice()) else {
        return Ok(action);
    };
    let scope = action.scope;
    let grant = engine.read(Cost::Point, move |reads| Ok(reads.grant(&scope, id)?)).await?;
    let end = grant.map_or(Some(at), |grant| grant.ends());
    Ok(action.limit_permit(end.unwrap_or(Timestamp::MAX)))
}

impl Vault {
    /// Text of a permit: its id and a seal over the project, session, call, policy version, floor version and expiry that it is bound to.
    pub(crate) fn permit_text(&self, action: &Action, permit: &Permit) -> Result<String, Error> {
        let Action { scope, session, call_id, ruling, .. } = action;
        let mut bound = format!(
            "{}\n{}\n{session}\n{call_id}\n{}\n{}\n{}\n{}",
            scope.tenant, scope.project, permit.digest, ruling.policy, permit.expires_at, permit.id
        );
        if let Some(floor) = &ruling.floor {
            bound.push('\n');
            bound.push_str(&floor.version);
        }
        let seal = self.stamped(PERMIT, &bound).ok_or(Error::Sealed)?;
        Ok(format!("{}.{}", permit.id, domain::hex(&seal)))
    }
}

fn is_own(action: &Action, caller: &Caller) -> bool {
    action.require_agent(&caller.actor).is_ok() && action.require_access(caller).is_ok()
}
