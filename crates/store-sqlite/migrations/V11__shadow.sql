-- The actions of a project by age. What was proposed before this column is as old as its session.
alter table proposals add column at integer not null default 0;
update proposals set at = coalesce((select created_at from sessions where sessions.id = proposals.session), 0);
create index proposals_by_age on proposals (project, at, session, call);

-- The draft that is judged beside the policy in force, under the number by which its differences are known.
create table policy_shadows (
    project blob primary key references projects (id),
    number integer not null,
    version text not null,
    text text not null
) without rowid;

create table policy_differences (
    project blob not null references projects (id),
    number integer not null,
    at integer not null,
    session blob not null,
    call text not null,
    body text not null,
    primary key (project, number, at, session, call)
) without rowid;

-- In shards, so that sessions seldom wait for each other.
create table policy_difference_counts (
    project blob not null references projects (id),
    number integer not null,
    given text not null,
    drafted text not null,
    shard integer not null,
    count integer not null,
    primary key (project, number, given, drafted, shard)
) without rowid;
