//! The payloads of events. Their JSON form is stored and sent; a field may be added, and none renamed or removed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Actor, Answer, AutoSource, DeliveryStatus, Effect, FloorRuling, GrantId, InteractionId, KindName, Question,
    SessionId, Verdict,
};

/// A session was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStarted {
    /// Agent that the session is for.
    pub agent: Option<String>,
    /// Channel of the session.
    pub channel: String,
    /// Title of the session.
    pub title: Option<String>,
    /// Flow that the session runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// A session was paused, resumed, ended or revived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionControlled {
    /// Reason, if one was given.
    pub reason: Option<String>,
}

/// A step of the session began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepBegun {
    /// Name of the step.
    pub name: Option<String>,
    /// Agent that runs the step.
    pub agent: Option<String>,
    /// Version of that agent.
    pub agent_version: Option<String>,
    /// Number of the attempt, from 1.
    pub attempt: u32,
}

/// A step of the session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepEnded {
    /// Name of the step.
    pub name: Option<String>,
    /// Agent that ran the step.
    pub agent: Option<String>,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Reason of the end, if there is one.
    pub reason: Option<String>,
    /// Output of the step.
    #[serde(default)]
    pub output: Value,
}

/// A worker met an error in a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTroubled {
    /// Name of the step.
    pub name: Option<String>,
    /// Agent that runs the step.
    pub agent: Option<String>,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Description of the error.
    pub reason: String,
    /// Time of the next try.
    pub retry_at: Option<Timestamp>,
}

/// A message was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageSent {
    /// Text of the message.
    pub content: String,
    /// Whether the message is a question that requires a reply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_reply: bool,
}

/// A model completed a turn. Clients read the arguments of its calls from the actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelTurn {
    /// Number of the turn, from 1.
    pub turn: u64,
    /// Text of the turn.
    #[serde(default)]
    pub text: String,
    /// Thinking of the turn.
    #[serde(default)]
    pub thinking: String,
    /// Names of the tools that the model called.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Tokens that the turn used.
    #[serde(default)]
    pub usage: Value,
}

/// A part of the text or of the thinking of a model, or the reason why a turn begins again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelText {
    /// Number of the turn, from 1.
    pub turn: u64,
    /// Part of the text or of the thinking, or the reason why the turn begins again.
    pub text: String,
}

/// A model could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFailed {
    /// Description of the error.
    pub reason: String,
}

/// Suggestions of a model were left out of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestionsDropped {
    /// Name that the worker gave the call that asks.
    pub call_id: String,
    /// Suggestions that were left out.
    pub dropped: Vec<DroppedSuggestion>,
}

/// A suggestion that was left out of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedSuggestion {
    /// Identifier that the model or the agent's version gave it.
    pub id: String,
    /// Reason why people do not see it.
    pub reason: String,
}

impl DroppedSuggestion {
    /// A suggestion with its identifier, which is shortened if it is too long.
    #[must_use]
    pub fn new(id: &str, reason: String) -> Self {
        Self { id: id.chars().take(128).collect(), reason }
    }
}

/// A question was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionAsked {
    /// Kind of the question.
    pub kind: KindName,
    /// Title of the question.
    pub title: String,
    /// Deadline of the question.
    pub deadline: Option<Timestamp>,
    /// Channel of the question.
    pub channel: String,
    /// Question that was handed over to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<InteractionId>,
}

impl InteractionAsked {
    /// Payload of a question in a channel, and the question that was handed over to it.
    pub(crate) fn new(question: &Question, channel: &str, handed_from: Option<InteractionId>) -> Self {
        Self {
            kind: question.kind.kind_name(),
            title: question.title.clone(),
            deadline: question.deadline,
            channel: channel.to_owned(),
            handed_from,
        }
    }
}

/// A person gave an answer that does not end the question yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionVoted {
    /// Effect of the answer.
    pub effect: Effect,
    /// Number of answers so far.
    pub votes: usize,
    /// Number of agreeing answers that the question needs.
    pub quorum: u32,
    /// Requirements of the policy that are met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<RequirementsMet>,
}

/// Number of requirements that the answers so far meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementsMet {
    /// Number of requirements that are met.
    pub met: usize,
    /// Number of all requirements.
    pub of: usize,
}

/// A question was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionAnswered {
    /// Effect of the answer.
    pub effect: Effect,
    /// Identifiers of the chosen options.
    pub options: Vec<String>,
}

impl InteractionAnswered {
    /// Payload of an answer: its effect and its options, never its data.
    pub(crate) fn new(answer: &Answer) -> Self {
        Self { effect: answer.effect, options: answer.options.clone() }
    }
}

