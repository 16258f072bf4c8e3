//! One run of an agent or of a flow. A session can be paused, waiting and ended independently; its status shows the fact with the highest
//! precedence.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{SessionControlled, SessionStarted};
use crate::interaction::HandedFrom;
use crate::step::StepEnding;
use crate::{
    Actor, ActorKind, EntryPoint, Event, EventDraft, EventId, EventKind, InteractionId, Problem, Refusal, Scope,
    SessionId, StepId, text,
};

/// One run of an agent or of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Identifier of the session.
    pub id: SessionId,
    /// Tenant and project of the session.
    pub scope: Scope,
    /// Channel, agent, title and flow of the session. They never change.
    #[serde(rename = "brief")]
    pub head: SessionHead,
    /// Step that runs now.
    pub step: StepId,
    /// Actor who started the session.
    pub started_by: Actor,
    /// Time of the start.
    pub created_at: Timestamp,
    /// Author, time and reason of the pause, while the session is paused.
    pub paused: Option<Note>,
    /// Kind of the end, with its author, time and reason.
    pub ended: Option<(Ending, Note)>,
    /// Number of open questions that the step waits for.
    pub waiting_on: u32,
    /// Number of open questions, including notices, for which the step does not wait.
    pub open: u32,
    /// Number of the last event.
    pub last_seq: u64,
    /// Whether workers of this server run the steps.
    #[serde(rename = "driven", default)]
    pub hosted: bool,
    /// Handed-over question for which the session was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<HandedFrom>,
}

/// The facts of a session that never change: routing, agent, title and flow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHead {
    /// Name that routes the questions of the session. It proves no identity.
    pub channel: String,
    /// Name of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Version of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Title in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Name of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Version of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_version: Option<String>,
}

/// Input of a session. It is stored apart from the session, so that a large input is not written again with every event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionInput {
    /// Input of the agent.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Data of the client, returned unchanged.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// Version of the agent for each step of the flow, chosen when the session was opened.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, String>,
    /// Entry point at which the session was opened. Its default time to answer applies to questions of a hosted agent.
    #[serde(rename = "wire", default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<EntryPoint>,
}

impl SessionInput {
    /// Lists the problems of the fields.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        text::check_depth("/input", &self.input, &mut problems);
        text::check_depth("/metadata", &self.metadata, &mut problems);
        problems
    }
}

impl SessionHead {
    /// Lists the problems of the fields.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        text::check_identifier("/channel", &self.channel, &mut problems);
        if self.channel.starts_with(SessionId::PREFIX) {
            let why = format!(
                "begins with `{}`, as the ids of sessions do, which only the server assigns: choose another name",
                SessionId::PREFIX
            );
            problems.push(Problem::new("/channel", why));
        }
        for (pointer, line) in [
            ("/agent", &self.agent),
            ("/agent_version", &self.agent_version),
            ("/title", &self.title),
            ("/flow", &self.flow),
        ] {
            if let Some(line) = line {
                text::check_line(pointer, line, &mut problems);
            }
        }
        if let Some(agent) = &self.agent {
            text::check_visible("/agent", agent, &mut problems);
        }
        problems
    }
}

/// Author, time and reason of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Author of the command.
    pub by: Actor,
    /// Time of the command.
    pub at: Timestamp,
    /// Reason, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Kind of the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent completed its work.
    Completed,
    /// The agent failed to complete its work.
    Failed,
    /// A caller cancelled the session.
    Cancelled,
}

/// Status of a session in the API. An end outranks a pause, and a pause outranks an open question.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// No step has begun.
    New,
    /// A step is running.
    Running,
    /// The step sleeps until people answer.
    WaitingUserInput,
    /// The session is paused.
    Paused,
    /// The session ended as completed.
    Completed,
    /// The session ended as failed.
    Failed,
    /// The session was cancelled.
    Cancelled,
}

impl SessionStatus {
    /// All variants of this enum.
    pub const ALL: [Self; 7] = [
        Self::New,
        Self::Running,
        Self::WaitingUserInput,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Whether the session has not ended.
    #[must_use]
    pub const fn is_alive(self) -> bool {
        matches!(self, Self::New | Self::Running | Self::WaitingUserInput | Self::Paused)
    }

    /// Name of the status in the API and in the stores.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Running => "running",
            Self::WaitingUserInput => "waiting_user_input",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A command to a whole session.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Pause: answers are stored and not delivered.
    Pause,
    /// End the pause of the session.
    Resume,
    /// Cancel the session and close its questions.
    Cancel,
    /// End the session as completed.
    Complete,
    /// End the session as failed.
    Fail,
}

impl Session {
    /// Creates a session with its first event.
    #[must_use]
    pub fn start(
        id: SessionId,
        scope: Scope,
        head: SessionHead,
        step: StepId,
        by: Actor,
        now: Timestamp,
    ) -> (Self, EventDraft) {
        let SessionHead { channel, agent, title, flow, .. } = head.clone();
        let started = SessionStarted { agent, channel, title, flow };
        let draft = EventDraft::by(&by, EventKind::SessionStarted(started));
        let session = Self {
            id,
            scope,
            head,
            step,
            started_by: by,
            created_at: now,
            paused: None,
            ended: None,
            waiting_on: 0,
            open: 0,
            last_seq: 0,
            hosted: false,
            handed_from: None,
        };
        (session, draft)
    }

