//! Sessions on the wire.

use domain::step::StepPhase;
use domain::{Actor, Session, SessionId, SessionInput, SessionStatus, Step, StepId, StepStatus, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{HandedFromView, example};

/// Opens a session.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agent": "release-bot", "title": "Release 1.4", "metadata": { "ticket": "OPS-17" } }))]
pub struct StartBody {
    /// The agent's name. Where this server has an agent of that name, its workers run it.
    pub agent: Option<String>,
    /// The agent's version; the newest one if absent.
    pub agent_version: Option<String>,
    /// The flow that it follows, in place of an agent.
    pub flow: Option<String>,
    /// The flow's version; the newest one if absent.
    pub flow_version: Option<String>,
    /// Routes its questions; its own id if absent. Proves nothing.
    pub channel: Option<String>,
    /// One line.
    pub title: Option<String>,
    /// What the agent works on. An agent that this server runs ends with its last word on it; without input it waits for messages.
    #[serde(default)]
    pub input: Value,
    /// Given back untouched.
    #[serde(default)]
    pub metadata: Value,
}

/// A command for a session.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "command": "pause", "reason": "lunch" }))]
pub struct ControlBody {
    /// What to do.
    pub command: ControlCommand,
    /// The step that is meant, beside a command about a step; the one that the session is at if absent.
    #[schema(value_type = Option<String>)]
    pub step: Option<StepId>,
    /// Why, for the record and for the agent.
    pub reason: Option<String>,
    /// What came of the step, beside `approve_step`: steps after it read it as they would read what the step itself had given.
    #[schema(value_type = Option<Object>)]
    pub output: Option<Value>,
}

/// What can be done to a session, or to a step that this server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlCommand {
    /// Hold it.
    Pause,
    /// Let it go on.
    Resume,
    /// Stop it.
    Cancel,
    /// Its agent is done; for the agent itself.
    Complete,
    /// Its agent gave up; for the agent itself.
    Fail,
    /// Try a failed step again.
    RetryStep,
    /// Go on without the step.
    SkipStep,
    /// Go on as if the step had ended well.
    ApproveStep,
}

/// Something that is said to an agent which this server runs, or by an agent in a session of its own.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "content": "Use the second draft." }))]
pub struct MessageBody {
    /// What is said.
    pub content: String,
    /// Whether an agent that speaks in a session of its own wants a reply: then the message is also a question in the same channel, and
    /// its answer is a message too.
    #[serde(default)]
    pub requires_reply: bool,
}

/// A session.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::session)]
pub struct SessionView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: SessionId,
    /// The strongest of what is true of it.
    pub status: SessionStatus,
    /// Whether it is held. Independent of whether it waits.
    pub paused: bool,
    /// How many open questions its step sleeps on.
    pub waiting_on: u32,
    /// Routes its questions.
    pub channel: String,
    /// The agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The flow that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The flow's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_version: Option<String>,
    /// Whether the workers of this server run its steps.
    #[serde(rename = "driven")]
    pub hosted: bool,
    /// One line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who started it.
    pub started_by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// Why it ended or is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The question that was handed over, where it was opened for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<HandedFromView>,
    /// The number of its last event.
    pub last_seq: u64,
    /// What the agent works on; only where one session is read.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Given back untouched; only where one session is read.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// Its steps, the oldest first; only where one session is read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepView>,
    /// Give it as `steps_cursor` for the steps before these; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub steps_next: Option<StepId>,
}

/// One execution of one agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StepView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: StepId,
    /// Where it is.
    pub status: StepStatus,
    /// Its name in the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's version, where this server runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Which attempt it is, from 1.
    pub attempt: u32,
    /// When it was begun.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// What came of it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// Why it ended, where it did not end well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What kept it from going on the last time, while it is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// When it is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub retry_at: Option<Timestamp>,
}

/// A page of sessions.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::sessions)]
pub struct SessionsPage {
    /// The newest first.
    pub sessions: Vec<SessionView>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        let status = session.status();
        let (ended_at, reason) = match (session.ended, &session.paused) {
            (Some((_, note)), _) => (Some(note.at), note.reason),
            (None, Some(note)) => (None, note.reason.clone()),
            (None, None) => (None, None),
        };
        Self {
            id: session.id,
            status,
            paused: session.paused.is_some(),
            waiting_on: session.waiting_on,
            channel: session.head.channel,
            agent: session.head.agent,
            agent_version: session.head.agent_version,
            flow: session.head.flow,
            flow_version: session.head.flow_version,
            hosted: session.hosted,
            title: session.head.title,
            started_by: session.started_by,
            created_at: session.created_at,
            ended_at,
            reason,
            handed_from: session.handed_from.map(Into::into),
            last_seq: session.last_seq,
            input: Value::Null,
            metadata: Value::Null,
            steps: Vec::new(),
            steps_next: None,
        }
    }
}

impl SessionView {
    /// With everything that belongs to it; of its steps with those that were read, and before which one there are others.
    #[must_use]
    pub fn whole(session: Session, luggage: SessionInput, (steps, steps_next): (&[Step], Option<StepId>)) -> Self {
        let (open, current) = (session.waiting_on, session.step);
        let steps = steps.iter().map(|step| StepView::new(step, if step.id == current { open } else { 0 }));
        let steps = steps.collect();
        Self { input: luggage.input, metadata: luggage.metadata, steps, steps_next, ..Self::from(session) }
    }
}

impl StepView {
    /// What is shown of a step, so many questions of which are open.
    fn new(step: &Step, open: u32) -> Self {
        let (ended_at, output, reason) = match &step.phase {
            StepPhase::Pending | StepPhase::Running => (None, Value::Null, None),
            StepPhase::Ended { at, output, reason, .. } => (Some(*at), output.clone(), reason.clone()),
        };
        Self {
            id: step.id,
            status: step.status(open),
            name: step.name.clone(),
            agent: step.agent.clone(),
            agent_version: step.agent_version.clone(),
            attempt: step.attempt,
            created_at: step.created_at,
            ended_at,
            output,
            reason,
            trouble: step.in_trouble().map(|(why, _)| why.to_owned()),
            retry_at: step.in_trouble().and_then(|(_, at)| at),
        }
    }
}
