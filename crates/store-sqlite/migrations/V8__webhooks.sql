-- Subscriptions. Each follows the log of its project from its own cursor; whoever holds the lease sends for it.
create table webhooks (
    id blob primary key,
    project blob not null,
    enabled integer not null,
    cursor_major integer not null,
    cursor_minor integer not null,
    lease blob,
    lease_until integer,
    -- When it is looked at although nothing has happened, and whether it is left alone until then whatever happens.
    due_at integer,
    held_back integer not null,
    looked_at integer not null,
    body text not null
) without rowid;
create index webhooks_of_project on webhooks (project, id);

-- What they are signed with, sealed.
create table webhook_secrets (
    webhook blob not null,
    number integer not null,
    until integer,
    data_key blob not null,
    body blob not null,
    primary key (webhook, number)
) without rowid;
create index webhook_secrets_by_key on webhook_secrets (data_key);
create index webhook_secrets_by_end on webhook_secrets (until) where until is not null;

-- What is sent. What it says is in the log, or with the question.
create table webhook_deliveries (
    id blob primary key,
    webhook blob not null,
    state text not null,
    due_at integer,
    settled_at integer,
    interaction blob,
    revision integer,
    body text not null
) without rowid;
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook, id);
create index webhook_deliveries_by_state on webhook_deliveries (webhook, state, id);
create index webhook_deliveries_due on webhook_deliveries (webhook, due_at) where due_at is not null;
create unique index webhook_deliveries_of_answer on webhook_deliveries (webhook, interaction, revision)
    where interaction is not null;
create index webhook_deliveries_settled on webhook_deliveries (settled_at) where settled_at is not null;
