//! What has to hold for any text that is tried as a text of SQL.

use tool_facts::Sql;

/// Tries a text.
pub(crate) fn check(text: &str) {
    let Ok(sql) = Sql::parse(text) else { return };
    assert!(!sql.statements.is_empty(), "something was read and nothing runs");
    if sql.read_only {
        assert!(sql.writes.is_empty(), "what only reads writes nothing");
        assert!(sql.statements.iter().all(|statement| statement.read_only));
    }
}
