//! Manages step leases: a worker claims a due step, extends its lease and releases it, and events wake sleeping steps.

use std::time::Duration;

use domain::suggestion::AnswerPattern;
use domain::{
    ActionState, Actor, ActorKind, EntryPoint, Interaction, ProjectName, Question, Refusal, Scope, Session, SessionId,
    SessionInput, Status, Step, StepEnd, StepEnding, StepId, Timestamp,
};
use serde_json::json;
use store::{AnswerSource, Cost, DueStep, JournalEntry, Page, StepState, Topic};

use crate::run::pages::Pages;
use crate::run::transaction::{Originator, Work};
use crate::sessions;
use crate::steps;
use crate::steps::journal::BATCH;
use crate::{Engine, Error};

/// Claim of a worker on a step. Its number fences all writes under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepClaim {
    /// Tenant and project of the step.
    pub scope: Scope,
    /// Identifier of the session.
    pub session: SessionId,
    /// Identifier of the step.
    pub step: StepId,
    /// Claim number; a write under an older claim is refused.
    pub number: u64,
    /// Agent in whose name the worker acts.
    pub agent: Actor,
}

/// State that a worker gets with a claim.
#[derive(Debug, Clone)]
pub struct ClaimedStep {
    /// Claim of the worker.
    pub claim: StepClaim,
    /// Session of the step.
    pub session: Session,
    /// Input with which the session was opened.
    pub session_input: SessionInput,
    /// Step that the worker claimed.
    pub step: Step,
    /// All steps of the session, oldest first.
    pub steps: Vec<Step>,
    /// Last saved state of the step.
    pub state: Option<StepState>,
    /// Whether the previous worker did not release the step in good order: it died, or met an error.
    pub left_behind: bool,
    /// Name of the project that the step belongs to.
    pub project: ProjectName,
}

/// Events that a step would sleep on.
#[derive(Debug, Clone, Default)]
pub struct StepSleep {
    /// Length of the journal as the worker knows it.
    pub journal: u64,
    /// Open questions that the step asked itself.
    pub questions: Vec<domain::InteractionId>,
    /// Calls whose actions are not settled.
    pub calls: Vec<String>,
    /// Whether the step waits for a message.
    pub listening: bool,
}

impl Engine {
    /// Returns due steps, and the time until the next step is due.
    pub async fn steps_due(&self, limit: u32) -> Result<(Vec<DueStep>, Option<Duration>), Error> {
        self.read(Cost::Point, move |reads| {
            let now = reads.now()?;
            let due = reads.steps_due(now, limit)?;
            let next = reads.next_step_due()?;
            let wait = next.map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
            Ok((due, wait))
        })
        .await
    }

    /// Claims a step. Returns `None` if another worker was first or the step is not due.
    pub async fn step_claim(&self, due: DueStep, worker: &str) -> Result<Option<ClaimedStep>, Error> {
        let worker = worker.to_owned();
        let length = self.settings().step_lease;
        let originator = Originator::worker(&Actor::system());
        let claimed = self.transact_as(originator, move |work| {
            let DueStep { scope, session, step } = due;
            let mut session = sessions::lock(work, &scope, session)?;
            let Some(step) = work.tx.step(&scope, step)?.filter(|step| step.due().is_some_and(|at| at <= work.now))
            else {
                return Ok(None);
            };
            if session.require_not_paused().is_err() {
                // The step is woken when the session resumes.
                work.tx.step_save(&scope, &step.release(None))?;
                return Ok(None);
            }
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let begun = step.lease.as_ref().is_some_and(|lease| lease.claims == 0);
            let left_behind = step.lease.as_ref().is_some_and(|lease| lease.worker.is_some() || lease.idle > 0);
            let step = step.claim(&worker, work.now, until)?;
            if step.is_hopeless() {
                let trouble = step.lease.as_ref().and_then(|lease| lease.trouble.clone());
                let why = trouble
                    .unwrap_or_else(|| "each worker that claimed the step died before it made progress".to_owned());
                steps::finish(work, session, step, StepEnd::because(StepEnding::Failed, why))?;
                return Ok(None);
            }
            let agent = agent_of(&step);
            work.tx.step_save(&scope, &step)?;
            if begun {
                work.record_event(&mut session, None, step.status_event(&agent))?;
                sessions::save(work, &session)?;
            }
            let number = step.lease.as_ref().map_or(0, |lease| lease.claims);
            let claim = StepClaim { scope, session: session.id, step: step.id, number, agent };
            let session_input = work.tx.session_input(&scope, session.id)?.unwrap_or_default();
            let (steps, state) = (work.tx.steps(&scope, session.id)?, work.tx.step_state(&scope, step.id)?);
            let (tenant, project) = work.tx.scope_names(&scope)?.ok_or(Refusal::NotFound("project"))?;
            let project = ProjectName::new(tenant, project);
            Ok(Some(ClaimedStep { claim, session, session_input, step, steps, state, left_behind, project }))
        });
        match claimed.await {
            Err(Error::Refused(Refusal::StepLost | Refusal::NotFound(_))) => Ok(None),
            claimed => claimed,
        }
    }

