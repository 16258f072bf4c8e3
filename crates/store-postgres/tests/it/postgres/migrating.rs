//! Migrations while other clients use the database: locks, log lines, and repeated steps.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_store_postgres::{PostgresOptions, PostgresStore};
use postgres::Client;
use refinery::Target;
use testkit::postgres::TestDatabase;
use tracing_subscriber::fmt::MakeWriter;

use crate::postgres::common::{database, until};

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Collects the lines of the log.
#[derive(Clone, Default)]
struct Log(Arc<parking_lot::Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }

    /// Returns whether a line about a migration was logged.
    fn says(&self, what: &str, version: i32) -> bool {
        let version = format!("\"version\":{version},");
        self.text().lines().any(|line| line.contains(what) && line.contains(&version))
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Creates a database with the schema of an earlier version.
fn at_version(version: i32) -> (TestDatabase, Client) {
    let database = database();
    let mut client = database.connect().unwrap();
    embedded::migrations::runner().set_target(Target::Version(version)).run(&mut client).unwrap();
    (database, client)
}

fn version(client: &mut Client) -> i32 {
    client.query_one("select max(version) from refinery_schema_history", &[]).unwrap().get(0)
}

fn latest() -> i32 {
    let runner = embedded::migrations::runner();
    runner.get_migrations().iter().map(refinery::Migration::version).max().unwrap()
}

#[test]
fn waiting_migration_is_logged_and_does_not_block_readers() {
    let (database, mut client) = at_version(10);
    let mut holder = database.connect().unwrap();
    holder.batch_execute("begin; lock table questions in access share mode").unwrap();
    let (log, url) = (Log::default(), database.url());
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(log.clone()).finish();
    // Not a scoped thread: if this test fails, the migration waits for ever.
    let migrating = std::thread::spawn(move || {
        let options = PostgresOptions { lock_wait: Duration::from_millis(300), ..PostgresOptions::default() };
        tracing::subscriber::with_default(subscriber, || PostgresStore::open(&url, &options).map(drop))
    });
    until("the log says that a lock is waited for", || log.text().contains("migrationWaiting"));
    assert_eq!(version(&mut client), 12, "the migrations before it are applied");
    let waits = "select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock' \
                 and relation = 'questions'::regclass";
    until("the table is waited for again", || client.query_one(waits, &[]).unwrap().get::<_, i64>(0) > 0);
    // A query behind a statement without a lock timeout would be cancelled.
    client.batch_execute("set statement_timeout = '10s'; select count(*) from questions").unwrap();
    assert!(!migrating.is_finished());
    assert!(log.says("migrationStarted", 13) && !log.says("migrationFinished", 13), "{}", log.text());
    holder.batch_execute("commit").unwrap();
    migrating.join().unwrap().unwrap();
    assert_eq!(version(&mut client), latest());
    for version in [11, 12, 13, latest()] {
        assert!(log.says("migrationStarted", version) && log.says("migrationFinished", version), "{}", log.text());
    }
}

/// The trigger records the time limits of a statement of the migration; the default would cancel it after 30 seconds.
#[test]
fn migration_statements_have_no_time_limit() {
    let (database, mut client) = at_version(12);
    let noting = "create table noted (statement_timeout text, lock_timeout text); \
         create function note() returns trigger language plpgsql as $$ begin insert into noted values \
         (current_setting('statement_timeout'), current_setting('lock_timeout')); return new; end $$; \
         create trigger note before update on questions for each row execute function note(); \
         insert into questions (interaction, title, asked) values (gen_random_uuid(), 'A Title', '{}')";
    client.batch_execute(noting).unwrap();
    drop(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    let noted = client.query("select statement_timeout, lock_timeout from noted", &[]).unwrap();
    let noted: Vec<(String, String)> = noted.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(noted, [("0".to_owned(), "2s".to_owned())]);
}

/// Returns the schema, and the rows of the tables that are changed in steps.
fn contents(client: &mut Client) -> Vec<String> {
    let queries = [
        "select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) \
         from information_schema.columns where table_schema = 'public' order by 1",
        "select indexdef from pg_indexes where schemaname = 'public' order by 1",
        "select conrelid::regclass || pg_get_constraintdef(oid) from pg_constraint \
         where connamespace = 'public'::regnamespace order by 1",
        "select indexrelid::regclass || indisvalid::text from pg_index join pg_class on pg_class.oid = indexrelid \
         where relnamespace = 'public'::regnamespace order by 1",
        "select to_jsonb(actions)::text from actions order by 1",
        "select to_jsonb(questions)::text from questions order by 1",
        "select to_jsonb(secrets)::text from secrets order by 1",
        "select to_jsonb(users)::text from users order by 1",
        "select to_jsonb(interactions)::text from interactions order by 1",
        "select to_jsonb(open_counts)::text from open_counts order by 1",
        "select to_jsonb(tenant_open_counts)::text from tenant_open_counts order by 1",
        "select to_jsonb(lineage)::text from lineage order by 1",
        "select relname || reloptions::text from pg_class where relnamespace = 'public'::regnamespace \
         and reloptions is not null order by 1",
        "select concat_ws(' ', version, name, checksum) from refinery_schema_history order by 1",
    ];
    let mut texts = |sql| client.query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect::<Vec<String>>();
    queries.into_iter().flat_map(&mut texts).collect()
}

/// Secrets, agents, keys and users, some of whose names differ only by case.
const ACCESS_ROWS: &str = "insert into tenants (id, name) values (md5('tenant')::uuid, 'default'); \
     insert into projects (id, tenant, name) values (md5('project')::uuid, md5('tenant')::uuid, 'default'); \
     insert into secrets (id, project, agent, name, kept_by, kept_at, data_key, body) \
        select md5('secret' || number)::uuid, md5('project')::uuid, 'agent ' || number % 30, 'name ' || number, '{}', 0, \
        md5('key')::uuid, '' from generate_series(1, 4500) number; \
     insert into definitions (project, kind, name, version, at, body) select md5('project')::uuid, 'agent', \
        'agent ' || number, '1', 0, '{}' from generate_series(1, 20) number; \
     insert into keys (id, project, role, \"user\", groups, hash, created_at) select md5('key' || number)::uuid, \
        md5('project')::uuid, 'agent', 'agent ' || number, '[]', md5('hash' || number)::bytea, 0 \
        from generate_series(11, 25) number; \
     insert into users (id, tenant, name, created_at) select md5('user' || number)::uuid, md5('tenant')::uuid, \
        case when number % 2 = 0 then 'User ' else 'user ' end || number / 2, 0 from generate_series(1, 4500) number";

/// Questions, two thirds of them open, some with a resume point. Every seventh text has a NUL character.
const OPEN_ROWS: &str = r#"update questions set asked = replace(replace(asked, '{"question"',
        '{"origin":{"asked_by":{"kind":"user","name":"al\"ice"}},"question"'),
        '"agent":"Bot"', '"agent":"Bot","asked_by":{"kind":"agent","name":"Bot"}');
     insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state)
        select md5('question' || number)::uuid, md5('project')::uuid, md5('session')::uuid, 'approval',
        case when number % 3 = 0 then 'answered' else 'pending' end, '', '', number, 1, '{}' from generate_series(1, 4500) number;
     insert into sealed (interaction, name, body, data_key) select md5('question' || number)::uuid, 'resume', 'resume point', md5('key')::uuid
        from generate_series(1, 4500, 5) number"#;

