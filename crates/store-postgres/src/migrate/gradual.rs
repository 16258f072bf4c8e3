//! Migrations that change every row of a table that may be large, in steps that hold no lock for long.
//!
//! An empty database runs the text of such a migration. A database with rows runs the steps of this module instead, and records the
//! migration as if its text had run; a test compares the two. Each step is repeatable, because a node can die between any two of them.
//!
//! The steps name tables and columns as they were at their version. Migration 21 renames some of them.

use std::time::Instant;

use postgres::Client;

use super::Trouble;

/// Number of rows that are changed in one transaction.
const BATCH: u32 = 2000;
/// Number of batches between two log lines about the progress.
const LOGGED_EVERY: u64 = 50;

/// A step of a migration.
pub(super) enum MigrationStep {
    /// Statements that hold their locks only for a moment, in one transaction.
    Short(&'static str),
    /// Changes the rows of a table, a batch at a time, in the order of its primary key.
    Rows(Rows),
    /// Builds an index without blocking readers and writers: its name, and its table and columns.
    Index(&'static str, &'static str),
    /// Builds a unique index without blocking readers and writers: its name, and its table and columns.
    UniqueIndex(&'static str, &'static str),
}

/// A change of the rows of a table.
pub(super) struct Rows {
    /// Name of the table.
    table: &'static str,
    /// Columns of the primary key with their types.
    key: &'static [(&'static str, &'static str)],
    /// Assignments of the `set` clause.
    set: &'static str,
    /// Another table in the `from` clause; empty if there is none.
    from: &'static str,
    /// Condition on the rows and on the join with the other table; empty for all rows.
    only: &'static str,
}

const PROPOSALS: &[(&str, &str)] = &[("session", "uuid"), ("call", "text")];

/// Migrations that are done in steps, by version.
const GRADUAL: &[(i32, &[MigrationStep])] = &[
    (
        11,
        &[
            MigrationStep::Short(
                "alter table proposals add column if not exists at bigint not null default 0; \
                 create table if not exists policy_shadows (project uuid primary key, number bigint not null, \
                 version text not null, text text not null); \
                 create table if not exists policy_differences (project uuid not null, number bigint not null, \
                 at bigint not null, session uuid not null, call text not null, body text not null, \
                 primary key (project, number, at, session, call)); \
                 create table if not exists policy_difference_counts (project uuid not null, number bigint not null, \
                 given text not null, drafted text not null, shard bigint not null, count bigint not null, \
                 primary key (project, number, given, drafted, shard))",
            ),
            MigrationStep::Rows(Rows {
                table: "proposals",
                key: PROPOSALS,
                set: "at = sessions.created_at",
                from: "sessions",
                only: "sessions.id = proposals.session",
            }),
            MigrationStep::Index("proposals_by_age", "proposals (project, at, session, call)"),
        ],
    ),
    (
        12,
        &[
            MigrationStep::Short("alter table proposals add column if not exists asked boolean not null default false"),
            MigrationStep::Rows(Rows {
                table: "proposals",
                key: PROPOSALS,
                set: "asked = true",
                from: "",
                only: "body like '%\"asked\":[\"int%'",
            }),
            MigrationStep::Index("proposals_asked", "proposals (project, at, session, call) where asked"),
        ],
    ),
    (
        13,
        &[
            MigrationStep::Short("alter table questions add column if not exists said text not null default ''"),
            MigrationStep::Rows(Rows {
                table: "questions",
                key: &[("interaction", "uuid")],
                set: "said = lower(case when asked like '%\\\\u0000%' then title else concat_ws(chr(10), title, \
                      asked::json #>> '{question,action,tool}', asked::json #>> '{origin,agent}', \
                      asked::json #>> '{question,message}', asked::json #>> '{question,action,arguments}') end)",
                from: "",
                only: "",
            }),
        ],
    ),
    (15, KEPT_FOR),
    (18, FOLDED_NAMES),
    (19, OPEN_COUNTS),
    (20, SEALED_RESULTS),
];

const KEPT_FOR: &[MigrationStep] = &[
    // The constraint exists already if a node died after the last step.
    MigrationStep::Short(
        "alter table secrets add column if not exists driven boolean; \
         alter table secrets drop constraint if exists secrets_of_holder; \
         alter table projects add column if not exists settings text",
    ),
    MigrationStep::Rows(Rows {
        table: "secrets",
        key: &[("id", "uuid")],
        set: "driven = case when not exists (select 1 from definitions where definitions.project = secrets.project \
              and definitions.kind = 'agent' and definitions.name = secrets.agent) then false \
              when exists (select 1 from keys where keys.project = secrets.project \
              and keys.\"user\" = secrets.agent) then null else true end",
        from: "",
        only: "",
    }),
    MigrationStep::UniqueIndex("secrets_of_holder", "secrets (project, agent, driven, name)"),
    MigrationStep::Short(
        "alter table secrets drop constraint if exists secrets_project_agent_name_key; \
         alter table secrets add constraint secrets_of_holder unique using index secrets_of_holder",
    ),
];

const FOLDED_NAMES: &[MigrationStep] = &[
    MigrationStep::Short("alter table users add column if not exists folded text"),
    MigrationStep::Rows(Rows {
        table: "users",
        key: &[("id", "uuid")],
        set: "folded = lower(users.name collate \"C\")",
        from: "",
        only: "not exists (select 1 from users as first where first.tenant = users.tenant \
               and lower(first.name collate \"C\") = lower(users.name collate \"C\") and first.id < users.id)",
    }),
    MigrationStep::UniqueIndex("users_by_folded", "users (tenant, folded) where folded is not null"),
    MigrationStep::Index("keys_by_user", "keys (lower(\"user\" collate \"C\"))"),
];

const OPEN_COUNTS: &[MigrationStep] = &[
    MigrationStep::Short(
        "alter table interactions add column if not exists asker text not null default '', \
         add column if not exists weight bigint not null default 0; \
         create table if not exists open_counts (project uuid not null, asker text not null, \
         questions bigint not null, bytes bigint not null, primary key (project, asker)) with (fillfactor = 50); \
         create table if not exists tenant_open_counts (tenant uuid not null, shard integer not null, \
         questions bigint not null, bytes bigint not null, primary key (tenant, shard)) with (fillfactor = 50)",
    ),
    MigrationStep::Rows(Rows {
        table: "interactions",
        key: &[("id", "uuid")],
        set: r#"asker = case when questions.asked like '%\\u0000%'
                    then coalesce(substring(questions.asked from '"asked_by":\{"kind":"([a-z]+)"'), '') || ':'
                        || coalesce(substring(questions.asked from '"asked_by":\{"kind":"[a-z]+","name":"((?:[^"\\]|\\.)*)"'), '')
                    else coalesce(questions.asked::json #>> '{origin,asked_by,kind}', '') || ':'
                        || coalesce(questions.asked::json #>> '{origin,asked_by,name}', '') end,
                weight = octet_length(questions.asked) + coalesce(
                    (select sum(octet_length(body)) from sealed where sealed.interaction = interactions.id), 0)"#,
        from: "questions",
        only: "questions.interaction = interactions.id and interactions.status = 'pending'",
    }),
    // No transaction uses the new tables yet, and `interactions` is only read, so that nothing waits for this.
    MigrationStep::Short(
        "delete from open_counts; delete from tenant_open_counts; \
         insert into open_counts (project, asker, questions, bytes) select project, asker, count(*), sum(weight) \
         from interactions where status = 'pending' and asker <> '' group by project, asker; \
         insert into tenant_open_counts (tenant, shard, questions, bytes) \
         select projects.tenant, 0, sum(questions), sum(bytes) from open_counts \
         join projects on projects.id = open_counts.project group by projects.tenant",
    ),
];

const SEALED_RESULTS: &[MigrationStep] = &[
    MigrationStep::Short(
        "alter table once add column if not exists data_key uuid, add column if not exists secret bytea; \
         create table if not exists lineage (raised bigint not null); \
         insert into lineage (raised) select 0 where not exists (select 1 from lineage)",
    ),
    MigrationStep::Index("once_by_key", "once (data_key) where data_key is not null"),
];

/// Returns the steps of a migration, if it has any.
pub(super) fn steps(version: i32) -> Option<&'static [MigrationStep]> {
    GRADUAL.iter().find(|(gradual, _)| *gradual == version).map(|(_, steps)| *steps)
}

/// Runs the steps of a migration.
pub(super) fn take(client: &mut Client, version: i32, steps: &[MigrationStep]) -> Result<(), Trouble> {
    for step in steps {
        match step {
            MigrationStep::Short(sql) => client.batch_execute(sql)?,
            MigrationStep::Rows(rows) => change(client, version, rows)?,
            MigrationStep::Index(name, on) => build(client, version, ("index", name), on)?,
            MigrationStep::UniqueIndex(name, on) => build(client, version, ("unique index", name), on)?,
        }
    }
    Ok(())
}

fn change(client: &mut Client, version: i32, rows: &Rows) -> Result<(), Trouble> {
    let (begun, mut batches) = (Instant::now(), 0_u64);
    let mut after: Option<Vec<String>> = None;
    loop {
        let last = match &after {
            None => client.query_opt(&rows.statement(false), &[])?,
            Some(after) => client.query_opt(&rows.statement(true), &[after])?,
        };
        let Some(last) = last else { return Ok(()) };
        after = Some((0..rows.key.len()).map(|index| last.get(index)).collect());
        batches += 1;
        if batches.is_multiple_of(LOGGED_EVERY) {
            let seconds = begun.elapsed().as_secs_f64();
            tracing::info!(
                version,
                table = rows.table,
                rows = batches * u64::from(BATCH),
                seconds,
                "migrationProgress"
            );
        }
    }
}

/// Builds an index. The build waits until all running transactions have ended. No transaction queues behind it meanwhile, so that it needs
/// no lock timeout, which would only make it start over.
fn build(client: &mut Client, version: i32, (kind, name): (&str, &str), on: &str) -> Result<(), Trouble> {
    let lock_timeout: String = client.query_one("show lock_timeout", &[])?.get(0);
    tracing::info!(version, index = name, "migrationBuildsIndex");
    // An earlier attempt may have left an invalid index.
    client.batch_execute(&format!("drop index if exists {name}"))?;
    client.batch_execute("set lock_timeout = 0")?;
    let built = client.batch_execute(&format!("create {kind} concurrently {name} on {on}"));
    client.batch_execute(&format!("set lock_timeout = '{lock_timeout}'"))?;
    Ok(built?)
}

impl Rows {
    /// Returns the statement that changes one batch and returns the key of its last row as texts; no row at the end of the table.
    fn statement(&self, after: bool) -> String {
        let Self { table, key, set, from, only } = self;
        let listed = |each: &dyn Fn(usize, &str, &str) -> String| {
            let parts: Vec<String> = key.iter().enumerate().map(|(at, (name, of))| each(at + 1, name, of)).collect();
            parts.join(", ")
        };
        let names = listed(&|_, name, _| name.to_owned());
        let beyond = if after {
            format!("where ({names}) > ({})", listed(&|at, _, of| format!("($1::text[])[{at}]::{of}")))
        } else {
            String::new()
        };
        let texts = listed(&|_, name, _| format!("{name}::text"));
        let backwards = listed(&|_, name, _| format!("batch.{name} desc"));
        let same: Vec<String> = key.iter().map(|(name, _)| format!("{table}.{name} = batch.{name}")).collect();
        let same = same.join(" and ");
        let from = if from.is_empty() { String::new() } else { format!(", {from}") };
        let only = if only.is_empty() { String::new() } else { format!(" and {only}") };
        format!(
            "with batch as (select {names} from {table} {beyond} order by {names} limit {BATCH}), \
             changed as (update {table} set {set} from batch{from} where {same}{only}) \
             select {texts} from batch order by {backwards} limit 1"
        )
    }
}
