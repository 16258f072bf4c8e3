-- Who asked a question (`agent:NAME`, `user:NAME`) and how many bytes it takes. Both are filled in for open questions only: they
-- are read when a question is closed, to take it off the totals.
alter table interactions add column asker text not null default '';
alter table interactions add column weight integer not null default 0;

-- How many questions every asker has open, and their bytes.
create table open_counts (
    project blob not null,
    asker text not null,
    questions integer not null,
    bytes integer not null,
    primary key (project, asker)
) without rowid;

-- The same of every tenant. There is one writer, so that one row is enough.
create table tenant_open_counts (
    tenant blob primary key,
    questions integer not null,
    bytes integer not null
) without rowid;

update interactions set
    asker = (select coalesce(asked ->> '$.origin.asked_by.kind', '') || ':' || coalesce(asked ->> '$.origin.asked_by.name', '')
        from questions where questions.interaction = interactions.id),
    weight = (select length(cast(asked as blob)) from questions where questions.interaction = interactions.id)
        + coalesce((select sum(length(body)) from sealed where sealed.interaction = interactions.id), 0)
    where status = 'pending' and exists (select 1 from questions where questions.interaction = interactions.id);
insert into open_counts (project, asker, questions, bytes)
    select project, asker, count(*), sum(weight) from interactions where status = 'pending' and asker <> '' group by project, asker;
insert into tenant_open_counts (tenant, questions, bytes)
    select projects.tenant, sum(questions), sum(bytes) from open_counts join projects on projects.id = open_counts.project
    group by projects.tenant;