/// A question was answered in place of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionAutoResolved {
    /// Effect and options of the answer.
    #[serde(flatten)]
    pub answer: InteractionAnswered,
    /// Source of the answer.
    pub source: AutoSource,
    /// Reason of the answer.
    pub reason: String,
}

/// A question ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionClosed {
    /// Reason of the end.
    pub reason: String,
}

/// The deadline of a question is near or has passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionDeadline {
    /// Deadline of the question.
    pub deadline: Option<Timestamp>,
}

/// A person claimed a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionClaimed {
    /// Time at which the claim ends.
    pub until: Timestamp,
}

/// The claim on a question ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionReleased {
    /// Person whose claim ran out. `None` if a person released the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<Actor>,
}

/// A person declared that they will not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionAbstained {
    /// Reason, if one was given.
    pub note: Option<String>,
    /// Number of people who have abstained.
    pub abstained: usize,
}

/// Too few people remain who could answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionDeserted {
    /// Number of agreeing answers that the question needs.
    pub quorum: u32,
    /// Number of people who have abstained.
    pub abstained: usize,
}

/// A question was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionHandedOver {
    /// Session of the new question.
    pub session: SessionId,
    /// Question that was opened in place of the first.
    pub interaction: InteractionId,
    /// Channel of the new question.
    pub channel: String,
    /// Reason, if one was given.
    pub note: Option<String>,
}

/// An agent took an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryTaken {
    /// Time at which the lease ends.
    pub until: Timestamp,
    /// State of the delivery.
    pub delivery: DeliveryStatus,
}

/// An agent continued with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryCompleted {
    /// State of the delivery.
    pub delivery: DeliveryStatus,
}

/// An answer came back from its agent, or no agent will take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryReturned {
    /// Reason why the answer came back or is not needed.
    pub reason: String,
    /// State of the delivery. `None` if a lease ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryStatus>,
}

/// The policy or a person decided whether an action may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRuled {
    /// Name that the agent gave the call.
    pub call_id: String,
    /// Tool of the call.
    pub tool: String,
    /// Ruling of the policy. `None` if a person decided.
    #[serde(flatten)]
    pub ruling: Option<RulingSummary>,
    /// Whether a person edited the arguments. `None` if the policy decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
}

/// Ruling of the policy on a proposed action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulingSummary {
    /// Verdict of the policy.
    pub verdict: Verdict,
    /// Rule that decided. `None` if no rule matched.
    pub rule: Option<String>,
    /// Version of the policy.
    pub policy: String,
    /// Reason of the verdict.
    pub reason: String,
    /// Ruling of the floor, if it was stricter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorRuling>,
    /// Grant that allowed the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantId>,
}

/// People rejected an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRejected {
    /// Name that the agent gave the call.
    pub call_id: String,
    /// Tool of the call.
    pub tool: String,
    /// Effect of the answer. `None` if the question ended without an answer.
    pub effect: Option<Effect>,
}

/// An agent started an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionStarted {
    /// Name that the agent gave the call.
    pub call_id: String,
    /// Tool of the call.
    pub tool: String,
    /// Time at which the lease of the run ends.
    pub until: Timestamp,
}

/// The outcome of an action was reported, or is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionSettled {
    /// Name that the agent gave the call.
    pub call_id: String,
    /// Tool of the call.
    pub tool: String,
    /// Reason why the outcome is unknown or was settled. `None` if the agent or a person reported the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Answer of a person who was asked for the outcome. `None` if no person was.
    #[serde(flatten)]
    pub answer: Option<OutcomeAnswer>,
}

/// Answer of a person who was asked for the outcome of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeAnswer {
    /// Effect of the answer. `None` if the question ended without an answer; the field is present even then.
    #[serde(deserialize_with = "Option::deserialize")]
    pub effect: Option<Effect>,
}

/// A model called a tool in a way that cannot be proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionUnusable {
    /// Name that the worker gave the call.
    pub call_id: String,
    /// Tool of the call.
    pub tool: String,
    /// Description of the error.
    pub reason: String,
}

/// A person allowed matching actions from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantGiven {
    /// Identifier of the grant.
    pub grant: GrantId,
    /// Tool that the grant allows.
    pub tool: String,
    /// Session in which the grant is in force. `None` for the whole project.
    pub session: Option<SessionId>,
    /// Time at which the grant expires.
    pub until: Option<Timestamp>,
    /// Number of actions that the grant allows.
    pub most_uses: Option<u64>,
    /// Call about which the person was asked.
    pub call_id: String,
}

/// Secrets of an agent were kept or used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretNames {
    /// Agent that may receive the secrets.
    pub agent: String,
    /// Names of the secrets.
    pub names: Vec<String>,
}
