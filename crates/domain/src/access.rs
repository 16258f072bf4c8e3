//! Who is calling, for whom, and what their role lets them do.

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{EntryPoint, KeyId, ProjectId, Refusal, TenantId, TicketId, VisitId, text};

/// The tenant and project that a piece of work is confined to.
///
/// Every query of a store takes one, so that a query without its filter does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// Whose data.
    pub tenant: TenantId,
    /// In which of their projects.
    pub project: ProjectId,
}

/// What a key may do in its project.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything, keys included.
    Admin,
    /// Answers questions and steers sessions.
    Operator,
    /// Reads, and answers only what names it.
    Viewer,
    /// Asks, and takes the answers to what it asked. Never answers.
    Agent,
}

/// One thing that a role may or may not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// See sessions, questions, events and figures.
    Read,
    /// Open a session, ask in it.
    Ask,
    /// Take the answer to one's own question.
    Take,
    /// Answer or claim a question whose audience one belongs to.
    Answer,
    /// Pause, resume, end a session; cancel or expire a question.
    Steer,
    /// Answer in the name of a policy or of the system, past the audience.
    Automate,
    /// Let an approval hold for more than one action, and take that back.
    Grant,
    /// Try a draft of the policy: explain a call by it, hold it against what was proposed.
    TryDrafts,
    /// Change the policy, or switch it off.
    ManagePolicy,
    /// Read and export the audit trail.
    Audit,
    /// Make, list and revoke keys.
    ManageKeys,
    /// Add, list and disable people, and make links that sign them in.
    ManageUsers,
    /// See which secrets are kept, never their values, and forget them.
    ManageSecrets,
    /// Make, list, change and remove webhooks.
    ManageWebhooks,
}

impl Role {
    /// Every role, the mightiest first.
    pub const ALL: [Self; 4] = [Self::Admin, Self::Operator, Self::Viewer, Self::Agent];

    /// Whether this role has a right.
    #[must_use]
    pub const fn may(self, right: Right) -> bool {
        match (self, right) {
            (Self::Admin, _) | (_, Right::Read) => true,
            (_, Right::ManagePolicy | Right::Audit | Right::ManageKeys | Right::ManageUsers) => false,
            (_, Right::Automate | Right::ManageWebhooks) => false,
            (Self::Operator, Right::Ask | Right::Answer | Right::Steer | Right::Grant | Right::ManageSecrets) => true,
            (Self::Operator | Self::Viewer, Right::TryDrafts) => true,
            (Self::Agent, Right::TryDrafts) => false,
            (Self::Operator, Right::Take) => false,
            (Self::Viewer, Right::Answer) => true,
            (Self::Viewer, Right::Ask | Right::Take | Right::Steer | Right::Grant | Right::ManageSecrets) => false,
            (Self::Agent, Right::Ask | Right::Take) => true,
            (Self::Agent, Right::Answer | Right::Steer | Right::Grant | Right::ManageSecrets) => false,
        }
    }

    /// Whether another role takes nothing away from whoever has this one.
    #[must_use]
    pub fn within(self, other: Self) -> bool {
        let rank = |wanted: Self| Self::ALL.into_iter().position(|role| role == wanted);
        rank(other) <= rank(self)
    }

    /// The word for it on the wire and in the stores.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Viewer => "viewer",
            Self::Agent => "agent",
        }
    }

    /// The role of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// What sort of being acted.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person.
    User,
    /// An agent or a service.
    Agent,
    /// Holdpoint itself: a deadline, a lease.
    System,
}

/// Who did something, as the record keeps it.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// What sort of being.
    pub kind: ActorKind,
    /// The name of the person, or the user name of the key, or the key's id where it has none.
    pub name: String,
}

impl Actor {
    /// Holdpoint itself.
    #[must_use]
    pub fn system() -> Self {
        Self { kind: ActorKind::System, name: "holdpoint".into() }
    }

    /// Whether both have the name of the same person, whatever its case.
    #[must_use]
    pub fn is_same_person(&self, other: &Self) -> bool {
        text::same_name(&self.name, &other.name)
    }

    /// What its open questions are counted under: an agent and a person of one name are two askers, names that differ by case alone are one.
    #[must_use]
    pub fn asker(&self) -> String {
        let kind = match self.kind {
            ActorKind::User => "user",
            ActorKind::Agent => "agent",
            ActorKind::System => "system",
        };
        format!("{kind}:{}", self.name.to_lowercase())
    }
}

/// What a caller has proved itself with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Credential {
    /// A key, sent with every request.
    Key(KeyId),
    /// A browser in which a person has signed in.
    Visit(VisitId),
    /// None: it is a worker of ours, in the name of the agent whose step it runs.
    Worker,
}

/// An authenticated caller: made only from a credential that was found, matched and is still good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What was presented.
    pub credential: Credential,
    /// What it is confined to.
    pub scope: Scope,
    /// What it may do there.
    pub role: Role,
    /// In whose name it acts.
    pub actor: Actor,
    /// The groups that the person belongs to.
    pub groups: Vec<String>,
    /// The address that the request came from, where it is known. The audit trail keeps it; nothing is decided by it.
    pub from: Option<IpAddr>,
    /// Through which door the request came. Kept with what is done; decides nothing but how long people have for what is asked there.
    pub entry_point: EntryPoint,
}

impl Caller {
    /// A worker, in the name of the agent whose step it runs.
    #[must_use]
    pub const fn worker(scope: Scope, agent: Actor) -> Self {
        let (credential, entry_point) = (Credential::Worker, EntryPoint::Worker);
        Self { credential, scope, role: Role::Agent, actor: agent, groups: Vec::new(), from: None, entry_point }
    }

    /// Whether it is a worker of ours.
    #[must_use]
    pub const fn is_worker(&self) -> bool {
        matches!(self.credential, Credential::Worker)
    }

    /// Refuses unless the caller's role has the right.
    pub fn require(&self, right: Right) -> Result<(), Refusal> {
        if self.role.may(right) { Ok(()) } else { Err(Refusal::RoleForbids { role: self.role }) }
    }
}

/// What opens one stream or socket in place of the credential that it was made with: a browser can send no other there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// Its public half.
    pub id: TicketId,
    /// Whose credential it stands for.
    pub credential: Credential,
    /// What it is confined to.
    pub scope: Scope,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// A credential, without its secret: the store keeps only a keyed hash of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Its public half.
    pub id: KeyId,
    /// What it is confined to.
    pub scope: Scope,
    /// What it may do.
    pub role: Role,
    /// In whose name it acts, where it was given one.
    pub user: Option<String>,
    /// The groups of that user.
    pub groups: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

impl Key {
    /// The caller that this key stands for at this moment, unless it is expired or revoked.
    #[must_use]
    pub fn caller(&self, now: Timestamp) -> Option<Caller> {
        if self.revoked_at.is_some() || self.expires_at.is_some_and(|at| at <= now) {
            return None;
        }
        let kind = if self.role == Role::Agent { ActorKind::Agent } else { ActorKind::User };
        let name = self.user.clone().unwrap_or_else(|| self.id.to_string());
        Some(Caller {
            credential: Credential::Key(self.id),
            scope: self.scope,
            role: self.role,
            actor: Actor { kind, name },
            groups: self.groups.clone(),
            from: None,
            entry_point: EntryPoint::Http,
        })
    }
}
