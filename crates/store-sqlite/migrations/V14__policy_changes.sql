-- Every change of a project's policy, in order: the same text may be put in force again. What was known before has its row, in the order
-- in which it came to be known; its body has the text too, which is not read.
create table policy_changes (
    project blob not null references projects (id),
    number integer not null,
    version text not null,
    body text not null,
    primary key (project, number)
) without rowid;
insert into policy_changes (project, number, version, body)
    select project, row_number() over (partition by project order by at, version), version, body from policy_versions;