/// More rows than one batch are migrated by the text of the migrations and by their steps; the results are equal.
#[test]
fn migration_in_steps_gives_the_result_of_its_text() {
    let filled = || {
        let (database, mut client) = at_version(10);
        let rows = "insert into sessions (id, project, status, channel, step, started_by, created_at, waiting_on, open, last_seq) \
                select md5('session' || number)::uuid, md5('project')::uuid, 'running', '', md5('step')::uuid, '{}', number, \
                0, 0, 0 from generate_series(1, 50) number; \
             insert into proposals (session, call, project, revision, body) select md5('session' || number % 60)::uuid, \
                'call ' || number, md5('project')::uuid, 1, case when number % 3 = 0 then '{\"asked\":[\"int_1\"]}' \
                else '{}' end from generate_series(1, 4500) number; \
             insert into questions (interaction, title, asked) select md5('question' || number)::uuid, 'Title ' || number, \
                case when number % 7 = 0 then '{\"question\":{\"message\":\"a\\u0000b\"}}' \
                else '{\"origin\":{\"agent\":\"Bot\"},\"question\":{\"message\":\"Why\"}}' end \
                from generate_series(1, 4500) number";
        client.batch_execute(rows).unwrap();
        client.batch_execute(ACCESS_ROWS).unwrap();
        client.batch_execute(OPEN_ROWS).unwrap();
        (database, client)
    };
    let (_database, mut by_text) = filled();
    embedded::migrations::runner().run(&mut by_text).unwrap();
    let (database, mut by_steps) = filled();
    drop(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    let (text, steps) = (contents(&mut by_text), contents(&mut by_steps));
    let differences: Vec<_> = text.iter().zip(&steps).filter(|(text, steps)| text != steps).take(3).collect();
    assert_eq!((text.len(), differences), (steps.len(), Vec::new()));
    let open = by_steps.query("select asker, questions from open_counts order by asker", &[]).unwrap();
    let open: Vec<(String, i64)> = open.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(open, [("agent:Bot".to_owned(), 2572), ("user:al\\\"ice".to_owned(), 428)]);
}

/// A trigger stops the migration in the middle of the open questions that it counts.
#[test]
fn questions_can_be_read_and_asked_during_the_counting_migration() {
    let (database, mut client) = at_version(18);
    let stopping = "create function stop() returns trigger language plpgsql as $$ begin \
         perform pg_advisory_xact_lock_shared(19); return new; end $$; \
         create trigger stop before update on interactions for each row execute function stop(); \
         insert into questions (interaction, title, asked) select md5('question' || number)::uuid, 'Title', '{}' \
            from generate_series(1, 4500) number";
    client.batch_execute(stopping).unwrap();
    let project =
        "insert into projects (id, tenant, name) values (md5('project')::uuid, md5('tenant')::uuid, 'default')";
    client.batch_execute(project).unwrap();
    client.batch_execute(OPEN_ROWS).unwrap();
    client.batch_execute("select pg_advisory_lock(19)").unwrap();
    let url = database.url();
    // Not a scoped thread: if this test fails, the migration waits for ever.
    let migrating = std::thread::spawn(move || {
        let options = PostgresOptions { lock_wait: Duration::from_mins(1), ..PostgresOptions::default() };
        PostgresStore::open(&url, &options).map(drop)
    });
    let waits = "select count(*) from pg_locks where locktype = 'advisory' and not granted";
    until("the migration changes rows", || client.query_one(waits, &[]).unwrap().get::<_, i64>(0) > 0);
    let used = "set lock_timeout = '5s'; select count(*) from interactions; \
         insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state) \
         values (gen_random_uuid(), md5('project')::uuid, md5('session')::uuid, 'approval', 'pending', '', '', 1, 1, '{}')";
    database.connect().unwrap().batch_execute(used).unwrap();
    assert_eq!(version(&mut client), 18);
    client.batch_execute("select pg_advisory_unlock(19)").unwrap();
    migrating.join().unwrap().unwrap();
    assert_eq!(version(&mut client), latest());
    let open = client.query_one("select sum(questions)::bigint from tenant_open_counts", &[]).unwrap();
    assert_eq!(open.get::<_, i64>(0), 3000, "the question of the earlier version is not counted");
}

/// Steps are repeatable after a node died in the middle of a migration.
#[test]
fn migration_steps_are_repeatable_after_a_crash() {
    let (database, mut client) = at_version(10);
    let half = "alter table proposals add column at bigint not null default 0; \
                create index proposals_by_age on proposals (project, at, session, call)";
    client.batch_execute(half).unwrap();
    drop(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    assert_eq!(version(&mut client), latest());
}

/// Steps are repeatable after a node died before it recorded the migration.
#[test]
fn migration_steps_are_repeatable_if_not_recorded() {
    // Version 21 renames tables that these steps name.
    let (database, mut client) = at_version(20);
    for version in [15, 18, 19, 20] {
        client.execute("delete from refinery_schema_history where version = $1", &[&version]).unwrap();
    }
    drop(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    let lineage = client.query_one("select count(*) from lineage", &[]).unwrap();
    assert_eq!((version(&mut client), lineage.get::<_, i64>(0)), (latest(), 1));
}
