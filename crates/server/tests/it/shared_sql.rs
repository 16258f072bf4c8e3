//! Checks that a statement with the same text in both stores is in `crates/store/src/sql`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Tables of the hot path. Each store has statements on them of its own, which fit the indexes and the planner of its database.
const HOT_TABLES: &[&str] = &["actions", "archive", "events", "interactions", "sessions"];

#[test]
fn statement_of_both_stores_is_defined_once() {
    let (sqlite, postgres) = (statements("store-sqlite"), statements("store-postgres"));
    let twice: Vec<String> =
        postgres.iter().filter_map(|(sql, file)| Some(format!("{sql}\n  {} and {file}", sqlite.get(sql)?))).collect();
    assert!(twice.is_empty(), "move to crates/store/src/sql:\n{}", twice.join("\n"));
}

#[test]
fn statements_are_read_from_the_sources_as_the_database_gets_them() {
    let source = r#"
        let sql = "delete from links \
                   where \"user\" = $1";
        let other = "no statement";
        let hot = "select body from actions where call = $1";
        let nested = format!("delete from visits where id in ({UNUSED})");"#;
    assert_eq!(shareable(source), [r#"delete from links where "user" = ?1"#]);
}

/// Statements in the sources of a store, each with the file that has it.
fn statements(store: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(store).join("src");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let file = format!("{store}/{}", path.file_name().unwrap().to_str().unwrap());
            found.extend(shareable(&fs::read_to_string(&path).unwrap()).into_iter().map(|sql| (sql, file.clone())));
        }
    }
    assert!(!found.is_empty(), "{store} has no statement");
    found
}

/// Statements in the literals of a source, with parameters written `?1`. Leaves out those on hot tables, and those whose table is a
/// statement of the store, such as `({UNUSED})`.
fn shareable(source: &str) -> Vec<String> {
    let is_statement =
        |sql: &String| ["select ", "insert ", "update ", "delete "].iter().any(|verb| sql.starts_with(verb));
    let statements = literals(source).into_iter().map(|sql| sql.replace('$', "?")).filter(is_statement);
    statements
        .filter(|sql| !sql.contains("({") && !table(sql).is_some_and(|table| HOT_TABLES.contains(&table)))
        .collect()
}

/// Table that a statement reads or writes first.
fn table(sql: &str) -> Option<&str> {
    let mut words = sql.split(' ');
    words.find(|word| ["from", "into", "update"].contains(word))?;
    words.next()
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
