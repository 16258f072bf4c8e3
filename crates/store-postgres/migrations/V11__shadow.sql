-- The actions of a project by age. What was proposed before this column is as old as its session.
alter table proposals add column at bigint not null default 0;
update proposals set at = sessions.created_at from sessions where sessions.id = proposals.session;
create index proposals_by_age on proposals (project, at, session, call);

-- The draft that is judged beside the policy in force, under the number by which its differences are known.
create table policy_shadows (
    project uuid primary key,
    number bigint not null,
    version text not null,
    text text not null
);

create table policy_differences (
    project uuid not null,
    number bigint not null,
    at bigint not null,
    session uuid not null,
    call text not null,
    body text not null,
    primary key (project, number, at, session, call)
);

-- In shards, so that sessions seldom wait for each other.
create table policy_difference_counts (
    project uuid not null,
    number bigint not null,
    given text not null,
    drafted text not null,
    shard bigint not null,
    count bigint not null,
    primary key (project, number, given, drafted, shard)
);
