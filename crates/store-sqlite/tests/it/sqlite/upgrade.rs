//! Rows of earlier versions are read after the migrations.

use std::sync::Arc;

use domain::{DataKeyId, InteractionId, ProjectId, Scope, TenantId};
use futures::executor::block_on;
use holdpoint_store_sqlite::{SqliteOptions, SqliteStore};
use refinery::Target;
use rusqlite::{Connection, params};
use store::conformance::upgrade;
use store::{Cost, DataKey, OpenTotal, Sealed, StoreError, SystemClock};
use tempfile::TempDir;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Creates a directory with a database that has the schema of an earlier version.
fn database_of_version(version: i32) -> (TempDir, Connection) {
    let directory = tempfile::tempdir().unwrap();
    let mut connection = Connection::open(directory.path().join("holdpoint.db")).unwrap();
    embedded::migrations::runner().set_target(Target::Version(version)).run(&mut connection).unwrap();
    (directory, connection)
}

/// Opens the store of a directory, which runs the later migrations.
fn open(directory: &TempDir) -> SqliteStore {
    SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap()
}

/// In version 1 the data key of a tenant was a setting, and a sealed value did not name its key.
#[test]
fn data_key_stored_as_a_setting_becomes_the_first_key() {
    let (directory, connection) = database_of_version(1);
    connection.pragma_update(None, "foreign_keys", "off").unwrap();
    let id = |number: u8| [0xab, 0xcd, 0xef, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, number];
    let (tenant, project, interaction) = (id(1), id(2), id(3));
    connection.execute("insert into tenants (id, name) values (?1, 'default')", [tenant]).unwrap();
    connection
        .execute("insert into projects (id, tenant, name) values (?1, ?2, 'default')", [project, tenant])
        .unwrap();
    let sql = "insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state) \
               values (?1, ?2, ?1, 'secret', 'pending', '', '', 0, 1, '{}')";
    connection.execute(sql, [interaction, project]).unwrap();
    connection.execute("insert into sealed values (?1, 'secrets', ?2)", params![interaction, b"sealed"]).unwrap();
    let named = format!("data_key:{}", TenantId::from_uuid(uuid::Uuid::from_bytes(tenant)));
    connection.execute("insert into settings values (?1, 'master:d3JhcHBlZA==')", [named]).unwrap();
    drop(connection);

    let store = open(&directory);
    let uuid = uuid::Uuid::from_bytes;
    let scope = Scope { tenant: TenantId::from_uuid(uuid(tenant)), project: ProjectId::from_uuid(uuid(project)) };
    let interaction = InteractionId::from_uuid(uuid(interaction));
    let found = block_on(store::read::<_, StoreError, _>(&store, Cost::Point, move |reads| {
        reads.sealed_value(&scope, interaction, "secrets")
    }));
    let key = DataKey {
        id: DataKeyId::from_uuid(uuid(tenant)),
        tenant: scope.tenant,
        number: 1,
        master: "master".into(),
        wrapped: "d3JhcHBlZA==".into(),
    };
    assert_eq!(found, Ok(Some(Sealed { key, body: b"sealed".to_vec() })));
}

