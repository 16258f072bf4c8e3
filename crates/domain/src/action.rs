//! Actions: the tool calls that agents propose, from the ruling of the policy to the outcome.
//!
//! ```text
//! proposed ── allow, or a grant ──> allowed (permit) ── start ──> started ── outcome ──> done | failed
//! proposed ── ask ──> waiting ── approve, edit ──> allowed            └── lease over, or nobody knows ──> unknown
//!                     waiting ── anything else ──> rejected               unknown ── a person says ──> allowed | done | failed
//! proposed ── deny ──> denied                 allowed ── its step ends, or its client does not begin in time ──> failed
//! ```
//!
//! Only an `allowed` action can be started, and only with its permit, which is valid once and for exactly this call.

mod call;
mod state;

pub use call::{check_arguments, is_reserved, is_same_apart_from_content};
pub use state::{ActionState, ActionStatus, Outcome, Permit};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::audit::AuditDetails;
use crate::audit::details::{ActionDetails, OutcomeDetails, RejectionDetails};
use crate::event::{ActionRejected, ActionRuled, ActionSettled, ActionStarted, OutcomeAnswer, RulingSummary};
use crate::interaction::Interaction;
use crate::ruling::Verdict;
use crate::{
    Actor, AgentEnvironment, Call, Caller, Digest, Effect, EventDraft, EventKind, GrantId, InteractionId, PermitId,
    Refusal, Resolution, Role, Ruling, Scope, SessionId, State, StepId,
};

/// Failure message of an action that its client did not start before the permit expired.
const NOT_BEGUN: &str = "it was allowed, and was not started in time";

/// A tool call that an agent proposed. The agent chooses `call_id`, which is unique in its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// Tenant and project of the action.
    pub scope: Scope,
    /// Session in which the action was proposed.
    pub session: SessionId,
    /// Identifier of the action in its session, chosen by the agent.
    #[serde(rename = "call")]
    pub call_id: String,
    /// Proposed call. It never changes; `edited` holds the arguments of a person's edit.
    #[serde(rename = "action")]
    pub call: Call,
    /// Arguments that a person put in place of the proposed ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    /// Agent that proposed the action.
    pub proposed_by: Actor,
    /// Role of the key with which it was proposed.
    pub role: Role,
    /// Program and directory for which that key was made.
    #[serde(default, skip_serializing_if = "AgentEnvironment::is_unknown")]
    pub environment: AgentEnvironment,
    /// Time of the proposal.
    pub at: Timestamp,
    /// Ruling of the policy on the call.
    pub ruling: Ruling,
    /// Grant that allowed the action without a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantId>,
    /// Whether the tool may run again when the outcome of a run is unknown.
    #[serde(default)]
    pub repeatable: bool,
    /// Whether a worker of this server proposed the action, for a step of a hosted agent.
    #[serde(rename = "driven", default, skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// Actor who may also start the action and report on it: the one who opened the session, if their client runs the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Actor>,
    /// Step for which a worker of this server proposed the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// Hash of the file content that the action replaces, as it was when the action was proposed.
    #[serde(rename = "seen", default, skip_serializing_if = "Option::is_none")]
    pub expected_content: Option<String>,
    /// Questions that were asked about the action, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<InteractionId>,
    /// State of the action.
    #[serde(rename = "standing")]
    pub state: ActionState,
    /// Number of changes. A write is refused unless it follows the stored revision.
    pub revision: u64,
}

/// A transition: the new action, and the event that records the change.
pub type ActionChange = (Action, EventDraft);

