-- Entries are inserted and never changed. One writer, so that `position` is the commit order.
create table audit (
    position integer primary key autoincrement,
    tenant blob not null,
    project blob not null,
    at integer not null,
    type text not null,
    by text not null,
    session blob,
    interaction blob,
    digest blob not null,
    text text not null
);

-- The place of each entry in its tenant's chain, given afterwards; the indexes of lists are here, so that appending pays for none.
create table audit_chain (
    tenant blob not null,
    seq integer not null,
    project blob not null,
    session blob,
    position integer not null,
    hash blob not null,
    primary key (tenant, seq)
) without rowid;
create index audit_of_project on audit_chain (project, seq);
create index audit_of_session on audit_chain (session, seq) where session is not null;

create table audit_heads (
    tenant blob primary key,
    seq integer not null,
    hash blob not null,
    signed_seq integer not null,
    signed_at integer
) without rowid;

create table audit_checkpoints (
    tenant blob not null,
    seq integer not null,
    body text not null,
    primary key (tenant, seq)
) without rowid;

-- One row: everything up to here has its place.
create table audit_linked (
    position integer not null
);
insert into audit_linked (position) values (0);
