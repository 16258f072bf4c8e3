-- The actions that people were asked about, by age: rules are learnt from those.
alter table proposals add column asked boolean not null default false;
update proposals set asked = true where body like '%"asked":["int%';
create index proposals_asked on proposals (project, at, session, call) where asked;
