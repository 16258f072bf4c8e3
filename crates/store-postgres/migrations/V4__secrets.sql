-- Keys that values are sealed with, wrapped with the master key that `master` names. Of a tenant the one with the highest number
-- seals. The tenant of sixteen zero bytes is the installation itself.
create table data_keys (
    id uuid primary key,
    tenant uuid not null,
    number bigint not null,
    master text not null,
    wrapped text not null,
    unique (tenant, number)
);

-- What was a setting for each tenant becomes its first key, under the tenant's own id.
insert into data_keys (id, tenant, number, master, wrapped)
    select tenants.id, tenants.id, 1, split_part(value, ':', 1), split_part(value, ':', 2)
    from settings join tenants on settings.name = 'data_key:ten_' || tenants.id::text;
delete from settings where name like 'data\_key:%';

-- A sealed value names its key.
alter table sealed add column data_key uuid;
update sealed set data_key = projects.tenant from interactions join projects on projects.id = interactions.project
    where interactions.id = sealed.interaction;
delete from sealed where data_key is null;
alter table sealed alter column data_key set not null;
create index sealed_by_key on sealed (data_key);

-- Secrets that people keep for an agent's later sessions.
create table secrets (
    id uuid primary key,
    project uuid not null,
    agent text not null,
    name text not null,
    kept_by text not null,
    kept_at bigint not null,
    used_at bigint,
    data_key uuid not null,
    body bytea not null,
    unique (project, agent, name)
);
create index secrets_of_project on secrets (project, id);
create index secrets_by_key on secrets (data_key);
