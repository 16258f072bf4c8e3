//! What an agent wants to do, from the ruling to the outcome.
//!
//! ```text
//! proposed ── allow, or a grant ──> allowed (permit) ── start ──> started ── outcome ──> done | failed
//! proposed ── ask ──> waiting ── approve, edit ──> allowed            └── lease over, or nobody knows ──> unknown
//!                     waiting ── anything else ──> rejected               unknown ── a person says ──> allowed | done | failed
//! proposed ── deny ──> denied                 allowed ── its step ends, or its client does not begin in time ──> failed
//! ```
//!
//! Only `allowed` leads to `started`, and only a permit leads there: single use, for exactly this call.

mod state;

pub use state::{ActionState, Outcome, Permit};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::interaction::Interaction;
use crate::ruling::Verdict;
use crate::{
    Actor, Call, Caller, Digest, Effect, EventDraft, GrantId, InteractionId, PermitId, Problem, Refusal, Resolution,
    Role, Ruling, Scope, SessionId, State, StepId, text,
};

/// Why what a client should have run is not run any more.
const NOT_BEGUN: &str = "it was allowed, and was not started in time";

/// One call that an agent proposed. Its name is the agent's own, unique in its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// Whose it is.
    pub scope: Scope,
    /// In which session.
    pub session: SessionId,
    /// The agent's name for the call.
    #[serde(rename = "call")]
    pub call_id: String,
    /// What was proposed; never changes.
    #[serde(rename = "action")]
    pub call: Call,
    /// The arguments that a person put in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    /// Who proposed it.
    pub proposed_by: Actor,
    /// The role of the key that did.
    pub role: Role,
    /// When.
    pub at: Timestamp,
    /// What policy said of it.
    pub ruling: Ruling,
    /// The grant that let it through, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantId>,
    /// Whether its tool says that it may be run again when nobody knows whether it ran.
    #[serde(default)]
    pub repeatable: bool,
    /// Whether a worker of ours proposed it, for a step that it runs.
    #[serde(rename = "driven", default, skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// Who else may start it and report on it: whoever opened the session, where their client runs the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Actor>,
    /// The step for which a worker of ours proposed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The mark of what it would replace, as that was when it was proposed.
    #[serde(rename = "seen", default, skip_serializing_if = "Option::is_none")]
    pub expected_content: Option<String>,
    /// The questions that were asked about it, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<InteractionId>,
    /// Where it is.
    #[serde(rename = "standing")]
    pub state: ActionState,
    /// How often it has changed. Guards every write.
    pub revision: u64,
}

/// A transition: what it became, and what happened.
pub type Change = (Action, EventDraft);

impl Call {
    /// Lists everything for which this action cannot be judged as it stands.
    pub fn check(&self, under: &str, problems: &mut Vec<Problem>) {
        text::line(&format!("{under}/tool"), &self.tool, problems);
        text::tool(&format!("{under}/tool"), &self.tool, problems);
        check_arguments(&format!("{under}/arguments"), &self.arguments, problems);
    }
}

/// Arguments are an object of bounded depth.
pub fn check_arguments(pointer: &str, arguments: &Value, problems: &mut Vec<Problem>) {
    if !arguments.is_object() {
        problems.push(Problem::new(pointer, "must be an object"));
    }
    text::depth(pointer, arguments, problems);
}

