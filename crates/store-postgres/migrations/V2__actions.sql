-- Bodies are the serde form of the domain; a column beside one is what it is found by.

create table proposals (
    session uuid not null,
    call text not null,
    project uuid not null,
    wake_at bigint,
    revision bigint not null,
    body text not null,
    primary key (session, call)
);
create index proposals_due on proposals (wake_at) where wake_at is not null;

create table grants (
    id uuid primary key,
    project uuid not null,
    tool text not null,
    until bigint,
    most_uses bigint,
    uses bigint not null,
    revoked_at bigint,
    body text not null
);
create index grants_of_project on grants (project, id);
create index grants_for_tool on grants (project, tool, id) where revoked_at is null;

create table policy_states (
    project uuid primary key,
    revision bigint not null,
    body text not null
);

create table policy_versions (
    project uuid not null,
    version text not null,
    at bigint not null,
    body text not null,
    primary key (project, version)
);
create index policy_versions_by_age on policy_versions (project, at);