    /// Extends the lease of a step. Refused if the step has ended or another worker has claimed it.
    pub async fn step_extend_lease(&self, claim: &StepClaim) -> Result<(), Error> {
        let (claim, length) = (claim.clone(), self.settings().step_lease);
        self.transact_as(Originator::worker(&claim.agent), move |work| {
            let (_, step) = lock_claimed(work, &claim)?;
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            Ok(work.tx.step_save(&claim.scope, &step.extend_lease(until))?)
        })
        .await
    }

    /// Refuses a claim that is no longer in force.
    pub async fn step_require_claim(&self, claim: &StepClaim) -> Result<(), Error> {
        let claim = claim.clone();
        self.read(Cost::Point, move |reads| {
            let step = reads.step(&claim.scope, claim.step)?.ok_or(Refusal::StepLost)?;
            step.require_claim(claim.number)?;
            Ok(())
        })
        .await
    }

    /// Whether people have paused the session of a step.
    pub async fn is_step_paused(&self, claim: &StepClaim) -> Result<bool, Error> {
        let (scope, session) = (claim.scope, claim.session);
        self.read(Cost::Point, move |reads| {
            let session = reads.session(&scope, session)?.ok_or(Refusal::NotFound("session"))?;
            Ok(session.require_not_paused().is_err())
        })
        .await
    }

    /// Whether the session of a step has ended.
    pub async fn is_step_session_ended(&self, claim: &StepClaim) -> Result<bool, Error> {
        let (scope, session) = (claim.scope, claim.session);
        self.read(Cost::Point, move |reads| {
            Ok(reads.session(&scope, session)?.is_none_or(|session| session.ended.is_some()))
        })
        .await
    }

    /// Releases a step. Any worker may claim it at once.
    pub async fn step_release(&self, claim: &StepClaim) -> Result<(), Error> {
        let claim = claim.clone();
        self.transact_as(Originator::worker(&claim.agent), move |work| {
            let (_, step) = lock_claimed(work, &claim)?;
            work.tx.step_save(&claim.scope, &step.sleep(Some(work.now)))?;
            work.effects.topics.push(Topic::Steps);
            Ok(())
        })
        .await
    }

    /// Releases a step after an error of the worker. The delay before the next claim grows with each error.
    pub async fn step_report_trouble(&self, claim: &StepClaim, why: String) -> Result<(), Error> {
        let claim = claim.clone();
        self.transact_as(Originator::worker(&claim.agent), move |work| {
            let (mut session, step) = lock_claimed(work, &claim)?;
            let times = step.lease.as_ref().map_or(0, |lease| lease.idle.min(6));
            let due = later(work.now, domain::SignedDuration::from_secs(1 << times));
            let step = step.record_trouble(why.clone(), due);
            work.tx.step_save(&claim.scope, &step)?;
            report_trouble(work, &mut session, &step)?;
            sessions::save(work, &session)
        })
        .await
    }

    /// Puts a step to sleep. Returns `false` if an event that it would sleep on has already happened.
    pub async fn step_sleep(&self, claim: &StepClaim, sleep: StepSleep) -> Result<bool, Error> {
        let claim = claim.clone();
        self.transact_as(Originator::worker(&claim.agent), move |work| {
            let (session, step) = lock_claimed(work, &claim)?;
            let held = session.require_not_paused().is_err();
            if !held && !can_sleep(work, &claim, &step, &sleep)? {
                return Ok(false);
            }
            work.tx.step_save(&claim.scope, &step.sleep(None))?;
            Ok(true)
        })
        .await
    }

    /// Returns the journal entries of a step after a number.
    pub async fn step_journal_after(&self, claim: &StepClaim, after: u64) -> Result<Vec<JournalEntry>, Error> {
        let (scope, step) = (claim.scope, claim.step);
        self.read(Cost::Scan, move |reads| {
            let page = Page { after: Some(after), limit: BATCH };
            let (mut all, mut pages) = (Vec::new(), Pages::from(page, |entry: &JournalEntry| entry.seq));
            while let Some(found) = pages.next(|page| reads.journal(&scope, step, page))? {
                all.extend(found);
            }
            Ok(all)
        })
        .await
    }
}

