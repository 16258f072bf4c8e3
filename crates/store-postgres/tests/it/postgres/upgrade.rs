//! Rows of earlier versions are read after the migrations.

use domain::{DataKeyId, InteractionId, ProjectId, Scope, TenantId};
use futures::executor::block_on;
use holdpoint_store_postgres::{PostgresOptions, PostgresStore};
use postgres::Client;
use refinery::Target;
use store::conformance::upgrade;
use store::{Cost, DataKey, OpenTotal, Sealed, StoreError};
use testkit::postgres::TestDatabase;
use uuid::Uuid;

use crate::postgres::common::database;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Creates a database with the schema of an earlier version.
fn database_of_version(version: i32) -> (TestDatabase, Client) {
    let database = database();
    let mut client = database.connect().unwrap();
    embedded::migrations::runner().set_target(Target::Version(version)).run(&mut client).unwrap();
    (database, client)
}

/// In version 1 the data key of a tenant was a setting, and a sealed value did not name its key.
#[test]
fn data_key_stored_as_a_setting_becomes_the_first_key() {
    let (database, mut client) = database_of_version(1);
    let [tenant, project, interaction] = [1, 2, 3].map(|number| Uuid::from_u128(0xabcd_ef04_0000_7000 + number));
    client.execute("insert into tenants (id, name) values ($1, 'default')", &[&tenant]).unwrap();
    let sql = "insert into projects (id, tenant, name) values ($1, $2, 'default')";
    client.execute(sql, &[&project, &tenant]).unwrap();
    let sql = "insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state) \
               values ($1, $2, $1, 'secret', 'pending', '', '', 0, 1, '{}')";
    client.execute(sql, &[&interaction, &project]).unwrap();
    client.execute("insert into sealed values ($1, 'secrets', $2)", &[&interaction, &b"sealed".as_slice()]).unwrap();
    let named = format!("data_key:{}", TenantId::from_uuid(tenant));
    client.execute("insert into settings values ($1, 'master:d3JhcHBlZA==')", &[&named]).unwrap();

    let store = PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap();
    let scope = Scope { tenant: TenantId::from_uuid(tenant), project: ProjectId::from_uuid(project) };
    let interaction = InteractionId::from_uuid(interaction);
    let found = block_on(store::read::<_, StoreError, _>(&store, Cost::Point, move |reads| {
        reads.sealed_value(&scope, interaction, "secrets")
    }));
    let key = DataKey {
        id: DataKeyId::from_uuid(tenant),
        tenant: scope.tenant,
        number: 1,
        master: "master".into(),
        wrapped: "d3JhcHBlZA==".into(),
    };
    assert_eq!(found, Ok(Some(Sealed { key, body: b"sealed".to_vec() })));
}

