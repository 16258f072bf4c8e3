//! People, identifiers, times and a session that most tests of this crate use.

use holdpoint_domain::{
    Actor, ActorKind, AgentEnvironment, Caller, Credential, EntryPoint, KeyId, ProjectId, Role, Scope, Session,
    SessionHead, SessionId, StepId, TenantId, Timestamp,
};
use uuid::Uuid;

/// UUID with this number.
pub(crate) fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// Time in seconds after the start of the test's history.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Caller with a key: an agent if the role is `Agent`, a person otherwise.
pub(crate) fn caller(name: &str, role: Role, groups: &[&str]) -> Caller {
    let kind = if role == Role::Agent { ActorKind::Agent } else { ActorKind::User };
    Caller {
        credential: Credential::Key(KeyId::from_uuid(uuid(1))),
        scope: Scope { tenant: TenantId::from_uuid(uuid(2)), project: ProjectId::from_uuid(uuid(3)) },
        role,
        actor: Actor { kind, name: name.into() },
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        environment: AgentEnvironment::default(),
        from: None,
        entry_point: EntryPoint::Http,
    }
}

/// A session that `starter` has started at second 0.
pub(crate) fn session() -> Session {
    let starter = caller("starter", Role::Operator, &[]);
    let head = SessionHead {
        agent_version: None,
        channel: "chat-1".into(),
        agent: Some("deployer".into()),
        title: None,
        ..SessionHead::default()
    };
    let (id, step) = (SessionId::from_uuid(uuid(4)), StepId::from_uuid(uuid(5)));
    Session::start(id, starter.scope, head, step, starter.actor, at(0)).0
}