impl Action {
    /// Status that the API shows. An action whose permit has expired is `rejected`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> ActionStatus {
        if let ActionState::Allowed { permit } = &self.state
            && permit.expires_at <= now
        {
            ActionStatus::Rejected
        } else {
            self.state.status()
        }
    }

    /// Whether the action has a permit that has not expired at `now`.
    #[must_use]
    pub fn may_start(&self, now: Timestamp) -> bool {
        matches!(&self.state, ActionState::Allowed { permit } if now < permit.expires_at)
    }

    /// Shortens the permit, if there is one, to expire at `end` at the latest.
    #[must_use]
    pub fn limit_permit(mut self, end: Timestamp) -> Self {
        if let ActionState::Allowed { permit } = &mut self.state {
            permit.expires_at = permit.expires_at.min(end);
        }
        self
    }

    /// Call that may run: the proposed one, with the arguments of a person's edit if there was one.
    #[must_use]
    pub fn effective(&self) -> Call {
        let arguments = self.edited.as_ref().unwrap_or(&self.call.arguments);
        Call { tool: self.call.tool.clone(), arguments: arguments.clone() }
    }

    /// Hash of the file content that reviewers saw; the write fails if it has changed since. `None` if nobody was asked, or if an edit
    /// names another file, whose content no reviewer saw.
    #[must_use]
    pub fn replaces(&self) -> Option<&str> {
        let there = self.edited.as_ref().is_none_or(|edited| is_same_apart_from_content(&self.call.arguments, edited));
        self.expected_content.as_deref().filter(|_| !self.asked.is_empty() && there)
    }

    /// Refuses a second proposal under this `call_id` unless it is by the same agent and has the same call.
    pub fn require_same(&self, call: &Call, by: &Actor) -> Result<(), Refusal> {
        self.require_agent(by)?;
        if self.call.digest() == call.digest() { Ok(()) } else { Err(Refusal::CallConflict(self.call_id.clone())) }
    }

    /// Refuses every actor but the agent that proposed the action and its runner.
    pub fn require_agent(&self, by: &Actor) -> Result<(), Refusal> {
        let may = by.name == self.proposed_by.name || self.runner.as_ref() == Some(by);
        if may { Ok(()) } else { Err(Refusal::NotYourAction) }
    }

    /// Refuses a caller who merely has the name of a hosted agent: an action of a worker is for workers, and for the client that runs it.
    pub fn require_access(&self, caller: &Caller) -> Result<(), Refusal> {
        let client = self.runner.as_ref() == Some(&caller.actor);
        if self.hosted && !caller.is_worker() && !client { Err(Refusal::NotYourAction) } else { Ok(()) }
    }

    /// Event that records the proposal and the ruling on it.
    #[must_use]
    pub fn proposed_event(&self) -> EventDraft {
        let Ruling { verdict, rule, reason, policy, floor } = self.ruling.clone();
        let ruling = RulingSummary { verdict, rule, policy, reason, floor, grant: self.grant };
        let ruled = ActionRuled { ruling: Some(ruling), ..self.ruled() };
        let kind = match &self.state {
            ActionState::Allowed { .. } => EventKind::ActionAllowed(ruled),
            ActionState::Denied => EventKind::ActionDenied(ruled),
            ActionState::Waiting { .. }
            | ActionState::Rejected { .. }
            | ActionState::Started { .. }
            | ActionState::Done { .. }
            | ActionState::Failed { .. }
            | ActionState::Unknown { .. } => EventKind::ActionWaiting(ruled),
        };
        EventDraft::by(&self.proposed_by, kind).recording(self.audit_details())
    }

    /// Allows an action that waits or whose outcome is unknown, with other arguments if a person edited them.
    pub fn release(self, by: &Actor, permit: Permit, edited: Option<Value>) -> Result<ActionChange, Refusal> {
        match self.state {
            ActionState::Waiting { .. } | ActionState::Unknown { .. } => {}
            ActionState::Allowed { .. }
            | ActionState::Denied
            | ActionState::Rejected { .. }
            | ActionState::Started { .. }
            | ActionState::Done { .. }
            | ActionState::Failed { .. } => return Err(self.not_in(ActionStatus::Waiting)),
        }
        let edited = edited.or_else(|| self.edited.clone());
        let after = Self { edited, ..self }.with_state(ActionState::Allowed { permit });
        let ruled = ActionRuled { edited: Some(after.edited.is_some()), ..after.ruled() };
        let draft = EventDraft::by(by, EventKind::ActionAllowed(ruled)).recording(after.audit_details());
        Ok((after, draft))
    }

    /// Rejects an action that waits.
    pub fn reject(self, by: Actor, effect: Option<Effect>, feedback: Option<String>) -> Result<ActionChange, Refusal> {
        if !matches!(self.state, ActionState::Waiting { .. }) {
            return Err(self.not_in(ActionStatus::Waiting));
        }
        let rejected = ActionRejected { call_id: self.call_id.clone(), tool: self.call.tool.clone(), effect };
        let draft = EventDraft::by(&by, EventKind::ActionRejected(rejected))
            .recording(AuditDetails::Rejection(RejectionDetails { feedback: feedback.clone() }));
        Ok((self.with_state(ActionState::Rejected { by, effect, feedback }), draft))
    }

    /// Fails an action that was allowed and will not be started. `None` in any other state.
    #[must_use]
    pub fn abandon(self, why: &str) -> Option<ActionChange> {
        if !matches!(self.state, ActionState::Allowed { .. }) {
            return None;
        }
        let draft = EventDraft::plain(EventKind::ActionFailed(self.settled_because(why)));
        Some((self.with_state(ActionState::Failed { message: why.to_owned(), result: Value::Null }), draft))
    }

    /// Keeps the action waiting on a second question, because one person's edit needs the approval of others.
    pub fn ask_others(
        self,
        by: &Actor,
        interaction: InteractionId,
        edited: Value,
        ruling: Ruling,
    ) -> Result<ActionChange, Refusal> {
        if !matches!(self.state, ActionState::Waiting { .. }) {
            return Err(self.not_in(ActionStatus::Waiting));
        }
        let mut after = Self { edited: Some(edited), ruling, ..self };
        after.asked.push(interaction);
        let ruled = ActionRuled { edited: Some(true), ..after.ruled() };
        let draft = EventDraft::by(by, EventKind::ActionWaiting(ruled)).recording(after.audit_details());
        Ok((after.with_state(ActionState::Waiting { interaction }), draft))
    }

    /// Starts the action and spends its permit. A second start and any other permit are refused.
    pub fn start(
        self,
        by: &Actor,
        permit: PermitId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<ActionChange, Refusal> {
        self.require_agent(by)?;
        let ActionState::Allowed { permit: good } = &self.state else { return Err(self.not_in(ActionStatus::Allowed)) };
        if good.id != permit || good.digest != self.effective().digest().to_string() {
            return Err(Refusal::PermitUnknown);
        }
        if good.expires_at <= now {
            return Err(Refusal::PermitExpired { at: good.expires_at });
        }
        let started = ActionStarted { call_id: self.call_id.clone(), tool: self.call.tool.clone(), until };
        let draft = EventDraft::by(by, EventKind::ActionStarted(started)).recording(self.audit_details());
        Ok((self.with_state(ActionState::Started { permit, since: now, until }), draft))
    }

    /// Refuses the start if today's policy denies the call, or asks about a call that was allowed without a question.
    pub fn require_current_ruling(&self, ruling: &Ruling) -> Result<(), Refusal> {
        let by_itself = self.ruling.verdict == Verdict::Allow && self.asked.is_empty();
        match ruling.verdict {
            Verdict::Deny => Err(Refusal::NowDenied(Box::new(ruling.clone()))),
            Verdict::Ask if by_itself => Err(Refusal::NowAsked(Box::new(ruling.clone()))),
            Verdict::Ask | Verdict::Allow => Ok(()),
        }
    }

    /// Grant without which the action may not run, because today's policy asks about the call and nobody was asked. `None` if the action needs
    /// no grant.
    #[must_use]
    pub fn required_grant(&self, ruling: &Ruling) -> Option<GrantId> {
        self.grant.filter(|_| ruling.verdict == Verdict::Ask && self.asked.is_empty())
    }

    /// Records the agent's report on a run. An unknown outcome can still be reported; a reported outcome is final.
    pub fn report(self, by: &Actor, outcome: Outcome, run: Option<PermitId>) -> Result<ActionChange, Refusal> {
        self.require_agent(by)?;
        self.require_run(run)?;
        match (&self.state, &outcome) {
            (ActionState::Started { .. }, _) => {}
            // A late report settles an unknown outcome.
            (ActionState::Unknown { .. }, Outcome::Done { .. } | Outcome::Failed { .. }) => {}
            (ActionState::Unknown { .. }, Outcome::Unknown)
            | (
                ActionState::Allowed { .. }
                | ActionState::Waiting { .. }
                | ActionState::Denied
                | ActionState::Rejected { .. }
                | ActionState::Done { .. }
                | ActionState::Failed { .. },
                _,
            ) => return Err(self.not_in(ActionStatus::Started)),
        }
        let details = match &outcome {
            Outcome::Done { result } => Some(OutcomeDetails { message: None, result: result.clone() }),
            Outcome::Failed { message, result } => {
                Some(OutcomeDetails { message: Some(message.clone()), result: result.clone() })
            }
            Outcome::Unknown => None,
        };
        let settled = self.settled();
        let (kind, state) = match outcome {
            Outcome::Done { result } => (EventKind::ActionDone(settled), ActionState::Done { result }),
            Outcome::Failed { message, result } => {
                (EventKind::ActionFailed(settled), ActionState::Failed { message, result })
            }
            Outcome::Unknown => (EventKind::ActionUnknown(settled), self.unknown(None)),
        };
        let details = details.map(AuditDetails::Outcome);
        Ok((self.with_state(state), EventDraft { details, ..EventDraft::by(by, kind) }))
    }

    /// Refuses a report that names another run than the one that was started last.
    fn require_run(&self, run: Option<PermitId>) -> Result<(), Refusal> {
        match (self.state.run(), run) {
            (Some(last), Some(run)) if last != run => Err(Refusal::AnotherRun(last)),
            _ => Ok(()),
        }
    }

    /// Extends the lease of a run to `until`. There is no event for it.
    pub fn extend_lease(self, by: &Actor, until: Timestamp, run: Option<PermitId>) -> Result<Self, Refusal> {
        self.require_agent(by)?;
        self.require_run(run)?;
        let ActionState::Started { permit, since, .. } = self.state else {
            return Err(self.not_in(ActionStatus::Started));
        };
        Ok(self.with_state(ActionState::Started { permit, since, until }))
    }

    /// Applies the passage of time: the outcome was not reported within the lease, or the client did not start the action. `None` while
    /// there is time left. `again` is a permit for another run. It is given only if an agent or client is left that could start it.
    #[must_use]
    pub fn lapse(self, again: Option<Permit>, now: Timestamp) -> Option<ActionChange> {
        match &self.state {
            ActionState::Started { until, .. } if *until <= now => {}
            ActionState::Allowed { permit } if self.runner.is_some() && permit.expires_at <= now => {
                let draft = EventDraft::plain(EventKind::ActionFailed(self.settled_because(NOT_BEGUN)));
                let state = ActionState::Failed { message: NOT_BEGUN.into(), result: Value::Null };
                return Some((self.with_state(state), draft));
            }
            ActionState::Allowed { .. }
            | ActionState::Waiting { .. }
            | ActionState::Denied
            | ActionState::Rejected { .. }
            | ActionState::Started { .. }
            | ActionState::Done { .. }
            | ActionState::Failed { .. }
            | ActionState::Unknown { .. } => return None,
        }
        let settled = self.settled_because("its outcome was not reported in time");
        if let Some(permit) = again.filter(|_| self.repeatable) {
            let draft = EventDraft::plain(EventKind::ActionOffered(settled));
            return Some((self.with_state(ActionState::Allowed { permit }), draft));
        }
        let unknown = self.unknown(None);
        Some((self.with_state(unknown), EventDraft::plain(EventKind::ActionUnknown(settled))))
    }

    /// Records the question that asks people about an unknown outcome. The question has an event of its own.
    #[must_use]
    pub fn ask_about_outcome(mut self, interaction: InteractionId) -> Self {
        self.asked.push(interaction);
        let unknown = self.unknown(Some(interaction));
        self.with_state(unknown)
    }

    /// Settles an unknown outcome by a person's answer.
    pub fn recount(
        self,
        by: &Actor,
        effect: Option<Effect>,
        feedback: Option<String>,
    ) -> Result<ActionChange, Refusal> {
        if !matches!(self.state, ActionState::Unknown { .. }) {
            return Err(self.not_in(ActionStatus::Unknown));
        }
        let settled = ActionSettled { answer: Some(OutcomeAnswer { effect }), ..self.settled() };
        let (kind, state) = match effect {
            Some(Effect::Provide) => {
                let result = feedback.map_or(Value::Null, Value::String);
                (EventKind::ActionDone(settled), ActionState::Done { result })
            }
            Some(Effect::Reject | Effect::Terminate) => {
                let message = feedback.unwrap_or_else(|| "a person reported that it failed".into());
                (EventKind::ActionFailed(settled), ActionState::Failed { message, result: Value::Null })
            }
            None | Some(Effect::Approve | Effect::Edit | Effect::Retry | Effect::Skip | Effect::Custom) => {
                (EventKind::ActionUnknown(settled), self.unknown(None))
            }
        };
        Ok((self.with_state(state), EventDraft::by(by, kind)))
    }

    /// Time at which `lapse` next has an effect.
    #[must_use]
    pub const fn wake_at(&self) -> Option<Timestamp> {
        match &self.state {
            ActionState::Started { until, .. } => Some(*until),
            // A step that sleeps until its client has run the action must learn that the action will not run.
            ActionState::Allowed { permit } if self.runner.is_some() => Some(permit.expires_at),
            ActionState::Allowed { .. }
            | ActionState::Waiting { .. }
            | ActionState::Denied
            | ActionState::Rejected { .. }
            | ActionState::Done { .. }
            | ActionState::Failed { .. }
            | ActionState::Unknown { .. } => None,
        }
    }

    /// Digest of the call that may run.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.effective().digest()
    }

    /// Payload of an event about whether the action may run.
    fn ruled(&self) -> ActionRuled {
        ActionRuled { call_id: self.call_id.clone(), tool: self.call.tool.clone(), ruling: None, edited: None }
    }

    /// Payload of an event about the outcome.
    fn settled(&self) -> ActionSettled {
        ActionSettled { call_id: self.call_id.clone(), tool: self.call.tool.clone(), reason: None, answer: None }
    }

    fn settled_because(&self, reason: &str) -> ActionSettled {
        ActionSettled { reason: Some(reason.to_owned()), ..self.settled() }
    }

    /// Data that only the audit trail records: the arguments as proposed and as edited, and the permit.
    fn audit_details(&self) -> AuditDetails {
        let permit = if let ActionState::Allowed { permit } = &self.state { Some(permit.clone()) } else { None };
        AuditDetails::Action(ActionDetails {
            arguments: self.call.arguments.clone(),
            digest: self.digest(),
            edited_arguments: self.edited.clone(),
            permit,
        })
    }

    /// State after a run whose outcome is not known.
    const fn unknown(&self, interaction: Option<InteractionId>) -> ActionState {
        ActionState::Unknown { interaction, permit: self.state.run() }
    }

    const fn not_in(&self, wanted: ActionStatus) -> Refusal {
        Refusal::ActionNot { wanted, state: self.state.status() }
    }

    fn with_state(self, state: ActionState) -> Self {
        Self { state, revision: self.revision + 1, ..self }
    }
}

/// Actor, effect and reason of the end of a question about an action. `None` while the question is open.
#[must_use]
pub fn verdict_of(interaction: &Interaction) -> Option<(Actor, Option<Effect>, Option<String>)> {
    let State::Resolved { resolution, .. } = &interaction.state else { return None };
    Some(match resolution {
        Resolution::Answered { answer, .. } | Resolution::AutoResolved { answer, .. } => {
            (answer.by.clone(), Some(answer.effect), answer.feedback.clone())
        }
        Resolution::Expired => (Actor::system(), None, Some("nobody answered in time".into())),
        Resolution::Cancelled { by, reason } => (by.clone(), None, Some(reason.clone())),
    })
}
