-- A name belongs to whoever had it first, whatever its case. Accounts whose names differ only by case, made before this rule, stay: the first
-- one keeps the folded name, and the others have none.
alter table users add column folded text;
update users set folded = lower(name) where not exists (
    select 1 from users as first where first.tenant = users.tenant and lower(first.name) = lower(users.name) and first.id < users.id);
create unique index users_by_folded on users (tenant, folded) where folded is not null;
create index keys_by_user on keys (lower(user));
