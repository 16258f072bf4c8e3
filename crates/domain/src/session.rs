//! One conversation or flow of an agent. Paused, waiting and ended are independent facts; the status shows the strongest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::interaction::HandedFrom;
use crate::step::StepEnding;
use crate::{
    Actor, ActorKind, EntryPoint, Event, EventDraft, EventId, InteractionId, Problem, Refusal, Scope, SessionId,
    StepId, text,
};

/// One conversation or flow of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub scope: Scope,
    /// What it is about; never changes.
    #[serde(rename = "brief")]
    pub head: SessionHead,
    /// The step that runs.
    pub step: StepId,
    /// Who started it.
    pub started_by: Actor,
    /// When.
    pub created_at: Timestamp,
    /// Since when, by whom and why it is paused.
    pub paused: Option<Note>,
    /// How it ended.
    pub ended: Option<(Ending, Note)>,
    /// How many open questions its step sleeps on.
    pub waiting_on: u32,
    /// How many questions are open, those that hold nothing up included.
    pub open: u32,
    /// The number of its last event.
    pub last_seq: u64,
    /// Whether its steps are run by our own workers.
    #[serde(rename = "driven", default)]
    pub hosted: bool,
    /// The question that was handed over, where it was opened for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<HandedFrom>,
}

/// What a session is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHead {
    /// Routes its questions. Proves nothing.
    pub channel: String,
    /// The agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// One line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The flow that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The flow's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_version: Option<String>,
}

/// What a session was started with: kept beside it, so that a large input is not written again with every event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionInput {
    /// What the agent works on.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Given back untouched.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// The versions of the agents that the steps of its flow run, by step: chosen when it was opened.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, String>,
    /// The wire that it was opened on: its own figures hold for what is asked in it by an agent of ours.
    #[serde(rename = "wire", default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<EntryPoint>,
}

impl SessionInput {
    /// Lists what is wrong with it.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        text::depth("/input", &self.input, &mut problems);
        text::depth("/metadata", &self.metadata, &mut problems);
        problems
    }
}

impl SessionHead {
    /// Lists what is wrong with it.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        text::identifier("/channel", &self.channel, &mut problems);
        if self.channel.starts_with(SessionId::PREFIX) {
            let why =
                format!("begins with `{}`, as the ids of sessions do: an id is given, never chosen", SessionId::PREFIX);
            problems.push(Problem::new("/channel", why));
        }
        for (pointer, line) in [
            ("/agent", &self.agent),
            ("/agent_version", &self.agent_version),
            ("/title", &self.title),
            ("/flow", &self.flow),
        ] {
            if let Some(line) = line {
                text::line(pointer, line, &mut problems);
            }
        }
        if let Some(agent) = &self.agent {
            text::visible("/agent", agent, &mut problems);
        }
        problems
    }
}

/// Who, when and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Its agent is done.
    Completed,
    /// Its agent gave up.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}

/// What the wire shows: the strongest of what is true.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Nothing has begun yet.
    New,
    /// Going on.
    Running,
    /// Asleep until people answer.
    WaitingUserInput,
    /// Held by a person.
    Paused,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Stopped.
    Cancelled,
}

impl SessionStatus {
    /// Every status.
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
    pub const fn alive(self) -> bool {
        matches!(self, Self::New | Self::Running | Self::WaitingUserInput | Self::Paused)
    }

    /// The word for it on the wire and in the stores.
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

/// What can be done to a session as a whole.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Hold it: answers are kept and not handed out.
    Pause,
    /// Let it go on.
    Resume,
    /// Stop it and close its questions.
    Cancel,
    /// Its agent is done.
    Complete,
    /// Its agent gives up.
    Fail,
}

impl Session {
    /// Opens a session.
    #[must_use]
    pub fn start(
        id: SessionId,
        scope: Scope,
        head: SessionHead,
        step: StepId,
        by: Actor,
        now: Timestamp,
    ) -> (Self, EventDraft) {
        let mut data = json!({ "agent": head.agent, "channel": head.channel, "title": head.title });
        if let Some(flow) = &head.flow {
            data["flow"] = json!(flow);
        }
        let happening = EventDraft::by("session.started", &by, data);
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
        (session, happening)
    }