/// Earlier questions get a search text.
#[test]
fn earlier_questions_get_a_search_text() {
    let (directory, connection) = database_of_version(12);
    let whole = r#"{"origin":{"agent":"Bot"},"question":{"message":"Say \"why\"","action":{"tool":"move_file","arguments":{"to":"/srv/A"}}}}"#;
    for (number, asked) in [(1_u8, whole), (2, r#"{"origin":{},"question":{}}"#)] {
        let sql = "insert into questions (interaction, title, asked) values (?1, 'A Title', ?2)";
        connection.execute(sql, params![[number; 16], asked]).unwrap();
    }
    drop(connection);
    let store = open(&directory);
    let connection = Connection::open(store.path()).unwrap();
    let mut statement = connection.prepare("select search_text from questions order by interaction").unwrap();
    let texts: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let words = "a title\nmove_file\nbot\nsay \"why\"\n{\"to\":\"/srv/a\"}";
    assert_eq!(texts.iter().map(|text| text.trim_end()).collect::<Vec<_>>(), [words, "a title"]);
}

/// Earlier policies are in the history in order, and are found by version.
#[test]
fn earlier_policies_are_in_the_history() {
    let (directory, connection) = database_of_version(13);
    let (tenant, project) = ([1_u8; 16], [2_u8; 16]);
    connection.execute("insert into tenants (id, name) values (?1, 't')", [tenant]).unwrap();
    let sql = "insert into projects (id, tenant, name) values (?1, ?2, 'p')";
    connection.execute(sql, params![project, tenant]).unwrap();
    for (version, second) in [("b", 2_i64), ("a", 1), ("c", 3)] {
        let body = format!(
            r#"{{"version":"{version}","text":"of {version}","source":"project","by":{{"kind":"user","name":"ada"}},"at":"2026-11-15T10:00:0{second}Z"}}"#
        );
        let sql = "insert into policy_versions (project, version, at, body) values (?1, ?2, ?3, ?4)";
        connection.execute(sql, params![project, version, second, body]).unwrap();
    }
    drop(connection);
    let store = open(&directory);
    let uuid = uuid::Uuid::from_bytes;
    let scope = Scope { tenant: TenantId::from_uuid(uuid(tenant)), project: ProjectId::from_uuid(uuid(project)) };
    upgrade::policies_are_in_the_history(&store, scope);
}

/// Collects the lines of the log.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Each migration logs its start and its end; a new database runs none.
#[test]
fn migrations_are_logged() {
    let (directory, connection) = database_of_version(12);
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || writer.clone()).finish();
    drop(connection);
    tracing::subscriber::with_default(subscriber, || {
        drop(open(&directory));
        let fresh = tempfile::tempdir().unwrap();
        drop(open(&fresh));
    });
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let said = |what: &str| text.lines().filter(|line| line.contains(what)).count();
    let pending = embedded::migrations::runner().get_migrations().len() - 12;
    assert_eq!((said("migrationStarted"), said("migrationFinished")), (pending, pending), "{text}");
    assert!(text.contains("\"version\":13,\"name\":\"said\""), "{text}");
}

/// An earlier secret belongs to a key or to a hosted agent; if the project has both with that name, it belongs to neither.
#[test]
fn earlier_secrets_belong_to_a_key_or_to_a_hosted_agent() {
    let (directory, connection) = database_of_version(14);
    connection.pragma_update(None, "foreign_keys", "off").unwrap();
    let project = [9_u8; 16];
    for (number, agent) in [(1_u8, "key-only"), (2, "agent-only"), (3, "both"), (4, "neither")] {
        let sql = "insert into secrets (id, project, agent, name, kept_by, kept_at, data_key, body) \
                   values (?1, ?2, ?3, 'TOKEN', '{}', 0, ?1, ?1)";
        connection.execute(sql, params![[number; 16], project, agent]).unwrap();
    }
    for (number, user) in [(1_u8, "key-only"), (2, "both")] {
        let sql = "insert into keys (id, project, role, user, groups, hash, created_at) values (?1, ?2, 'agent', ?3, '[]', ?1, 0)";
        connection.execute(sql, params![[number; 16], project, user]).unwrap();
    }
    for name in ["agent-only", "both"] {
        let sql =
            "insert into definitions (project, kind, name, version, at, body) values (?1, 'agent', ?2, '1', 0, '{}')";
        connection.execute(sql, params![project, name]).unwrap();
    }
    drop(connection);
    let store = open(&directory);
    let connection = Connection::open(store.path()).unwrap();
    let mut statement = connection.prepare("select agent, hosted from secrets order by id").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<bool>>(1)?))).unwrap();
    let found: Vec<(String, Option<bool>)> = rows.collect::<Result<_, _>>().unwrap();
    let wanted = [("key-only", Some(false)), ("agent-only", Some(true)), ("both", None), ("neither", Some(false))];
    assert_eq!(found, wanted.map(|(agent, hosted)| (agent.to_owned(), hosted)));
}

/// Earlier users whose names differ only by case stay and are found by their exact names; no further one is accepted.
#[test]
fn earlier_users_whose_names_differ_by_case_stay() {
    let (directory, connection) = database_of_version(14);
    let tenant = [1_u8; 16];
    for (number, name) in [(1_u8, "alice"), (2, "Alice"), (3, "Bob")] {
        let sql = "insert into users (id, tenant, name, created_at) values (?1, ?2, ?3, 0)";
        connection.execute(sql, params![[number; 16], tenant, name]).unwrap();
    }
    drop(connection);
    let store = open(&directory);
    let tenant = TenantId::from_uuid(uuid::Uuid::from_bytes(tenant));
    upgrade::names_that_differ_by_case_stay(&store, tenant);
}

