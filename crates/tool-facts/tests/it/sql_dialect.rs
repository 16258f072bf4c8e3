//! Tests SQL in a declared dialect: `sql_dialect/*.txt` has a line for each text.

use holdpoint_tool_facts::{Sql, SqlDialect};
use proptest::prelude::*;

const CASES: &[(SqlDialect, &str)] = &[
    (SqlDialect::Postgresql, include_str!("sql_dialect/postgresql.txt")),
    (SqlDialect::Mysql, include_str!("sql_dialect/mysql.txt")),
    (SqlDialect::Sqlite, include_str!("sql_dialect/sqlite.txt")),
    (SqlDialect::Bigquery, include_str!("sql_dialect/bigquery.txt")),
    (SqlDialect::Tsql, include_str!("sql_dialect/tsql.txt")),
];

/// Formats what may be relied on: `reads a,b` if the text only reads these tables, `verb >a` with the written tables if it acts, and `ask` if it is
/// in doubt.
fn verdict(dialect: SqlDialect, text: &str) -> String {
    match Sql::parse_as(dialect, text) {
        Err(_) => "ask".to_owned(),
        Ok(sql) if sql.doubt.is_some() => "ask".to_owned(),
        Ok(sql) if sql.read_only => {
            assert_eq!(sql.written_tables, Vec::<String>::new(), "{text}");
            format!("reads {}", sql.read_tables.join(",")).trim_end().to_owned()
        }
        Ok(sql) => {
            let verbs: Vec<&str> = sql.statements.iter().map(|one| one.verb.as_str()).collect();
            format!("{} >{}", verbs.join("+"), sql.written_tables.join(","))
        }
    }
}

/// The cases of a file: `expected | text` a line. `\n` in a text is a line end.
fn rows(file: &'static str) -> impl Iterator<Item = (&'static str, String)> {
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with("## "));
    lines.map(|line| {
        let (expected, text) = line.split_once(" | ").unwrap_or_else(|| panic!("no separator in {line}"));
        (expected.trim(), text.replace("\\n", "\n"))
    })
}

#[test]
fn texts_are_read_as_their_dialect_does() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (dialect, file) in CASES {
        for (expected, text) in rows(file) {
            count += 1;
            let found = verdict(*dialect, &text);
            if found != expected {
                wrong.push(format!(
                    "{}: {text:?}: {found}, expected {expected}: {:?}",
                    dialect.name(),
                    reason(*dialect, &text)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 300, "{count}");
}

fn reason(dialect: SqlDialect, text: &str) -> String {
    match Sql::parse_as(dialect, text) {
        Err(unparsed) => unparsed.reason,
        Ok(sql) => format!("{:?} {:?}", sql.doubt.map(|doubt| doubt.reason), sql.functions),
    }
}

proptest! {
    #[test]
    fn no_text_stops_the_parser(text in "\\PC{0,80}", dialect in 0..CASES.len()) {
        let dialect = CASES[dialect].0;
        let _: bool = Sql::parse_as(dialect, &text).is_ok();
    }

    #[test]
    fn quoted_text_never_changes_what_is_read(inner in "[ -~]{0,40}", dialect in 0..CASES.len()) {
        let dialect = CASES[dialect].0;
        let doubled = inner.replace('\\', "").replace('\'', "''");
        let text = format!("select * from a where b = '{doubled}'");
        prop_assume!(dialect != SqlDialect::Bigquery || !doubled.contains('\''));
        prop_assume!(dialect != SqlDialect::Tsql || !doubled.contains("$("));
        prop_assert_eq!(verdict(dialect, &text), "reads a");
    }
}
