-- What browsers open one stream with, in place of a credential that they cannot send there.
create table tickets (
    id uuid primary key,
    tenant uuid not null,
    project uuid not null,
    key uuid,
    visit uuid,
    hash bytea not null,
    expires_at bigint not null
);
create index tickets_by_end on tickets (expires_at);