/// Earlier open questions are counted by asker; closed ones are not.
#[test]
fn earlier_open_questions_are_counted() {
    let (directory, connection) = database_of_version(14);
    connection.pragma_update(None, "foreign_keys", "off").unwrap();
    let (tenant, project) = ([1_u8; 16], [2_u8; 16]);
    connection.execute("insert into tenants (id, name) values (?1, 't')", [tenant]).unwrap();
    connection.execute("insert into projects (id, tenant, name) values (?1, ?2, 'p')", [project, tenant]).unwrap();
    let asked =
        |name: &str| format!(r#"{{"origin":{{"asked_by":{{"kind":"agent","name":"{name}"}}}},"question":{{}}}}"#);
    let questions =
        [(10_u8, "pending", "bot"), (11, "pending", "bot"), (12, "answered", "bot"), (13, "pending", "other")];
    for (number, status, name) in questions {
        let sql = "insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state) \
                   values (?1, ?2, ?1, 'confirmation', ?3, '', '', 0, 1, '{}')";
        connection.execute(sql, params![[number; 16], project, status]).unwrap();
        let sql = "insert into questions (interaction, title, asked, said) values (?1, 't', ?2, '')";
        connection.execute(sql, params![[number; 16], asked(name)]).unwrap();
    }
    let sql = "insert into sealed (interaction, name, data_key, body) values (?1, 'resume_point', ?1, ?2)";
    connection.execute(sql, params![[10_u8; 16], [0_u8; 100].as_slice()]).unwrap();
    drop(connection);

    let store = open(&directory);
    let uuid = uuid::Uuid::from_bytes;
    let scope = Scope { tenant: TenantId::from_uuid(uuid(tenant)), project: ProjectId::from_uuid(uuid(project)) };
    let total = |name: &str, questions: u64, sealed: u64| {
        let bytes = questions * asked(name).len() as u64 + sealed;
        (format!("agent:{name}"), OpenTotal { questions, bytes })
    };
    let wanted = vec![total("bot", 2, 100), total("other", 1, 0)];
    let closed = InteractionId::from_uuid(uuid([13; 16]));
    upgrade::open_questions_are_counted(&store, scope, &wanted, closed);
}

/// Version 21 renames tables and columns: the rows of version 20 are read under the new names.
#[test]
fn rows_of_renamed_tables_are_read() {
    let (directory, connection) = database_of_version(20);
    connection.pragma_update(None, "foreign_keys", "off").unwrap();
    let one = uuid::Uuid::from_u128(1);
    for sql in [
        "insert into tenants (id, name) values (?1, 't')",
        "insert into projects (id, tenant, name) values (?1, ?1, 'p')",
        "insert into data_keys (id, tenant, number, master, wrapped) values (?1, ?1, 1, 'master', 'wrapped')",
        "insert into sessions (id, project, status, channel, step, started_by, created_at, waiting_on, open, last_seq, driven) \
         values (?1, ?1, 'waiting', '', ?1, '{}', 0, 1, 0, 0, 1)",
        "insert into luggage (session, body) values (?1, '{\"input\":\"hello\"}')",
        "insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state) \
         values (?1, ?1, ?1, 'secret', 'pending', '', '', 0, 1, '{}')",
        "insert into questions (interaction, title, asked, said) values (?1, 'Title', '{}', 'title')",
        "insert into sealed (interaction, name, data_key, body) values (?1, 'secrets', ?1, cast('sealed' as blob))",
        "insert into proposals (session, call, project, wake_at, revision, body) values (?1, 'call', ?1, 1, 1, '{}')",
        "insert into once (project, actor, key, digest, result, at, data_key, secret) \
         values (?1, 'alice', 'key', 'digest', 'result', 0, ?1, cast('secret' as blob))",
        "insert into secrets (id, project, agent, driven, name, kept_by, kept_at, data_key, body) \
         values (?1, ?1, 'bot', 1, 'TOKEN', '{\"kind\":\"user\",\"name\":\"ada\"}', 0, ?1, cast('sealed' as blob))",
    ] {
        connection.execute(sql, [one]).unwrap();
    }
    drop(connection);
    let store = open(&directory);
    upgrade::renamed_rows_are_read(&store, one);
    let columns = "select search_text, hosted from questions join secrets on secrets.id = questions.interaction";
    let row = Connection::open(store.path()).unwrap().query_row(columns, [], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(row, Ok(("title".to_owned(), true)));
}
