//! Compares `docs/tables.md` with the schema after the last migration.

use std::collections::BTreeSet;

use holdpoint_store_sqlite::SqliteOptions;
use rusqlite::Connection;

const PAGE: &str = include_str!("../../../../../docs/tables.md");
/// Mark of tables and columns that the schema of SQLite does not have.
const ELSEWHERE: &str = "PostgreSQL only";

/// Tables and columns of the schema, as `table` and `table.column`. The table of refinery is left out.
fn stored() -> BTreeSet<String> {
    let directory = tempfile::tempdir().unwrap();
    drop(super::open(directory.path(), &SqliteOptions::default()));
    let connection = Connection::open(directory.path().join("holdpoint.db")).unwrap();
    let sql = "select tables.name, columns.name from sqlite_schema tables join pragma_table_info(tables.name) columns \
               where tables.type = 'table' and tables.name not like 'sqlite%' and tables.name not like 'refinery%'";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows = rows.map(Result::unwrap);
    rows.flat_map(|(table, column): (String, String)| [format!("{table}.{column}"), table]).collect()
}

/// Tables and columns that the page describes for SQLite. Each is described once.
fn described() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for section in PAGE.split("\n### ").skip(1) {
        let (heading, rest) = section.split_once('\n').unwrap();
        if heading.contains(ELSEWHERE) {
            continue;
        }
        let table = heading.trim_matches('`');
        assert!(names.insert(table.to_owned()), "{table} is described twice");
        for row in rest.lines().filter(|row| row.starts_with("| `") && !row.contains(ELSEWHERE)) {
            let column = row.split('`').nth(1).unwrap();
            assert!(names.insert(format!("{table}.{column}")), "{table}.{column} is described twice");
        }
    }
    names
}

#[test]
fn page_of_tables_describes_every_table_and_column() {
    let (stored, described) = (stored(), described());
    let missing: Vec<_> = stored.difference(&described).collect();
    let unknown: Vec<_> = described.difference(&stored).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "not described: {missing:?}; not in the schema: {unknown:?}");
    assert!(stored.len() > 250, "{} names", stored.len());
}
