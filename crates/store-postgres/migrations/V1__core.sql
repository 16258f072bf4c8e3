-- Times are UTC microseconds, JSON is kept as the text that serde wrote: `jsonb` would refuse \u0000 and respell numbers.
-- No foreign keys, as in SQLite, where they are off: each would lock a row of `projects` that every writer shares.

create table settings (
    name text primary key,
    value text not null
);

create table tenants (
    id uuid primary key,
    name text not null unique
);

create table projects (
    id uuid primary key,
    tenant uuid not null,
    name text not null,
    unique (tenant, name)
);

create table keys (
    id uuid primary key,
    project uuid not null,
    role text not null,
    "user" text,
    groups text not null,
    hash bytea not null,
    created_at bigint not null,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint
);
create index keys_of_project on keys (project, id);

create table sessions (
    id uuid primary key,
    project uuid not null,
    status text not null,
    agent text,
    agent_version text,
    channel text not null,
    title text,
    step uuid not null,
    started_by text not null,
    created_at bigint not null,
    paused text,
    ended text,
    waiting_on bigint not null,
    open bigint not null,
    last_seq bigint not null
);
create index sessions_of_project on sessions (project, id);
create index sessions_live on sessions (project, id) where ended is null;

create table luggage (
    session uuid primary key,
    body text not null
);

create table steps (
    id uuid primary key,
    session uuid not null,
    project uuid not null,
    body text not null
);
create index steps_of_session on steps (session, id);

-- What changes. What was asked never does, and is in `questions`.
create table interactions (
    id uuid primary key,
    project uuid not null,
    session uuid not null,
    kind text not null,
    status text not null,
    channel text not null,
    agent text,
    asked_by text not null,
    delivery text,
    created_at bigint not null,
    deadline bigint,
    resolved_at bigint,
    -- When it was resolved, once nobody is expected to come for the answer: from here on it is only kept.
    retired_at bigint,
    wake_at bigint,
    revision bigint not null,
    state text not null
);
create index interactions_of_project on interactions (project, id);
create index interactions_by_status on interactions (project, status, id);
create index interactions_open on interactions (project, kind, id) where status = 'pending';
create index interactions_by_deadline on interactions (project, deadline, id)
    where status = 'pending' and deadline is not null;
create index interactions_of_session on interactions (session, id);
-- What a session still has to do with: open questions, and answers that nobody took.
create index interactions_alive on interactions (session, id) where status = 'pending' or delivery = 'waiting';
create index interactions_due on interactions (wake_at) where wake_at is not null;
create index interactions_to_deliver on interactions (project, asked_by, id, resolved_at) where delivery = 'waiting';
create index interactions_closed on interactions (resolved_at, project, status, created_at)
    where resolved_at is not null;
create index interactions_retired on interactions (retired_at) where retired_at is not null;

create table questions (
    interaction uuid primary key,
    title text not null,
    asked text not null
);

create table sealed (
    interaction uuid not null,
    name text not null,
    body bytea not null,
    primary key (interaction, name)
);

create table archive (
    interaction uuid primary key,
    project uuid not null,
    session uuid not null,
    resolved_at bigint not null,
    revision bigint not null,
    asked text not null,
    state text not null
);
create index archive_of_project on archive (project, interaction);

-- Commits happen in another order than `position` is drawn, so that readers go by (xid, position) below the snapshot's xmin.
-- `xid` is the transaction, or that of the event before it in the same session, if that is higher.
create table events (
    position bigint generated always as identity,
    xid xid8 not null,
    id uuid not null,
    project uuid not null,
    session uuid not null,
    seq bigint not null,
    type text not null,
    at bigint not null,
    step uuid,
    interaction uuid,
    data text not null,
    primary key (session, seq)
);
create index events_of_project on events (project, xid, position);
create index events_in_order on events (xid, position);

create table once (
    project uuid not null,
    actor text not null,
    key text not null,
    digest text not null,
    result text not null,
    at bigint not null,
    primary key (project, actor, key)
);
create index once_by_age on once (at);
