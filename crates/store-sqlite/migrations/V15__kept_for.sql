-- A secret is kept for a key, or for an agent that our workers run: those of the same name are not the same. Which of the two an older secret
-- was kept for was not written down. Where only an agent of that name is known in the project, it is the agent's; where a key has the name
-- too, nobody can tell, and neither is given it (null); else it is the key's.
create table secrets_kept (
    id blob primary key,
    project blob not null,
    agent text not null,
    driven integer,
    name text not null,
    kept_by text not null,
    kept_at integer not null,
    used_at integer,
    data_key blob not null,
    body blob not null,
    unique (project, agent, driven, name)
);
insert into secrets_kept (id, project, agent, driven, name, kept_by, kept_at, used_at, data_key, body)
    select id, project, agent,
        case
            when not exists (select 1 from definitions where definitions.project = secrets.project
                             and definitions.kind = 'agent' and definitions.name = secrets.agent) then 0
            when exists (select 1 from keys where keys.project = secrets.project and keys.user = secrets.agent) then null
            else 1
        end,
        name, kept_by, kept_at, used_at, data_key, body
    from secrets;
drop table secrets;
alter table secrets_kept rename to secrets;
create index secrets_of_project on secrets (project, id);
create index secrets_by_key on secrets (data_key);

-- Whether agents read the sessions of the whole project, or only their own: a setting of each project, as JSON.
alter table projects add column settings text;
