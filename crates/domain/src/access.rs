//! Callers, their credentials and scopes, and the rights of roles.

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{EntryPoint, KeyId, ProjectId, Refusal, TenantId, TicketId, VisitId, text};

/// Tenant and project to which a piece of work is confined.
///
/// Every query of a store takes a scope, so that a query without this filter does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// Tenant that owns the data.
    pub tenant: TenantId,
    /// Project of the tenant.
    pub project: ProjectId,
}

/// Role of a key or user in a project.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May do everything, including the management of keys.
    Admin,
    /// May answer questions and control sessions.
    Operator,
    /// May read, and may answer only questions whose audience names it.
    Viewer,
    /// May ask questions and take the answers to them. Can never answer.
    Agent,
}

/// A right that a role may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Read sessions, questions, events and stats.
    Read,
    /// Open a session and ask questions in it.
    Ask,
    /// Take the answers to one's own questions.
    Take,
    /// Answer or claim a question whose audience one belongs to.
    Answer,
    /// Pause, resume or end a session; cancel or expire a question.
    Steer,
    /// Answer in the name of a policy or of the system, regardless of the audience.
    Automate,
    /// Give grants with approvals, and revoke grants.
    Grant,
    /// Try a draft of the policy: explain a call with it, or simulate it against past actions.
    TryDrafts,
    /// Change, enable or disable the policy.
    ManagePolicy,
    /// Read and export the audit trail.
    Audit,
    /// Create, list and revoke keys.
    ManageKeys,
    /// Add, list and disable users, and create links that sign them in.
    ManageUsers,
    /// List the kept secrets without their values, and delete them.
    ManageSecrets,
    /// Create, list, change and remove webhooks.
    ManageWebhooks,
}

impl Role {
    /// All roles, the most powerful first.
    pub const ALL: [Self; 4] = [Self::Admin, Self::Operator, Self::Viewer, Self::Agent];

    /// Whether this role has the right.
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

    /// Whether `other` is at least as powerful as this role.
    #[must_use]
    pub fn is_within(self, other: Self) -> bool {
        let rank = |wanted: Self| Self::ALL.into_iter().position(|role| role == wanted);
        rank(other) <= rank(self)
    }

    /// Name of the role in JSON and in the stores.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Viewer => "viewer",
            Self::Agent => "agent",
        }
    }

    /// Role with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// Kind of an actor.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person with an account or a key.
    User,
    /// An agent or a service.
    Agent,
    /// Holdpoint itself, for example at a deadline or at the end of a lease.
    System,
}

/// The actor of a change, as it is recorded.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// Kind of the actor.
    pub kind: ActorKind,
    /// Name of the person, or the user name of the key. If the key has no user name, the identifier of the key.
    pub name: String,
}

impl Actor {
    /// Actor of changes that Holdpoint itself makes.
    #[must_use]
    pub fn system() -> Self {
        Self { kind: ActorKind::System, name: "holdpoint".into() }
    }

    /// Whether both actors have the name of one person. Case is ignored.
    #[must_use]
    pub fn is_same_person(&self, other: &Self) -> bool {
        text::is_same_name(&self.name, &other.name)
    }

    /// Key under which the open questions of this actor are counted. An agent and a person with equal names are counted separately; names
    /// that differ only in case are counted together.
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

/// Credential with which a caller authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Credential {
    /// A key, sent with every request.
    Key(KeyId),
    /// A browser in which a person has signed in.
    Visit(VisitId),
    /// No credential: a worker of this server, which acts in the name of the agent whose step it runs.
    Worker,
}

/// An authenticated caller. It is made only from a credential that was found, matched and is still valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Credential of the caller.
    pub credential: Credential,
    /// Scope to which the caller is confined.
    pub scope: Scope,
    /// Role of the caller in the project.
    pub role: Role,
    /// Actor in whose name the caller acts.
    pub actor: Actor,
    /// Groups of the person.
    pub groups: Vec<String>,
    /// Program and directory for which the credential was made.
    pub environment: AgentEnvironment,
    /// Network address of the request, if known. It is recorded in the audit trail and decides nothing.
    pub from: Option<IpAddr>,
    /// Entry point of the request. It is recorded with the change; the only decision that depends on it is the default deadline of
    /// questions that are asked there.
    pub entry_point: EntryPoint,
}

impl Caller {
    /// Caller of a worker that runs a step of `agent`.
    #[must_use]
    pub fn worker(scope: Scope, agent: Actor) -> Self {
        Self {
            credential: Credential::Worker,
            scope,
            role: Role::Agent,
            actor: agent,
            groups: Vec::new(),
            environment: AgentEnvironment::hosted(),
            from: None,
            entry_point: EntryPoint::Worker,
        }
    }

    /// Whether the caller is a worker of this server.
    #[must_use]
    pub const fn is_worker(&self) -> bool {
        matches!(self.credential, Credential::Worker)
    }

    /// Refuses with `RoleForbids` unless the role of the caller has the right.
    pub fn require(&self, right: Right) -> Result<(), Refusal> {
        if self.role.may(right) { Ok(()) } else { Err(Refusal::RoleForbids { role: self.role }) }
    }
}

/// Program for which a key was made, and the directory in which that program works. A person chooses both; the agent cannot.
///
/// The policy knows the tools of the client, and relative patterns of its rules begin at the root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentEnvironment {
    /// Name of the client in the catalogue of tools, such as `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Absolute path of the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

impl AgentEnvironment {
    /// Name of the client whose agents this server runs.
    pub const HOSTED: &'static str = "holdpoint";

    /// Environment of an agent that a worker of this server runs.
    #[must_use]
    pub fn hosted() -> Self {
        Self { client: Some(Self::HOSTED.to_owned()), root: None }
    }

    /// Whether neither a client nor a root is known.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        self.client.is_none() && self.root.is_none()
    }
}

/// Ticket that opens one event stream or WebSocket in place of the credential that created it. A browser cannot send another credential
/// there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// Public part of the ticket.
    pub id: TicketId,
    /// Credential that the ticket represents.
    pub credential: Credential,
    /// Scope to which the ticket is confined.
    pub scope: Scope,
    /// Time at which the ticket expires.
    pub expires_at: Timestamp,
}

/// A key without its secret. The store contains only a keyed hash of the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Public part of the key.
    pub id: KeyId,
    /// Scope to which the key is confined.
    pub scope: Scope,
    /// Role of the key.
    pub role: Role,
    /// Name in which the key acts, if one was given.
    pub user: Option<String>,
    /// Groups of that user.
    pub groups: Vec<String>,
    /// Program and directory for which the key was made.
    #[serde(default)]
    pub environment: AgentEnvironment,
    /// Time at which the key was created.
    pub created_at: Timestamp,
    /// Time at which the key expires.
    pub expires_at: Option<Timestamp>,
    /// Time at which the key was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Time of the last use, rounded to the minute.
    pub last_used_at: Option<Timestamp>,
}

impl Key {
    /// Caller that this key authenticates at the time `now`. `None` if the key is expired or revoked.
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
            environment: self.environment.clone(),
            from: None,
            entry_point: EntryPoint::Http,
        })
    }
}
