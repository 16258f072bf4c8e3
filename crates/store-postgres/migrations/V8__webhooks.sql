-- Subscriptions. Each follows the log of its project from its own cursor; whoever holds the lease sends for it.
create table webhooks (
    id uuid primary key,
    project uuid not null,
    enabled boolean not null,
    cursor_major xid8 not null,
    cursor_minor bigint not null,
    lease uuid,
    lease_until bigint,
    -- When it is looked at although nothing has happened, and whether it is left alone until then whatever happens.
    due_at bigint,
    held_back boolean not null,
    looked_at bigint not null,
    body text not null
);
create index webhooks_of_project on webhooks (project, id);

-- What they are signed with, sealed.
create table webhook_secrets (
    webhook uuid not null,
    number bigint not null,
    until bigint,
    data_key uuid not null,
    body bytea not null,
    primary key (webhook, number)
);
create index webhook_secrets_by_key on webhook_secrets (data_key);
create index webhook_secrets_by_end on webhook_secrets (until) where until is not null;

-- What is sent. What it says is in the log, or with the question.
create table webhook_deliveries (
    id uuid primary key,
    webhook uuid not null,
    state text not null,
    due_at bigint,
    settled_at bigint,
    interaction uuid,
    revision bigint,
    body text not null
);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook, id);
create index webhook_deliveries_by_state on webhook_deliveries (webhook, state, id);
create index webhook_deliveries_due on webhook_deliveries (webhook, due_at) where due_at is not null;
create unique index webhook_deliveries_of_answer on webhook_deliveries (webhook, interaction, revision)
    where interaction is not null;
create index webhook_deliveries_settled on webhook_deliveries (settled_at) where settled_at is not null;

-- Whoever moves questions to the archive locks this row: one server at a time does so.
insert into settings (name, value) values ('archive', 'one at a time') on conflict do nothing;