impl Action {
    /// The word for where it is, on the wire and in the stores. A permit that has run out allows nothing any more.
    #[must_use]
    pub fn state_name(&self, now: Timestamp) -> &'static str {
        match &self.state {
            ActionState::Allowed { permit } if permit.expires_at <= now => "rejected",
            state => state.name(),
        }
    }

    /// The same with a permit that is good until then at most.
    #[must_use]
    pub fn permitted_until(mut self, end: Timestamp) -> Self {
        if let ActionState::Allowed { permit } = &mut self.state {
            permit.expires_at = permit.expires_at.min(end);
        }
        self
    }

    /// What may run: the proposed action, or the one that a person put in its place.
    #[must_use]
    pub fn effective(&self) -> Call {
        let arguments = self.edited.as_ref().unwrap_or(&self.call.arguments);
        Call { tool: self.call.tool.clone(), arguments: arguments.clone() }
    }

    /// The mark of what may be replaced and nothing else: where people were asked, what was there when they were. Who gives another place than
    /// the one that they were asked about was shown nothing of it.
    #[must_use]
    pub fn replaces(&self) -> Option<&str> {
        let there = self.edited.as_ref().is_none_or(|edited| same_but_text(&self.call.arguments, edited));
        self.expected_content.as_deref().filter(|_| !self.asked.is_empty() && there)
    }

    /// Refuses a proposal of the same name that is not the same action.
    pub fn same(&self, action: &Call, by: &Actor) -> Result<(), Refusal> {
        self.of_agent(by)?;
        if self.call.digest() == action.digest() { Ok(()) } else { Err(Refusal::CallConflict(self.call_id.clone())) }
    }

    /// Refuses everybody but the agent that proposed it.
    pub fn of_agent(&self, by: &Actor) -> Result<(), Refusal> {
        let may = by.name == self.proposed_by.name || self.runner.as_ref() == Some(by);
        if may { Ok(()) } else { Err(Refusal::NotYourAction) }
    }

    /// Refuses whoever only has the name of the agent: what a worker of ours proposed is for our workers, and for the client that runs it.
    pub fn in_hands_of(&self, caller: &Caller) -> Result<(), Refusal> {
        let client = self.runner.as_ref() == Some(&caller.actor);
        if self.hosted && !caller.is_worker() && !client { Err(Refusal::NotYourAction) } else { Ok(()) }
    }

    /// What everybody is told of a fresh proposal.
    #[must_use]
    pub fn proposed(&self) -> EventDraft {
        let name = match &self.state {
            ActionState::Allowed { .. } => "action.allowed",
            ActionState::Denied => "action.denied",
            _ => "action.waiting",
        };
        let mut data = self.told();
        data["verdict"] = json!(self.ruling.verdict);
        data["rule"] = json!(self.ruling.rule);
        data["policy"] = json!(self.ruling.policy);
        data["reason"] = json!(self.ruling.reason);
        if let Some(floor) = &self.ruling.floor {
            data["floor"] = json!(floor);
        }
        if let Some(grant) = self.grant {
            data["grant"] = json!(grant);
        }
        EventDraft::by(name, &self.proposed_by, data).recording(self.kept())
    }

    /// People have released it, perhaps with other arguments.
    pub fn release(self, by: &Actor, permit: Permit, edited: Option<Value>) -> Result<Change, Refusal> {
        match self.state {
            ActionState::Waiting { .. } | ActionState::Unknown { .. } => {}
            _ => return Err(self.not_in("waiting")),
        }
        let edited = edited.or_else(|| self.edited.clone());
        let after = Self { edited, ..self }.became(ActionState::Allowed { permit });
        let mut data = after.told();
        data["edited"] = json!(after.edited.is_some());
        let happening = EventDraft::by("action.allowed", by, data).recording(after.kept());
        Ok((after, happening))
    }

    /// It will not run.
    pub fn reject(self, by: Actor, effect: Option<Effect>, feedback: Option<String>) -> Result<Change, Refusal> {
        if !matches!(self.state, ActionState::Waiting { .. }) {
            return Err(self.not_in("waiting"));
        }
        let mut data = self.told();
        data["effect"] = json!(effect);
        let happening = EventDraft::by("action.rejected", &by, data).recording(json!({ "feedback": feedback }));
        Ok((self.became(ActionState::Rejected { by, effect, feedback }), happening))
    }

    /// It was allowed and will not be begun. Nothing where there is nothing to take back.
    #[must_use]
    pub fn left(self, why: &str) -> Option<Change> {
        if !matches!(self.state, ActionState::Allowed { .. }) {
            return None;
        }
        let message = why.to_owned();
        let mut data = self.told();
        data["reason"] = json!(message);
        let happening = EventDraft::plain("action.failed", data);
        Some((self.became(ActionState::Failed { message, result: Value::Null }), happening))
    }

    /// Others are asked about what one person made of it.
    pub fn ask_others(
        self,
        by: &Actor,
        interaction: InteractionId,
        edited: Value,
        ruling: Ruling,
    ) -> Result<Change, Refusal> {
        if !matches!(self.state, ActionState::Waiting { .. }) {
            return Err(self.not_in("waiting"));
        }
        let mut after = Self { edited: Some(edited), ruling, ..self };
        after.asked.push(interaction);
        let mut data = after.told();
        data["edited"] = json!(true);
        let happening = EventDraft::by("action.waiting", by, data).recording(after.kept());
        Ok((after.became(ActionState::Waiting { interaction }), happening))
    }

    /// Spends the permit. A second time is refused, and so is any other permit.
    pub fn start(self, by: &Actor, permit: PermitId, now: Timestamp, until: Timestamp) -> Result<Change, Refusal> {
        self.of_agent(by)?;
        let ActionState::Allowed { permit: good } = &self.state else { return Err(self.not_in("allowed")) };
        if good.id != permit || good.digest != self.effective().digest().to_string() {
            return Err(Refusal::PermitUnknown);
        }
        if good.expires_at <= now {
            return Err(Refusal::PermitExpired { at: good.expires_at });
        }
        let mut data = self.told();
        data["until"] = json!(until);
        let happening = EventDraft::by("action.started", by, data).recording(self.kept());
        Ok((self.became(ActionState::Started { permit, since: now, until }), happening))
    }

    /// Refuses to run what policy has come to deny, and what it had let through by itself and has come to ask about.
    pub fn stands(&self, ruling: &Ruling) -> Result<(), Refusal> {
        let by_itself = self.ruling.verdict == Verdict::Allow && self.asked.is_empty();
        match ruling.verdict {
            Verdict::Deny => Err(Refusal::DeniedByNow(Box::new(ruling.clone()))),
            Verdict::Ask if by_itself => Err(Refusal::AskedByNow(Box::new(ruling.clone()))),
            Verdict::Ask | Verdict::Allow => Ok(()),
        }
    }

    /// The grant that alone lets it run, where policy asks about it and nobody was asked.
    #[must_use]
    pub fn stands_on(&self, ruling: &Ruling) -> Option<GrantId> {
        self.grant.filter(|_| ruling.verdict == Verdict::Ask && self.asked.is_empty())
    }

    /// Takes the agent's report. What nobody knew can still be told; what was told stays.
    pub fn report(self, by: &Actor, outcome: Outcome, run: Option<PermitId>) -> Result<Change, Refusal> {
        self.of_agent(by)?;
        self.is_run(run)?;
        match (&self.state, &outcome) {
            (ActionState::Started { .. }, _) => {}
            // Nobody knew, and now somebody does.
            (ActionState::Unknown { .. }, Outcome::Done { .. } | Outcome::Failed { .. }) => {}
            _ => return Err(self.not_in("started")),
        }
        let record = match &outcome {
            Outcome::Done { result } => json!({ "result": result }),
            Outcome::Failed { message, result } => json!({ "message": message, "result": result }),
            Outcome::Unknown => Value::Null,
        };
        let (name, state) = match outcome {
            Outcome::Done { result } => ("action.done", ActionState::Done { result }),
            Outcome::Failed { message, result } => ("action.failed", ActionState::Failed { message, result }),
            Outcome::Unknown => ("action.unknown", self.unknown(None)),
        };
        let happening = EventDraft::by(name, by, self.told()).recording(record);
        Ok((self.became(state), happening))
    }

    /// Refuses whoever speaks of another run than the one that was started last, where they say which.
    fn is_run(&self, run: Option<PermitId>) -> Result<(), Refusal> {
        match (self.state.run(), run) {
            (Some(last), Some(run)) if last != run => Err(Refusal::AnotherRun(last)),
            _ => Ok(()),
        }
    }

    /// Whoever runs it is still there: its outcome is waited for until later. Nothing that others are told.
    pub fn extend_lease(self, by: &Actor, until: Timestamp, run: Option<PermitId>) -> Result<Self, Refusal> {
        self.of_agent(by)?;
        self.is_run(run)?;
        let ActionState::Started { permit, since, .. } = self.state else { return Err(self.not_in("started")) };
        Ok(self.became(ActionState::Started { permit, since, until }))
    }

    /// Nobody reported in time, or the client that should have run it did not begin. `None` while there is time. There is another permit
    /// where somebody is left who could begin it again.
    #[must_use]
    pub fn lapse(self, again: Option<Permit>, now: Timestamp) -> Option<Change> {
        match &self.state {
            ActionState::Started { until, .. } if *until <= now => {}
            ActionState::Allowed { permit } if self.runner.is_some() && permit.expires_at <= now => {
                let mut data = self.told();
                data["reason"] = json!(NOT_BEGUN);
                let happening = EventDraft::plain("action.failed", data);
                let state = ActionState::Failed { message: NOT_BEGUN.into(), result: Value::Null };
                return Some((self.became(state), happening));
            }
            _ => return None,
        }
        let mut data = self.told();
        data["reason"] = json!("its outcome was not reported in time");
        if let Some(permit) = again.filter(|_| self.repeatable) {
            let happening = EventDraft::plain("action.offered", data);
            return Some((self.became(ActionState::Allowed { permit }), happening));
        }
        let happening = EventDraft::plain("action.unknown", data);
        let unknown = self.unknown(None);
        Some((self.became(unknown), happening))
    }

    /// People are asked what to do about an action of which nobody knows what became. Nothing that others are told apart.
    #[must_use]
    pub fn puzzled(mut self, interaction: InteractionId) -> Self {
        self.asked.push(interaction);
        let unknown = self.unknown(Some(interaction));
        self.became(unknown)
    }

    /// A person has said what became of an action of which nobody knew.
    pub fn recount(self, by: &Actor, effect: Option<Effect>, feedback: Option<String>) -> Result<Change, Refusal> {
        if !matches!(self.state, ActionState::Unknown { .. }) {
            return Err(self.not_in("unknown"));
        }
        let (name, state) = match effect {
            Some(Effect::Provide) => {
                ("action.done", ActionState::Done { result: feedback.map_or(Value::Null, Value::String) })
            }
            Some(Effect::Reject | Effect::Terminate) => {
                let message = feedback.unwrap_or_else(|| "a person says that it did not succeed".into());
                ("action.failed", ActionState::Failed { message, result: Value::Null })
            }
            _ => ("action.unknown", self.unknown(None)),
        };
        let mut data = self.told();
        data["effect"] = json!(effect);
        Ok((self.became(state), EventDraft::by(name, by, data)))
    }

    /// When time itself will next change something.
    #[must_use]
    pub const fn wake_at(&self) -> Option<Timestamp> {
        match &self.state {
            ActionState::Started { until, .. } => Some(*until),
            // Whoever sleeps on what a client is to run has to be told that it will not be run any more.
            ActionState::Allowed { permit } if self.runner.is_some() => Some(permit.expires_at),
            _ => None,
        }
    }

    /// The digest of what may run.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.effective().digest()
    }

    fn told(&self) -> Value {
        json!({ "call_id": self.call_id, "tool": self.call.tool })
    }

    /// What only the audit trail keeps: the arguments, as proposed and as edited, and the permit that they are good for.
    fn kept(&self) -> Value {
        let mut record = json!({ "arguments": self.call.arguments, "digest": self.digest() });
        if let Some(edited) = &self.edited {
            record["edited_arguments"] = edited.clone();
        }
        if let ActionState::Allowed { permit } = &self.state {
            record["permit"] = json!(permit);
        }
        record
    }

    /// Nobody knows what became of the run that was started last.
    const fn unknown(&self, interaction: Option<InteractionId>) -> ActionState {
        ActionState::Unknown { interaction, permit: self.state.run() }
    }

    fn not_in(&self, wanted: &'static str) -> Refusal {
        let state = self.state.name();
        Refusal::ActionNot { wanted, state }
    }

    fn became(self, state: ActionState) -> Self {
        Self { state, revision: self.revision + 1, ..self }
    }
}

/// Whether two calls are about the same place, whatever text they put there.
#[must_use]
pub fn same_but_text(one: &Value, other: &Value) -> bool {
    let rest = |arguments: &Value| {
        let mut rest = arguments.clone();
        rest.as_object_mut().map(|fields| fields.remove("content"));
        rest
    };
    rest(one) == rest(other)
}

/// Whether this is a name that a worker gives to the calls of a step: `s1t2c0`, the first call in the second turn of the first step.
#[must_use]
pub fn reserved(call: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(rest) = call.strip_prefix('s') else { return false };
    let Some((step, rest)) = rest.split_once('t') else { return rest.strip_suffix("before").is_some_and(number) };
    rest.split_once('c').is_some_and(|(turn, place)| number(step) && number(turn) && number(place))
}

/// How the end of a question about an action reads: who, which way, and why.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_a_worker_gives_are_reserved() {
        for call in ["s1t2c0", "s12t345c67", "s1before"] {
            assert!(reserved(call), "{call}");
        }
        for call in
            ["", "s", "sbefore", "s1", "t2c0", "st2c0", "s1t2", "s1tc0", "s1t2c", "s1t2c0x", "call_1", "s1before2"]
        {
            assert!(!reserved(call), "{call}");
        }
    }
}
