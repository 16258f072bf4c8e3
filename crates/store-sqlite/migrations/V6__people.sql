-- People who sign in. A name stands once in a tenant; so does whom an identity provider means.
create table users (
    id blob primary key,
    tenant blob not null,
    name text not null,
    display text,
    subject text,
    password text,
    created_at integer not null,
    signed_in_at integer,
    unique (tenant, name)
) without rowid;
create unique index users_by_subject on users (tenant, subject) where subject is not null;
create index users_signed_in on users (signed_in_at) where signed_in_at is not null;

-- What they are in each project.
create table memberships (
    user blob not null,
    project blob not null,
    role text not null,
    groups text not null,
    disabled_at integer,
    primary key (user, project)
) without rowid;
create index memberships_of_project on memberships (project, user);

-- Browsers in which they are signed in.
create table visits (
    id blob primary key,
    user blob not null,
    project blob not null,
    hash blob not null,
    by_link integer not null,
    created_at integer not null,
    seen_at integer not null
) without rowid;
create index visits_of_user on visits (user);
create index visits_by_use on visits (seen_at);
create index visits_by_age on visits (created_at);

-- Links that sign them in once.
create table links (
    id blob primary key,
    user blob not null,
    hash blob not null,
    created_at integer not null,
    expires_at integer not null
) without rowid;
create index links_of_user on links (user);
create index links_by_end on links (expires_at);
