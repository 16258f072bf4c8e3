-- What browsers open one stream with, in place of a credential that they cannot send there.
create table tickets (
    id blob primary key,
    tenant blob not null,
    project blob not null,
    key blob,
    visit blob,
    hash blob not null,
    expires_at integer not null
) without rowid;
create index tickets_by_end on tickets (expires_at);
