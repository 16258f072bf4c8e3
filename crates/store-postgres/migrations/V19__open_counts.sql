-- Who asked a question (`agent:NAME`, `user:NAME`) and how many bytes it takes. Both are filled in for open questions only: they
-- are read when a question is closed, to take it off the totals.
alter table interactions add column asker text not null default '';
alter table interactions add column weight bigint not null default 0;

-- How many questions every asker has open, and their bytes.
create table open_counts (
    project uuid not null,
    asker text not null,
    questions bigint not null,
    bytes bigint not null,
    primary key (project, asker)
) with (fillfactor = 50);

-- The same of every tenant, in shards: two transactions of one tenant that ask at the same time do not wait for each other's row.
-- The tenant's total is the sum of its shards.
create table tenant_open_counts (
    tenant uuid not null,
    shard integer not null,
    questions bigint not null,
    bytes bigint not null,
    primary key (tenant, shard)
) with (fillfactor = 50);

-- A text with a NUL character cannot be read as JSON by this database; who asked stands at its beginning.
update interactions set
    asker = case when asked like '%\\u0000%'
        then coalesce(substring(asked from '"asked_by":\{"kind":"([a-z]+)"'), '') || ':'
            || coalesce(substring(asked from '"asked_by":\{"kind":"[a-z]+","name":"((?:[^"\\]|\\.)*)"'), '')
        else coalesce(asked::json #>> '{origin,asked_by,kind}', '') || ':' || coalesce(asked::json #>> '{origin,asked_by,name}', '') end,
    weight = octet_length(asked)
        + coalesce((select sum(octet_length(body)) from sealed where sealed.interaction = interactions.id), 0)
    from questions where questions.interaction = interactions.id and status = 'pending';
insert into open_counts (project, asker, questions, bytes)
    select project, asker, count(*), sum(weight) from interactions where status = 'pending' and asker <> '' group by project, asker;
insert into tenant_open_counts (tenant, shard, questions, bytes)
    select projects.tenant, 0, sum(questions), sum(bytes) from open_counts join projects on projects.id = open_counts.project
    group by projects.tenant;
