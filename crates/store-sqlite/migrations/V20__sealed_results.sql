-- The secret that a command gave, sealed, for as long as its idempotency record is kept.
alter table once add column data_key blob;
alter table once add column secret blob;
create index once_by_key on once (data_key) where data_key is not null;
