-- People who sign in. A name stands once in a tenant; so does whom an identity provider means.
create table users (
    id uuid primary key,
    tenant uuid not null,
    name text not null,
    display text,
    subject text,
    password text,
    created_at bigint not null,
    signed_in_at bigint,
    unique (tenant, name)
);
create unique index users_by_subject on users (tenant, subject) where subject is not null;
create index users_signed_in on users (signed_in_at) where signed_in_at is not null;

-- What they are in each project.
create table memberships (
    "user" uuid not null,
    project uuid not null,
    role text not null,
    groups text not null,
    disabled_at bigint,
    primary key ("user", project)
);
create index memberships_of_project on memberships (project, "user");

-- Browsers in which they are signed in.
create table visits (
    id uuid primary key,
    "user" uuid not null,
    project uuid not null,
    hash bytea not null,
    by_link boolean not null,
    created_at bigint not null,
    seen_at bigint not null
);
create index visits_of_user on visits ("user");
create index visits_by_use on visits (seen_at);
create index visits_by_age on visits (created_at);

-- Links that sign them in once.
create table links (
    id uuid primary key,
    "user" uuid not null,
    hash bytea not null,
    created_at bigint not null,
    expires_at bigint not null
);
create index links_of_user on links ("user");
create index links_by_end on links (expires_at);