    /// What the wire shows.
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

    /// Refuses if it has ended.
    pub const fn alive(&self) -> Result<(), Refusal> {
        match self.ended {
            None => Ok(()),
            Some(_) => Err(Refusal::SessionEnded { session: self.id, status: self.status().name() }),
        }
    }

    /// Refuses whoever this session does not belong to: it is for whoever opened it, and for the agent that it was opened for. An agent
    /// that our workers run has no key: whoever comes with its name is somebody else.
    pub fn belongs_to(&self, actor: &Actor) -> Result<(), Refusal> {
        let agent = self.head.agent.as_ref().filter(|_| !self.hosted);
        let own = self.started_by == *actor || agent == Some(&actor.name);
        if own { Ok(()) } else { Err(Refusal::NotYourSession(self.id)) }
    }

    /// Refuses if answers are held back.
    pub const fn going_on(&self) -> Result<(), Refusal> {
        if self.paused.is_some() && self.ended.is_none() { Err(Refusal::SessionPaused(self.id)) } else { Ok(()) }
    }

    /// Carries out a command.
    pub fn control(mut self, command: Command, note: Note) -> Result<(Self, EventDraft), Refusal> {
        self.alive()?;
        let data = json!({ "reason": note.reason });
        let by = note.by.clone();
        let name = match (command, &self.paused) {
            (Command::Pause, Some(held)) if held.by.kind == ActorKind::User || note.by.kind != ActorKind::User => {
                return Err(Refusal::AlreadyPaused(self.id));
            }
            // What an agent holds back, it lets go on; a person who holds it too has the say from then on.
            (Command::Pause, _) => {
                self.paused = Some(note);
                "session.paused"
            }
            (Command::Resume, None) => return Err(Refusal::NotPaused(self.id)),
            (Command::Resume, Some(_)) => {
                self.paused = None;
                "session.resumed"
            }
            (Command::Cancel, _) => {
                self.ended = Some((Ending::Cancelled, note));
                "session.cancelled"
            }
            (Command::Complete, _) => {
                self.ended = Some((Ending::Completed, note));
                "session.completed"
            }
            (Command::Fail, _) => {
                self.ended = Some((Ending::Failed, note));
                "session.failed"
            }
        };
        Ok((self, EventDraft::by(name, &by, data)))
    }

    /// A session that has failed goes on: one of its steps is tried again, or passed over.
    pub fn revive(mut self, by: &Actor, why: &str) -> Result<(Self, EventDraft), Refusal> {
        match self.ended {
            Some((Ending::Failed, _)) if self.hosted => {
                self.ended = None;
                Ok((self, EventDraft::by("session.revived", by, json!({ "reason": why }))))
            }
            _ => Err(Refusal::StepNotFailed),
        }
    }

    /// Counts a question that was opened.
    pub fn opened(&mut self, blocks: bool, most: u32) -> Result<(), Refusal> {
        self.alive()?;
        if self.open >= most {
            return Err(Refusal::TooManyOpen { most });
        }
        self.open += 1;
        self.waiting_on += u32::from(blocks);
        Ok(())
    }

    /// Counts a question that was closed.
    pub const fn closed(&mut self, blocks: bool) {
        self.open = self.open.saturating_sub(1);
        if blocks {
            self.waiting_on = self.waiting_on.saturating_sub(1);
        }
    }

    /// Gives what happened its number.
    pub fn record(
        &mut self,
        id: EventId,
        happening: EventDraft,
        about: Option<InteractionId>,
        now: Timestamp,
    ) -> Event {
        self.last_seq += 1;
        Event {
            id,
            session: self.id,
            seq: self.last_seq,
            name: happening.name.to_owned(),
            at: now,
            step: Some(self.step),
            interaction: about,
            data: happening.data,
        }
    }
}

impl Ending {
    /// How the step ends with its session.
    #[must_use]
    pub const fn of_step(self) -> StepEnding {
        match self {
            Self::Completed => StepEnding::Completed,
            Self::Failed => StepEnding::Failed,
            Self::Cancelled => StepEnding::Cancelled,
        }
    }
}
