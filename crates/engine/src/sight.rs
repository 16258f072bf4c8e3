//! Which sessions of its project a caller reads, and in which an agent may ask.
//!
//! People read all of them. An agent reads the sessions that it opened and those that name it, unless the project's settings let its agents
//! read everything; what it does not read looks to it as if it were not there. Asking, proposing and sending messages is never widened.

use std::collections::HashMap;

use domain::access::Right;
use domain::project::{AgentsRead, ProjectSettings};
use domain::{Actor, Caller, EventDraft, Interaction, InteractionId, Refusal, Role, Scope, Session, SessionId};
use serde_json::json;
use store::{Cost, Reads, StoreError};

use crate::work::Work;
use crate::{Engine, Error, Idempotency};

/// How many sessions a reader remembers having looked at.
const MOST_REMEMBERED: usize = 10_000;

/// Which sessions somebody reads.
#[derive(Debug, Clone)]
pub(crate) enum Sight {
    /// All of the project.
    All,
    /// Those that belong to this agent.
    Own(Actor),
}

impl Sight {
    /// What a caller reads by now.
    pub(crate) fn of(reads: &mut dyn Reads, caller: &Caller) -> Result<Self, Error> {
        if caller.role != Role::Agent || caller.is_worker() {
            return Ok(Self::All);
        }
        Ok(match settings(reads, &caller.scope)?.agents_read {
            AgentsRead::Project => Self::All,
            AgentsRead::Own => Self::Own(caller.actor.clone()),
        })
    }

    /// Refuses whoever does not read the whole project: figures of it are made of the sessions of all agents.
    pub(crate) fn whole(reads: &mut dyn Reads, caller: &Caller) -> Result<(), Error> {
        match Self::of(reads, caller)? {
            Self::All => Ok(()),
            Self::Own(_) => Err(Refusal::RoleForbids { role: caller.role }.into()),
        }
    }

    /// The agent to whose sessions the store's lists are limited.
    pub(crate) fn limited_to(&self) -> Option<Actor> {
        match self {
            Self::All => None,
            Self::Own(actor) => Some(actor.clone()),
        }
    }

    /// Whether a session is read.
    pub(crate) fn sees(&self, session: &Session) -> bool {
        match self {
            Self::All => true,
            Self::Own(actor) => session.belongs_to(actor).is_ok(),
        }
    }

    /// A session that is read; any other is absent.
    pub(crate) fn session(&self, reads: &mut dyn Reads, scope: &Scope, id: SessionId) -> Result<Session, Error> {
        let found = reads.session(scope, id)?.filter(|session| self.sees(session));
        Ok(found.ok_or(Refusal::NotFound("session"))?)
    }

    /// A question that is read: one of a session that is, or one that the agent has asked itself; any other is absent.
    pub(crate) fn question(
        &self,
        reads: &mut dyn Reads,
        scope: &Scope,
        id: InteractionId,
    ) -> Result<Interaction, Error> {
        let asked = reads.interaction(scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
        if self.sees_question(reads, &asked)? { Ok(asked) } else { Err(Refusal::NotFound("interaction").into()) }
    }

    fn sees_question(&self, reads: &mut dyn Reads, asked: &Interaction) -> Result<bool, Error> {
        let Self::Own(actor) = self else { return Ok(true) };
        if asked.origin.asked_by == *actor && !asked.origin.hosted {
            return Ok(true);
        }
        let session = reads.session(&asked.scope, asked.origin.session)?;
        Ok(session.is_some_and(|session| self.sees(&session)))
    }
}

/// Remembers which sessions a reader sees: to whom a session belongs never changes.
#[derive(Debug, Default)]
pub(crate) struct Remembered(HashMap<SessionId, bool>);

impl Remembered {
    /// Whether a session is seen, looked up where it is not known yet.
    pub(crate) fn sees(
        &mut self,
        reads: &mut dyn Reads,
        (sight, scope): (&Sight, &Scope),
        id: SessionId,
    ) -> Result<bool, Error> {
        if matches!(sight, Sight::All) {
            return Ok(true);
        }
        if let Some(known) = self.0.get(&id) {
            return Ok(*known);
        }
        let seen = reads.session(scope, id)?.is_some_and(|session| sight.sees(&session));
        if self.0.len() >= MOST_REMEMBERED {
            self.0.clear();
        }
        self.0.insert(id, seen);
        Ok(seen)
    }
}

impl Work<'_> {
    /// Locks a session that the caller reads; any other is absent.
    pub(crate) fn session_seen(&mut self, caller: &Caller, id: SessionId) -> Result<Session, Error> {
        let session = self.session(&caller.scope, id)?;
        let sight = Sight::of(&mut *self.tx, caller)?;
        if sight.sees(&session) { Ok(session) } else { Err(Refusal::NotFound("session").into()) }
    }

    /// Locks the session of a question that the caller reads, and reads the question; any other is absent.
    pub(crate) fn question_seen(
        &mut self,
        caller: &Caller,
        id: InteractionId,
    ) -> Result<(Session, Interaction), Error> {
        let sight = Sight::of(&mut *self.tx, caller)?;
        sight.question(&mut *self.tx, &caller.scope, id)?;
        self.question(&caller.scope, id)
    }
}

/// Refuses an agent that would ask in a session which is not its own. People and services with other roles may ask anywhere.
pub(crate) fn may_ask_in(caller: &Caller, session: &Session) -> Result<(), Refusal> {
    if caller.role == Role::Agent && !caller.is_worker() { session.belongs_to(&caller.actor) } else { Ok(()) }
}

impl Engine {
    /// The settings of the caller's project.
    pub async fn project_settings(&self, caller: &Caller) -> Result<ProjectSettings, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.read(Cost::Point, move |reads| settings(reads, &scope)).await
    }

    /// Changes the settings of the caller's project.
    pub async fn project_settings_put(
        &self,
        caller: &Caller,
        new: ProjectSettings,
        once: Option<Idempotency>,
    ) -> Result<ProjectSettings, Error> {
        caller.require(Right::ManagePolicy)?;
        let (scope, by) = (caller.scope, caller.actor.clone());
        self.command(caller, once, move |work| {
            let before = settings(&mut *work.tx, &scope)?;
            if before != new {
                let text = serde_json::to_string(&new).map_err(|error| StoreError::Corrupt(error.to_string()))?;
                work.tx.project_settings_put(&scope, &text)?;
                let data = json!({ "before": before, "after": new });
                work.audited(&scope, &EventDraft::by("project.settings_changed", &by, data))?;
            }
            Ok(new)
        })
        .await
    }
}

fn settings(reads: &mut dyn Reads, scope: &Scope) -> Result<ProjectSettings, Error> {
    let Some(kept) = reads.project_settings(scope)? else { return Ok(ProjectSettings::default()) };
    serde_json::from_str(&kept).map_err(|error| StoreError::Corrupt(error.to_string()).into())
}
