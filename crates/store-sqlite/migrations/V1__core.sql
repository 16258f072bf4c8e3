-- Times are UTC microseconds, ids the 16 bytes of their UUID, JSON the serde form of the domain.

create table settings (
    name text primary key,
    value text not null
) without rowid;

create table tenants (
    id blob primary key,
    name text not null unique
) without rowid;

create table projects (
    id blob primary key,
    tenant blob not null references tenants (id),
    name text not null,
    unique (tenant, name)
) without rowid;

create table keys (
    id blob primary key,
    project blob not null references projects (id),
    role text not null,
    user text,
    groups text not null,
    hash blob not null,
    created_at integer not null,
    expires_at integer,
    revoked_at integer,
    last_used_at integer
) without rowid;
create index keys_of_project on keys (project, id);

create table sessions (
    id blob primary key,
    project blob not null references projects (id),
    status text not null,
    agent text,
    agent_version text,
    channel text not null,
    title text,
    step blob not null,
    started_by text not null,
    created_at integer not null,
    paused text,
    ended text,
    waiting_on integer not null,
    open integer not null,
    last_seq integer not null
);
create index sessions_of_project on sessions (project, id);
create index sessions_live on sessions (project, id) where ended is null;

create table luggage (
    session blob primary key references sessions (id),
    body text not null
);

create table steps (
    id blob primary key,
    session blob not null references sessions (id),
    project blob not null,
    body text not null
);
create index steps_of_session on steps (session, id);

-- What changes. What was asked never does, and is in `questions`.
create table interactions (
    id blob primary key,
    project blob not null references projects (id),
    session blob not null references sessions (id),
    kind text not null,
    status text not null,
    channel text not null,
    agent text,
    asked_by text not null,
    delivery text,
    created_at integer not null,
    deadline integer,
    resolved_at integer,
    -- When it was resolved, once nobody is expected to come for the answer: from here on it is only kept.
    retired_at integer,
    wake_at integer,
    revision integer not null,
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
    interaction blob primary key,
    title text not null,
    asked text not null
);

create table sealed (
    interaction blob not null,
    name text not null,
    body blob not null,
    primary key (interaction, name)
) without rowid;

create table archive (
    interaction blob primary key,
    project blob not null,
    session blob not null,
    resolved_at integer not null,
    revision integer not null,
    asked text not null,
    state text not null
);
create index archive_of_project on archive (project, interaction);

-- One writer, so that `position` is the commit order.
create table events (
    position integer primary key autoincrement,
    id blob not null,
    project blob not null,
    session blob not null,
    seq integer not null,
    type text not null,
    at integer not null,
    step blob,
    interaction blob,
    data text not null
);
create unique index events_of_session on events (session, seq);
create index events_of_project on events (project, position);

create table once (
    project blob not null,
    actor text not null,
    key text not null,
    digest text not null,
    result text not null,
    at integer not null,
    primary key (project, actor, key)
) without rowid;
create index once_by_age on once (at);
