-- Keys that values are sealed with, wrapped with the master key that `master` names. Of a tenant the one with the highest number
-- seals. The tenant of sixteen zero bytes is the installation itself.
create table data_keys (
    id blob primary key,
    tenant blob not null,
    number integer not null,
    master text not null,
    wrapped text not null,
    unique (tenant, number)
);

-- What was a setting for each tenant becomes its first key, under the tenant's own id.
insert into data_keys (id, tenant, number, master, wrapped)
    select tenants.id, tenants.id, 1, substr(value, 1, instr(value, ':') - 1), substr(value, instr(value, ':') + 1)
    from settings join tenants on replace(settings.name, '-', '') = 'data_key:ten_' || lower(hex(tenants.id));
delete from settings where name like 'data\_key:%' escape '\';

-- A sealed value names its key.
create table sealed_values (
    interaction blob not null,
    name text not null,
    data_key blob not null,
    body blob not null,
    primary key (interaction, name)
) without rowid;
insert into sealed_values (interaction, name, data_key, body)
    select interaction, sealed.name, projects.tenant, body from sealed
    join interactions on interactions.id = sealed.interaction join projects on projects.id = interactions.project;
drop table sealed;
alter table sealed_values rename to sealed;
create index sealed_by_key on sealed (data_key);

-- Secrets that people keep for an agent's later sessions.
create table secrets (
    id blob primary key,
    project blob not null,
    agent text not null,
    name text not null,
    kept_by text not null,
    kept_at integer not null,
    used_at integer,
    data_key blob not null,
    body blob not null,
    unique (project, agent, name)
);
create index secrets_of_project on secrets (project, id);
create index secrets_by_key on secrets (data_key);
