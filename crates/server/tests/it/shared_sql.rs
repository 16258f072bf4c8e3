//! Checks that a statement with the same text in both stores is in `crates/store/src/sql`. An insertion that only one of them ends with
//! `on conflict do nothing`, and a quoted column, count as the same text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Statements of the hot path, each with the function that runs it and its beginning. Each store has them for itself, because they are written
/// for the indexes and the planner of its database.
const HOT: &[(&str, &str)] = &[
    ("QUESTION", "select interactions.id, questions.asked, "),
    ("action", "select body from actions where session = ?1 and call = ?2 "),
    ("action_insert", "insert into actions "),
    ("action_save", "update actions set wake_at = ?4, revision = ?5, "),
    ("actions", "select body from actions where session = ?1 and call > ?2 "),
    ("history", "select actions.at, actions.session, actions.call, "),
    ("session_events", "select {COLUMNS} from events where session = ?1 and seq > ?2 "),
    ("session_save", "update sessions set status = "),
];

#[test]
fn statement_of_both_stores_is_defined_once_unless_it_is_hot() {
    let (sqlite, postgres) = (statements("store-sqlite"), statements("store-postgres"));
    let is_hot = |sql: &String| HOT.iter().any(|(_, beginning)| sql.starts_with(beginning));
    let twice: BTreeMap<&String, &String> = postgres.iter().filter(|(sql, _)| sqlite.contains_key(*sql)).collect();
    let misplaced: Vec<String> =
        twice.iter().filter(|(sql, _)| !is_hot(sql)).map(|(sql, file)| format!("{file}: {sql}")).collect();
    assert!(misplaced.is_empty(), "move to crates/store/src/sql:\n{}", misplaced.join("\n"));
    for (name, beginning) in HOT {
        assert!(twice.keys().any(|sql| sql.starts_with(beginning)), "{name} does not stand in both stores");
    }
}

#[test]
fn statements_are_read_from_the_sources_as_the_database_gets_them() {
    let source = r#"
        let sql = "delete from links \
                   where \"user\" = $1";
        let other = "no statement";"#;
    assert_eq!(statements_in(source), [r#"delete from links where "user" = ?1"#]);
    let inserts =
        [r#"insert into links ("user") values (?1) on conflict do nothing"#, "insert into links (user) values (?1)"];
    assert_eq!(comparable(inserts[0]), comparable(inserts[1]));
}

/// Statements in the sources of a store, each with the file that has it.
fn statements(store: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(store).join("src");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let file = format!("{store}/{}", path.file_name().unwrap().to_str().unwrap());
            let statements = statements_in(&fs::read_to_string(&path).unwrap());
            found.extend(statements.iter().map(|sql| (comparable(sql), file.clone())));
        }
    }
    assert!(!found.is_empty(), "{store} has no statement");
    found
}

/// Statement without the parts in which the texts of the stores may differ.
fn comparable(sql: &str) -> String {
    sql.replace(" on conflict do nothing", "").replace('"', "")
}

/// Statements in the literals of a source, with parameters written `?1`.
fn statements_in(source: &str) -> Vec<String> {
    let is_statement =
        |sql: &String| ["select ", "insert ", "update ", "delete "].iter().any(|verb| sql.starts_with(verb));
    literals(source).into_iter().map(|sql| sql.replace('$', "?")).filter(is_statement).collect()
}

/// Texts of the string literals of a source.
fn literals(source: &str) -> Vec<String> {
    let (mut found, mut open): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut characters = source.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, &mut open) {
            ('"', None) => open = Some(String::new()),
            ('"', Some(_)) => found.extend(open.take()),
            ('\\', Some(text)) => match characters.next() {
                Some('\n') => while characters.next_if(|next| next.is_whitespace()).is_some() {},
                escaped => text.extend(escaped),
            },
            (_, Some(text)) => text.push(character),
            (_, None) => {}
        }
    }
    found
}
