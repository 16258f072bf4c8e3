-- A secret is kept for a key, or for an agent that our workers run: those of the same name are not the same. Which of the two an older secret
-- was kept for was not written down. Where only an agent of that name is known in the project, it is the agent's; where a key has the name
-- too, nobody can tell, and neither is given it (null); else it is the key's.
alter table secrets add column driven boolean;
update secrets set driven =
    case
        when not exists (select 1 from definitions where definitions.project = secrets.project
                         and definitions.kind = 'agent' and definitions.name = secrets.agent) then false
        when exists (select 1 from keys where keys.project = secrets.project and keys."user" = secrets.agent) then null
        else true
    end;
alter table secrets drop constraint secrets_project_agent_name_key;
alter table secrets add constraint secrets_of_holder unique (project, agent, driven, name);

-- Whether agents read the sessions of the whole project, or only their own: a setting of each project, as JSON.
alter table projects add column settings text;
