-- The secret that a command gave, sealed, for as long as its idempotency record is kept.
alter table once add column data_key uuid;
alter table once add column secret bytea;
create index once_by_key on once (data_key) where data_key is not null;

-- By how much the transaction ids of this cluster are raised before they are recorded: more than 0 after a dump was restored into a
-- cluster whose ids are lower than those in the dump. One row.
create table lineage (
    raised bigint not null
);
insert into lineage (raised) values (0);