/// Earlier questions get a search text; a NUL character in one of them does not stop the migration.
#[test]
fn earlier_questions_get_a_search_text() {
    let (database, mut client) = database_of_version(12);
    let whole = r#"{"origin":{"agent":"Bot"},"question":{"message":"Say \"why\"","action":{"tool":"move_file","arguments":{"to":"/srv/A"}}}}"#;
    let bare = r#"{"origin":{},"question":{}}"#;
    let nothing = r#"{"origin":{},"question":{"message":"a\u0000b"}}"#;
    for (number, asked) in (1_u128..).zip([whole, bare, nothing]) {
        let sql = "insert into questions (interaction, title, asked) values ($1, 'A Title', $2)";
        client.execute(sql, &[&Uuid::from_u128(number), &asked]).unwrap();
    }
    drop(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    let texts = client.query("select search_text from questions order by interaction", &[]).unwrap();
    let texts: Vec<String> = texts.iter().map(|row| row.get(0)).collect();
    let words = "a title\nmove_file\nbot\nsay \"why\"\n{\"to\":\"/srv/a\"}";
    assert_eq!(texts, [words, "a title", "a title"]);
}

/// Earlier policies are in the history in order, and are found by version.
#[test]
fn earlier_policies_are_in_the_history() {
    let (database, mut client) = database_of_version(13);
    let project = Uuid::from_u128(2);
    for (version, second) in [("b", 2_i64), ("a", 1), ("c", 3)] {
        let body = format!(
            r#"{{"version":"{version}","text":"of {version}","source":"project","by":{{"kind":"user","name":"ada"}},"at":"2026-11-15T10:00:0{second}Z"}}"#
        );
        let sql = "insert into policy_versions (project, version, at, body) values ($1, $2, $3, $4)";
        client.execute(sql, &[&project, &version, &second, &body]).unwrap();
    }
    let store = PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap();
    let scope = Scope { tenant: TenantId::from_uuid(Uuid::from_u128(1)), project: ProjectId::from_uuid(project) };
    upgrade::policies_are_in_the_history(&store, scope);
}

/// An earlier secret belongs to a key or to a hosted agent; if the project has both with that name, it belongs to neither.
#[test]
fn earlier_secrets_belong_to_a_key_or_to_a_hosted_agent() {
    let (database, mut client) = database_of_version(14);
    let (project, bytes) = (Uuid::from_u128(9), vec![0_u8; 4]);
    for (number, agent) in [(1, "key-only"), (2, "agent-only"), (3, "both"), (4, "neither")] {
        let sql = "insert into secrets (id, project, agent, name, kept_by, kept_at, data_key, body) \
                   values ($1, $2, $3, 'TOKEN', '{}', 0, $1, $4)";
        client.execute(sql, &[&Uuid::from_u128(number), &project, &agent, &bytes]).unwrap();
    }
    for (number, user) in [(1, "key-only"), (2, "both")] {
        let sql = "insert into keys (id, project, role, \"user\", groups, hash, created_at) \
                   values ($1, $2, 'agent', $3, '[]', $4, 0)";
        client.execute(sql, &[&Uuid::from_u128(number), &project, &user, &bytes]).unwrap();
    }
    for name in ["agent-only", "both"] {
        let sql =
            "insert into definitions (project, kind, name, version, at, body) values ($1, 'agent', $2, '1', 0, '{}')";
        client.execute(sql, &[&project, &name]).unwrap();
    }
    drop(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    let rows = client.query("select agent, hosted from secrets order by id", &[]).unwrap();
    let found: Vec<(String, Option<bool>)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let wanted = [("key-only", Some(false)), ("agent-only", Some(true)), ("both", None), ("neither", Some(false))];
    assert_eq!(found, wanted.map(|(agent, hosted)| (agent.to_owned(), hosted)));
}

/// Earlier users whose names differ only by case stay and are found by their exact names; no further one is accepted.
#[test]
fn earlier_users_whose_names_differ_by_case_stay() {
    let (database, mut client) = database_of_version(14);
    let tenant = Uuid::from_u128(1);
    for (number, name) in [(1_u128, "alice"), (2, "Alice"), (3, "Bob")] {
        let sql = "insert into users (id, tenant, name, created_at) values ($1, $2, $3, 0)";
        client.execute(sql, &[&Uuid::from_u128(number), &tenant, &name]).unwrap();
    }
    let store = PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap();
    let tenant = TenantId::from_uuid(tenant);
    upgrade::names_that_differ_by_case_stay(&store, tenant);
}

/// Earlier open questions are counted by asker, also one with a NUL character; closed ones are not.
#[test]
fn earlier_open_questions_are_counted() {
    let (database, mut client) = database_of_version(14);
    let (tenant, project) = (Uuid::from_u128(1), Uuid::from_u128(2));
    client.execute("insert into tenants (id, name) values ($1, 't')", &[&tenant]).unwrap();
    client.execute("insert into projects (id, tenant, name) values ($1, $2, 'p')", &[&project, &tenant]).unwrap();
    let asked = |name: &str, title: &str| {
        format!(r#"{{"origin":{{"asked_by":{{"kind":"agent","name":"{name}"}}}},"question":{{"title":"{title}"}}}}"#)
    };
    let questions = [
        (10, "pending", "bot", "x"),
        (11, "pending", "bot", r"\u0000"),
        (12, "answered", "bot", "x"),
        (13, "pending", "other", "x"),
    ];
    for (number, status, name, title) in questions {
        let sql = "insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state) \
                   values ($1, $2, $1, 'confirmation', $3, '', '', 0, 1, '{}')";
        client.execute(sql, &[&Uuid::from_u128(number), &project, &status]).unwrap();
        let sql = "insert into questions (interaction, title, asked, said) values ($1, 't', $2, '')";
        client.execute(sql, &[&Uuid::from_u128(number), &asked(name, title)]).unwrap();
    }
    let sql = "insert into sealed (interaction, name, data_key, body) values ($1, 'resume_point', $1, $2)";
    client.execute(sql, &[&Uuid::from_u128(10), &vec![0_u8; 100]]).unwrap();

    let store = PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap();
    let scope = Scope { tenant: TenantId::from_uuid(tenant), project: ProjectId::from_uuid(project) };
    let bytes = |name, title| asked(name, title).len() as u64;
    let bot = OpenTotal { questions: 2, bytes: bytes("bot", "x") + bytes("bot", r"\u0000") + 100 };
    let other = OpenTotal { questions: 1, bytes: bytes("other", "x") };
    let wanted = vec![("agent:bot".to_owned(), bot), ("agent:other".to_owned(), other)];
    let closed = InteractionId::from_uuid(Uuid::from_u128(13));
    upgrade::open_questions_are_counted(&store, scope, &wanted, closed);
}

/// Version 21 renames tables and columns: the rows of version 20 are read under the new names.
#[test]
fn rows_of_renamed_tables_are_read() {
    let (database, mut client) = database_of_version(20);
    let one = Uuid::from_u128(1);
    for sql in [
        "insert into tenants (id, name) values ($1, 't')",
        "insert into projects (id, tenant, name) values ($1, $1, 'p')",
        "insert into data_keys (id, tenant, number, master, wrapped) values ($1, $1, 1, 'master', 'wrapped')",
        "insert into sessions (id, project, status, channel, step, started_by, created_at, waiting_on, open, last_seq, driven) \
         values ($1, $1, 'waiting', '', $1, '{}', 0, 1, 0, 0, true)",
        "insert into luggage (session, body) values ($1, '{\"input\":\"hello\"}')",
        "insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state) \
         values ($1, $1, $1, 'secret', 'pending', '', '', 0, 1, '{}')",
        "insert into questions (interaction, title, asked, said) values ($1, 'Title', '{}', 'title')",
        "insert into sealed (interaction, name, data_key, body) values ($1, 'secrets', $1, 'sealed')",
        "insert into proposals (session, call, project, wake_at, revision, body) values ($1, 'call', $1, 1, 1, '{}')",
        "insert into once (project, actor, key, digest, result, at, data_key, secret) \
         values ($1, 'alice', 'key', 'digest', 'result', 0, $1, 'secret')",
        "insert into secrets (id, project, agent, driven, name, kept_by, kept_at, data_key, body) \
         values ($1, $1, 'bot', true, 'TOKEN', '{\"kind\":\"user\",\"name\":\"ada\"}', 0, $1, 'sealed')",
    ] {
        client.execute(sql, &[&one]).unwrap();
    }
    let store = PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap();
    upgrade::renamed_rows_are_read(&store, one);
    let columns = "select search_text, hosted from questions join secrets on secrets.id = questions.interaction";
    let row = client.query_one(columns, &[]).unwrap();
    assert_eq!((row.get(0), row.get(1)), ("title", Some(true)));
}
