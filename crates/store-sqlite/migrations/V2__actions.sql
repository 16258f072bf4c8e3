-- Bodies are the serde form of the domain; a column beside one is what it is found by.

create table proposals (
    session blob not null references sessions (id),
    call text not null,
    project blob not null,
    wake_at integer,
    revision integer not null,
    body text not null,
    primary key (session, call)
) without rowid;
create index proposals_due on proposals (wake_at) where wake_at is not null;

create table grants (
    id blob primary key,
    project blob not null references projects (id),
    tool text not null,
    until integer,
    most_uses integer,
    uses integer not null,
    revoked_at integer,
    body text not null
) without rowid;
create index grants_of_project on grants (project, id);
create index grants_for_tool on grants (project, tool, id) where revoked_at is null;

create table policy_states (
    project blob primary key references projects (id),
    revision integer not null,
    body text not null
) without rowid;

create table policy_versions (
    project blob not null references projects (id),
    version text not null,
    at integer not null,
    body text not null,
    primary key (project, version)
) without rowid;
create index policy_versions_by_age on policy_versions (project, at);
