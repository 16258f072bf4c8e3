-- Renames tables, columns and indexes to the words that the code uses. No row changes.
alter table proposals rename to actions;
drop index proposals_due;
drop index proposals_by_age;
drop index proposals_asked;
create index actions_due on actions (wake_at) where wake_at is not null;
create index actions_by_age on actions (project, at, session, call);
create index actions_asked on actions (project, at, session, call) where asked;

alter table once rename to idempotency_records;
drop index once_by_age;
drop index once_by_key;
create index idempotency_records_by_age on idempotency_records (at);
create index idempotency_records_by_key on idempotency_records (data_key) where data_key is not null;

alter table sealed rename to sealed_values;
drop index sealed_by_key;
create index sealed_values_by_key on sealed_values (data_key);

alter table luggage rename to session_inputs;

-- Whether workers of this server run the session, or the agent that the secret is kept for.
alter table sessions rename column driven to hosted;
alter table secrets rename column driven to hosted;
-- The text that a search looks through, in lower case.
alter table questions rename column said to search_text;
