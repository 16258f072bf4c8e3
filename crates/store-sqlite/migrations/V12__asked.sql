-- The actions that people were asked about, by age: rules are learnt from those.
alter table proposals add column asked integer not null default 0;
update proposals set asked = 1 where body like '%"asked":["int%';
create index proposals_asked on proposals (project, at, session, call) where asked;
