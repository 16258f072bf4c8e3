//! Sessions on the wire.

use domain::{Actor, Command, Luggage, Session, SessionId, SessionStatus, Step, StepId, StepStatus, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::example;

/// Opens a session.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agent": "release-bot", "title": "Release 1.4", "metadata": { "ticket": "OPS-17" } }))]
pub struct StartBody {
    /// The agent's name.
    pub agent: Option<String>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// Routes its questions; its own id if absent. Proves nothing.
    pub channel: Option<String>,
    /// One line.
    pub title: Option<String>,
    /// What the agent works on.
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
    /// What to do. `complete` and `fail` are for the agent itself.
    pub command: Command,
    /// Why, for the record and for the agent.
    pub reason: Option<String>,
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
    /// The number of its last event.
    pub last_seq: u64,
    /// What the agent works on; only where one session is read.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Given back untouched; only where one session is read.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// Its steps; only where one session is read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepView>,
}

/// One execution of one agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StepView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: StepId,
    /// Where it is.
    pub status: StepStatus,
    /// The agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When it was begun.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
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
            channel: session.brief.channel,
            agent: session.brief.agent,
            agent_version: session.brief.agent_version,
            title: session.brief.title,
            started_by: session.started_by,
            created_at: session.created_at,
            ended_at,
            reason,
            last_seq: session.last_seq,
            input: Value::Null,
            metadata: Value::Null,
            steps: Vec::new(),
        }
    }
}

impl SessionView {
    /// With everything that belongs to it.
    #[must_use]
    pub fn whole(session: Session, luggage: Luggage, steps: &[Step]) -> Self {
        let (open, current) = (session.waiting_on, session.step);
        let steps = steps.iter().map(|step| StepView {
            id: step.id,
            status: step.status(if step.id == current { open } else { 0 }),
            agent: step.agent.clone(),
            created_at: step.created_at,
        });
        let steps = steps.collect();
        Self { input: luggage.input, metadata: luggage.metadata, steps, ..Self::from(session) }
    }
}
