-- Which sessions our own workers run, and the flow that one follows.
alter table sessions add column driven integer not null default 0;
alter table sessions add column flow text;
alter table sessions add column flow_version text;

-- When a worker should look at a step; none while it sleeps, has ended, or is a foreign agent's.
alter table steps add column due integer;
create index steps_due on steps (due) where due is not null;

-- What a step has become once it has taken the inputs up to a number.
create table step_states (
    step blob primary key references steps (id),
    upto integer not null,
    body text not null
) without rowid;

create table journal (
    step blob not null references steps (id),
    seq integer not null,
    at integer not null,
    body text not null,
    primary key (step, seq)
);

-- Versions of agents and flows: they never change.
create table definitions (
    project blob not null references projects (id),
    kind text not null,
    name text not null,
    version text not null,
    at integer not null,
    retired_at integer,
    body text not null,
    primary key (project, kind, name, version)
);
create index definitions_in_use on definitions (project, kind, name, at) where retired_at is null;

-- How often people gave the same answer at the same place.
create table answer_counts (
    project blob not null references projects (id),
    place text not null,
    kind text not null,
    digest text not null,
    count integer not null,
    at integer not null,
    body text not null,
    primary key (project, place, kind, digest)
);
create index answers_by_count on answer_counts (project, place, kind, count desc, at desc);