/// Agent in whose name a step is run.
fn agent_of(step: &Step) -> Actor {
    let name = step.agent.clone().or_else(|| step.name.clone()).unwrap_or_else(|| "holdpoint".into());
    Actor { kind: ActorKind::Agent, name }
}

/// Locks the session of a claim and reads its step. Refuses a claim that is no longer in force.
pub(crate) fn lock_claimed(work: &mut Work<'_>, claim: &StepClaim) -> Result<(Session, Step), Error> {
    let session = sessions::lock(work, &claim.scope, claim.session)?;
    let step = work.tx.step(&claim.scope, claim.step)?.ok_or(Refusal::StepLost)?;
    step.require_claim(claim.number)?;
    Ok((session, step))
}

/// Whether all events that a step would sleep on are still to come.
fn can_sleep(work: &mut Work<'_>, claim: &StepClaim, step: &Step, sleep: &StepSleep) -> Result<bool, Error> {
    if step.lease.as_ref().is_none_or(|lease| lease.journal != sleep.journal) {
        return Ok(false);
    }
    if sleep.questions.is_empty() && sleep.calls.is_empty() && !sleep.listening {
        // No event would ever wake the step.
        return Ok(false);
    }
    for id in &sleep.questions {
        let open = work.tx.interaction(&claim.scope, *id)?.is_some_and(|asked| asked.status() == Status::Pending);
        if !open {
            return Ok(false);
        }
    }
    for call in &sleep.calls {
        let Some(action) = work.tx.action(&claim.scope, claim.session, call)? else { return Ok(false) };
        let unsettled = match &action.state {
            ActionState::Waiting { .. } | ActionState::Started { .. } => true,
            ActionState::Unknown { interaction, .. } => interaction.is_some(),
            // The client of the runner will start the action. Without a runner, the worker itself has to start it.
            ActionState::Allowed { .. } => action.runner.is_some() && action.may_start(work.now),
            ActionState::Denied
            | ActionState::Rejected { .. }
            | ActionState::Done { .. }
            | ActionState::Failed { .. } => false,
        };
        if !unsettled {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Publishes why a step is tried again, and when.
pub(crate) fn report_trouble(work: &mut Work<'_>, session: &mut Session, step: &Step) -> Result<(), Error> {
    let by = work.by().clone();
    step.trouble_event(&by).map_or(Ok(()), |draft| steps::publish(work, session, &draft))
}

/// Wakes the step of a session after an event that the step may sleep on.
pub(crate) fn wake(work: &mut Work<'_>, session: &Session) -> Result<(), Error> {
    if !session.hosted || session.ended.is_some() || session.require_not_paused().is_err() {
        return Ok(());
    }
    let Some(step) = work.tx.step(&session.scope, session.step)? else { return Ok(()) };
    let woken = step.wake(work.now);
    // A worker that holds the step is notified too, because it may wait for this event. Events of workers themselves do not notify it.
    if woken.is_some() || work.originator.how.entry_point != EntryPoint::Worker {
        work.effects.topics.push(Topic::Steps);
    }
    if let Some(woken) = woken {
        work.tx.step_save(&session.scope, &woken)?;
    }
    Ok(())
}

/// Counts an answer of people to a hosted step, so that it can be suggested later.
pub(crate) fn count_answer(work: &mut Work<'_>, session: &Session, interaction: &Interaction) -> Result<(), Error> {
    let Some(pattern) = AnswerPattern::of(interaction) else { return Ok(()) };
    let step = work.tx.step(&session.scope, session.step)?;
    let source = answer_source(session, step.as_ref(), &interaction.question);
    let answer = json!({ "option": pattern.option, "data": pattern.data });
    Ok(work.tx.answer_count_increment(&session.scope, &source, &pattern.digest.to_string(), &answer, work.now)?)
}

/// Returns the group in which an answer is counted: the step of a flow, or the agent if there is no flow.
///
/// An agent without a flow asks about many subjects. Its chosen options and filled forms are suggested wherever they fit. A free text would fit
/// everywhere, so it is counted for questions of the same title only.
pub(crate) fn answer_source(session: &Session, step: Option<&Step>, question: &Question) -> AnswerSource {
    let name = step.and_then(|step| step.name.as_deref());
    let place = if let (Some(flow), Some(name)) = (&session.head.flow, name) {
        format!("{flow}/{name}")
    } else {
        let agent = step.and_then(|step| step.agent.clone()).unwrap_or_default();
        let free = question.options.is_empty() && question.form().is_none();
        if free { format!("{agent}: {}", question.title) } else { agent }
    };
    AnswerSource { place, kind: question.kind.kind_name() }
}

/// Time at which a step may be tried again.
pub(crate) fn later(now: Timestamp, rest: domain::SignedDuration) -> Timestamp {
    now.saturating_add(rest).unwrap_or(now)
}
