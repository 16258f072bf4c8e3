//! Checks for any text, used as SQL.

use tool_facts::Sql;

/// Checks one text.
pub(crate) fn check(text: &str) {
    let Ok(sql) = Sql::parse(text) else { return };
    assert!(!sql.statements.is_empty(), "a parsed text has at least one statement");
    if sql.read_only {
        assert!(sql.writes.is_empty(), "a read-only text writes no table");
        assert!(sql.statements.iter().all(|statement| statement.read_only));
    }
}
