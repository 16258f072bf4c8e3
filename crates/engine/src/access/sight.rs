//! Decides which sessions of its project a caller reads, and in which sessions an agent may ask.
//!
//! People read all sessions. An agent reads the sessions that it opened and those that name it, unless the project's settings let its agents read
//! everything; any other session looks absent to it. Those settings never widen where an agent may ask, propose actions or send messages.

use std::collections::HashMap;

use domain::access::Right;
use domain::audit::kind::ProjectSettingsChanged;
use domain::project::{AgentsRead, ProjectSettings};
use domain::{
    Actor, AuditDraft, AuditKind, Caller, Interaction, InteractionId, Refusal, Role, Scope, Session, SessionId,
};
use store::{Cost, Reads, StoreError};

use crate::interactions;
use crate::run::transaction::Work;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

/// Maximum number of sessions in a reader's cache.
const MOST_REMEMBERED: usize = 10_000;

/// Sessions that a caller reads.
#[derive(Debug, Clone)]
pub(crate) enum Sight {
    /// All sessions of the project.
    All,
    /// Sessions that belong to this agent.
    Own(Actor),
}

impl Sight {
    /// Reads the caller's sight from the current project settings.
    pub(crate) fn of(reads: &mut dyn Reads, caller: &Caller) -> Result<Self, Error> {
        if caller.role != Role::Agent || caller.is_worker() {
            return Ok(Self::All);
        }
        Ok(match settings(reads, &caller.scope)?.agents_read {
            AgentsRead::Project => Self::All,
            AgentsRead::Own => Self::Own(caller.actor.clone()),
        })
    }

    /// Refuses a caller who does not read the whole project: its stats are computed from the sessions of all agents.
    pub(crate) fn require_whole_project(reads: &mut dyn Reads, caller: &Caller) -> Result<(), Error> {
        match Self::of(reads, caller)? {
            Self::All => Ok(()),
            Self::Own(_) => Err(Refusal::RoleForbids { role: caller.role }.into()),
        }
    }

    /// Agent to whose own sessions lists are limited. `None` if the caller sees all sessions of the project.
    pub(crate) fn limited_to(&self) -> Option<Actor> {
        match self {
            Self::All => None,
            Self::Own(actor) => Some(actor.clone()),
        }
    }

    pub(crate) fn sees(&self, session: &Session) -> bool {
        match self {
            Self::All => true,
            Self::Own(actor) => session.require_owner(actor).is_ok(),
        }
    }

    /// Reads a session. Returns `NotFound` for a session outside this sight.
    pub(crate) fn session(&self, reads: &mut dyn Reads, scope: &Scope, id: SessionId) -> Result<Session, Error> {
        let found = reads.session(scope, id)?.filter(|session| self.sees(session));
        Ok(found.ok_or(Refusal::NotFound("session"))?)
    }

    /// Reads a question of a visible session, or one that the agent itself has asked. Returns `NotFound` for any other.
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

/// Cache of the sessions that a reader sees. It never goes stale, because a session's owners never change.
#[derive(Debug, Default)]
pub(crate) struct Remembered(HashMap<SessionId, bool>);

impl Remembered {
    /// Whether a session is visible, read from the store where it is not in the cache.
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

/// Locks a session. Returns `NotFound` if the caller does not see it.
pub(crate) fn lock_session(work: &mut Work<'_>, caller: &Caller, id: SessionId) -> Result<Session, Error> {
    let session = sessions::lock(work, &caller.scope, id)?;
    let sight = Sight::of(&mut *work.tx, caller)?;
    if sight.sees(&session) { Ok(session) } else { Err(Refusal::NotFound("session").into()) }
}

/// Locks the session of a question and reads the question. Returns `NotFound` if the caller does not see the question.
pub(crate) fn lock_question(
    work: &mut Work<'_>,
    caller: &Caller,
    id: InteractionId,
) -> Result<(Session, Interaction), Error> {
    let sight = Sight::of(&mut *work.tx, caller)?;
    sight.question(&mut *work.tx, &caller.scope, id)?;
    interactions::lock(work, &caller.scope, id)
}

/// Refuses an agent that would ask in a session which is not its own. People and services with other roles may ask anywhere.
pub(crate) fn require_may_ask(caller: &Caller, session: &Session) -> Result<(), Refusal> {
    if caller.role == Role::Agent && !caller.is_worker() { session.require_owner(&caller.actor) } else { Ok(()) }
}

impl Engine {
    /// Settings of the caller's project.
    pub async fn project_settings_get(&self, caller: &Caller) -> Result<ProjectSettings, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.read(Cost::Point, move |reads| settings(reads, &scope)).await
    }

    /// Replaces the settings of the caller's project.
    pub async fn project_settings_put(
        &self,
        caller: &Caller,
        new: ProjectSettings,
        idempotency: Option<Idempotency>,
    ) -> Result<ProjectSettings, Error> {
        caller.require(Right::ManagePolicy)?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let before = settings(&mut *work.tx, &scope)?;
            if before != new {
                let text = serde_json::to_string(&new).map_err(|error| StoreError::Corrupt(error.to_string()))?;
                work.tx.project_settings_save(&scope, &text)?;
                let changed = Box::new(ProjectSettingsChanged { before, after: new });
                work.append_audit(&scope, &AuditDraft::plain(AuditKind::ProjectSettingsChanged(changed)))?;
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

/// Refuses a caller who may not control this session. An agent may control a session that it started.
pub(crate) fn require_may_steer(caller: &Caller, session: &Session) -> Result<(), Error> {
    if caller.role == domain::Role::Agent && session.started_by == caller.actor {
        return Ok(());
    }
    Ok(caller.require(domain::access::Right::Steer)?)
}
