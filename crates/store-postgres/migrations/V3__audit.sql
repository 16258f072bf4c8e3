-- Entries are inserted and never changed. As in `events`, readers go by (xid, position) below the snapshot's xmin, and `xid` is the
-- transaction, or that of the event before it in the same session, if that is higher.
create table audit (
    position bigint generated always as identity,
    xid xid8 not null,
    tenant uuid not null,
    project uuid not null,
    at bigint not null,
    type text not null,
    by text not null,
    session uuid,
    interaction uuid,
    digest bytea not null,
    text text not null,
    primary key (xid, position)
);

-- The place of each entry in its tenant's chain, given afterwards; the indexes of lists are here, so that appending pays for none.
create table audit_chain (
    tenant uuid not null,
    seq bigint not null,
    project uuid not null,
    session uuid,
    xid xid8 not null,
    position bigint not null,
    hash bytea not null,
    primary key (tenant, seq)
);
create index audit_of_project on audit_chain (project, seq);
create index audit_of_session on audit_chain (session, seq) where session is not null;

create table audit_heads (
    tenant uuid primary key,
    seq bigint not null,
    hash bytea not null,
    signed_seq bigint not null,
    signed_at bigint
);

create table audit_checkpoints (
    tenant uuid not null,
    seq bigint not null,
    body text not null,
    primary key (tenant, seq)
);

-- One row: everything up to here has its place. Whoever chains holds its lock.
create table audit_linked (
    xid xid8 not null,
    position bigint not null
);
insert into audit_linked (xid, position) values ('0', 0);