    /// Status in the API.
    #[must_use]
    pub const fn status(&self) -> SessionStatus {
        match (&self.ended, &self.paused, self.waiting_on) {
            (Some((Ending::Completed, _)), ..) => SessionStatus::Completed,
            (Some((Ending::Failed, _)), ..) => SessionStatus::Failed,
            (Some((Ending::Cancelled, _)), ..) => SessionStatus::Cancelled,
            (None, Some(_), _) => SessionStatus::Paused,
            (None, None, 0) => SessionStatus::Running,
            (None, None, _) => SessionStatus::WaitingUserInput,
        }
    }

    /// Refuses if the session has ended.
    pub const fn require_alive(&self) -> Result<(), Refusal> {
        match self.ended {
            None => Ok(()),
            Some(_) => Err(Refusal::SessionEnded { session: self.id, status: self.status().name() }),
        }
    }

    /// Refuses every actor but the one who opened the session and the agent that it was opened for. A hosted agent has no key, so a key
    /// with its name belongs to somebody else.
    pub fn require_owner(&self, actor: &Actor) -> Result<(), Refusal> {
        let agent = self.head.agent.as_ref().filter(|_| !self.hosted);
        let own = self.started_by == *actor || agent == Some(&actor.name);
        if own { Ok(()) } else { Err(Refusal::NotYourSession(self.id)) }
    }

    /// Refuses while the session is paused.
    pub const fn require_not_paused(&self) -> Result<(), Refusal> {
        if self.paused.is_some() && self.ended.is_none() { Err(Refusal::SessionPaused(self.id)) } else { Ok(()) }
    }

    /// Applies a command to the session.
    pub fn control(mut self, command: Command, note: Note) -> Result<(Self, EventDraft), Refusal> {
        self.require_alive()?;
        let controlled = SessionControlled { reason: note.reason.clone() };
        let by = note.by.clone();
        let kind = match (command, &self.paused) {
            (Command::Pause, Some(held)) if held.by.kind == ActorKind::User || note.by.kind != ActorKind::User => {
                return Err(Refusal::AlreadyPaused(self.id));
            }
            // An agent can end its own pause. A person's pause replaces it, and then ending it takes the right to steer.
            (Command::Pause, _) => {
                self.paused = Some(note);
                EventKind::SessionPaused(controlled)
            }
            (Command::Resume, None) => return Err(Refusal::NotPaused(self.id)),
            (Command::Resume, Some(_)) => {
                self.paused = None;
                EventKind::SessionResumed(controlled)
            }
            (Command::Cancel, _) => {
                self.ended = Some((Ending::Cancelled, note));
                EventKind::SessionCancelled(controlled)
            }
            (Command::Complete, _) => {
                self.ended = Some((Ending::Completed, note));
                EventKind::SessionCompleted(controlled)
            }
            (Command::Fail, _) => {
                self.ended = Some((Ending::Failed, note));
                EventKind::SessionFailed(controlled)
            }
        };
        Ok((self, EventDraft::by(&by, kind)))
    }

    /// Revives a failed session of a hosted agent, because one of its steps is tried again or skipped.
    pub fn revive(mut self, by: &Actor, why: &str) -> Result<(Self, EventDraft), Refusal> {
        match self.ended {
            Some((Ending::Failed, _)) if self.hosted => {
                self.ended = None;
                let controlled = SessionControlled { reason: Some(why.to_owned()) };
                Ok((self, EventDraft::by(by, EventKind::SessionRevived(controlled))))
            }
            Some((Ending::Failed | Ending::Completed | Ending::Cancelled, _)) | None => Err(Refusal::StepNotFailed),
        }
    }

    /// Counts a question that was opened.
    pub fn count_opened(&mut self, blocks: bool, most: u32) -> Result<(), Refusal> {
        self.require_alive()?;
        if self.open >= most {
            return Err(Refusal::TooManyOpen { most });
        }
        self.open += 1;
        self.waiting_on += u32::from(blocks);
        Ok(())
    }

    /// Counts a question that was closed.
    pub const fn count_closed(&mut self, blocks: bool) {
        self.open = self.open.saturating_sub(1);
        if blocks {
            self.waiting_on = self.waiting_on.saturating_sub(1);
        }
    }

    /// Numbers an event of the session.
    pub fn record(&mut self, id: EventId, draft: &EventDraft, about: Option<InteractionId>, now: Timestamp) -> Event {
        self.last_seq += 1;
        Event {
            id,
            session: self.id,
            seq: self.last_seq,
            name: draft.kind.name().to_owned(),
            at: now,
            step: Some(self.step),
            interaction: about,
            data: draft.data(),
        }
    }
}

impl Ending {
    /// Kind of the end of the step that ends with its session.
    #[must_use]
    pub const fn of_step(self) -> StepEnding {
        match self {
            Self::Completed => StepEnding::Completed,
            Self::Failed => StepEnding::Failed,
            Self::Cancelled => StepEnding::Cancelled,
        }
    }
}
