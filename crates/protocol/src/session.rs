//! Request bodies and views of sessions and their steps.

use domain::step::StepPhase;
use domain::{Actor, Session, SessionId, SessionInput, SessionStatus, Step, StepId, StepStatus, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{HandedFromView, example};

/// Request to open a session.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agent": "release-bot", "title": "Release 1.4", "metadata": { "ticket": "OPS-17" } }))]
pub struct StartBody {
    /// Name of the agent. If this server has an agent of that name, its workers run the session.
    pub agent: Option<String>,
    /// Version of the agent; the newest if absent.
    pub agent_version: Option<String>,
    /// Name of the flow that the session follows, as an alternative to `agent`.
    pub flow: Option<String>,
    /// Version of the flow; the newest if absent.
    pub flow_version: Option<String>,
    /// Channel that routes the questions of the session; the identifier of the session if absent. It is a routing name and grants no
    /// rights.
    pub channel: Option<String>,
    /// Title of the session, one line.
    pub title: Option<String>,
    /// Input of the agent. A hosted agent with input completes after its final reply; without input it waits for messages.
    #[serde(default)]
    pub input: Value,
    /// Metadata of the client, returned unchanged.
    #[serde(default)]
    pub metadata: Value,
}

/// Command to a session.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "command": "pause", "reason": "lunch" }))]
pub struct ControlBody {
    /// Command to the session or to a step.
    pub command: ControlCommand,
    /// Identifier of the step, for a command about a step; the current step of the session if absent.
    #[schema(value_type = Option<String>)]
    pub step: Option<StepId>,
    /// Reason, which is recorded and shown to the agent.
    pub reason: Option<String>,
    /// With `approve_step`: the output of the step, which later steps read as if the step itself had produced it.
    #[schema(value_type = Option<Object>)]
    pub output: Option<Value>,
}

/// Command to a session or to a step of a hosted agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlCommand {
    /// Pauses the session until somebody resumes it.
    Pause,
    /// Ends the pause of the session.
    Resume,
    /// Ends the session as cancelled.
    Cancel,
    /// Completes the session. Only its agent may send this.
    Complete,
    /// Ends the session as failed. Only its agent may send this.
    Fail,
    /// Retries a failed step.
    RetryStep,
    /// Skips the step and continues after it.
    SkipStep,
    /// Continues as if the step had completed.
    ApproveStep,
}

/// A message to a hosted agent, or from an agent in its own session.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "content": "Use the second draft." }))]
pub struct MessageBody {
    /// Text of the message.
    pub content: String,
    /// Whether an agent that writes in its own session expects a reply. The message is then also a question in the channel of the session,
    /// and the answer becomes a message, too.
    #[serde(default)]
    pub requires_reply: bool,
}

/// Session of an agent: one conversation or one run of a flow.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::session)]
pub struct SessionView {
    /// Identifier of the session.
    #[schema(value_type = String)]
    pub id: SessionId,
    /// Status of the session. If several statuses apply, the one with the highest precedence.
    pub status: SessionStatus,
    /// Whether the session is paused. A paused session may wait for answers at the same time.
    pub paused: bool,
    /// Number of open questions for whose answers the current step waits.
    pub waiting_on: u32,
    /// Channel that routes the questions of the session.
    pub channel: String,
    /// Name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Version of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Name of the flow that the session follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Version of the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_version: Option<String>,
    /// Whether workers of this server run the steps of the session.
    #[serde(rename = "driven")]
    pub hosted: bool,
    /// Title of the session, one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Actor that started the session.
    pub started_by: Actor,
    /// Time at which the session was started.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time at which the session ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// Reason why the session ended or is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Origin of the handed-over question for which the session was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<HandedFromView>,
    /// Number of the latest event of the session.
    pub last_seq: u64,
    /// Input of the agent; present only if one session is read.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Metadata, returned unchanged; present only if one session is read.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// Steps of the session, oldest first; present only if one session is read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepView>,
    /// Cursor of the preceding steps, to be sent as `steps_cursor`; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub steps_next: Option<StepId>,
}

/// A step: one execution of one agent in a session.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StepView {
    /// Identifier of the step.
    #[schema(value_type = String)]
    pub id: StepId,
    /// Status of the step.
    pub status: StepStatus,
    /// Name of the step in the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Version of the agent, if it is hosted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Time at which the step was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time at which the step ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// Output of the step.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// Reason for the end, unless the step completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Error of the last try, while the step is retried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Time of the next try.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub retry_at: Option<Timestamp>,
}

/// A page of sessions.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::sessions)]
pub struct SessionsPage {
    /// Sessions of the page, newest first.
    pub sessions: Vec<SessionView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
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
    /// Builds the view of one session with its input, its metadata, a page of its steps and the cursor of the steps before that page.
    #[must_use]
    pub fn whole(
        session: Session,
        session_input: SessionInput,
        (steps, steps_next): (&[Step], Option<StepId>),
    ) -> Self {
        let (open, current) = (session.waiting_on, session.step);
        let steps = steps.iter().map(|step| StepView::new(step, if step.id == current { open } else { 0 }));
        let steps = steps.collect();
        Self { input: session_input.input, metadata: session_input.metadata, steps, steps_next, ..Self::from(session) }
    }
}

impl StepView {
    /// Builds the view of a step with `open` open questions.
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
