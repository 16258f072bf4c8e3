-- The client and the root directory of a key, as JSON.
alter table keys add column environment text not null default '{}';
