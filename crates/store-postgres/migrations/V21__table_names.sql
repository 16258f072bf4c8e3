-- Renames tables, columns and indexes to the words that the code uses. No row changes. Each statement only changes the catalogue.
alter table proposals rename to actions;
alter index proposals_pkey rename to actions_pkey;
alter index proposals_due rename to actions_due;
alter index proposals_by_age rename to actions_by_age;
alter index proposals_asked rename to actions_asked;

alter table once rename to idempotency_records;
alter index once_pkey rename to idempotency_records_pkey;
alter index once_by_age rename to idempotency_records_by_age;
alter index once_by_key rename to idempotency_records_by_key;

alter table sealed rename to sealed_values;
alter index sealed_pkey rename to sealed_values_pkey;
alter index sealed_by_key rename to sealed_values_by_key;

alter table luggage rename to session_inputs;
alter index luggage_pkey rename to session_inputs_pkey;

-- Whether workers of this server run the session, or the agent that the secret is kept for.
alter table sessions rename column driven to hosted;
alter table secrets rename column driven to hosted;
-- The text that a search looks through, in lower case.
alter table questions rename column said to search_text;
