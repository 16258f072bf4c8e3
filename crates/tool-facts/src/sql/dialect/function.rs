//! Functions of each dialect that only compute. Every other function may sleep, write, read files or open connections.

use crate::SqlDialect;
use crate::word_list::WordList;

static COMMON: WordList = WordList::new(include_str!("../../../data/sql/functions/common.txt"));
static POSTGRESQL: WordList = WordList::new(include_str!("../../../data/sql/functions/postgresql.txt"));
static MYSQL: WordList = WordList::new(include_str!("../../../data/sql/functions/mysql.txt"));
static SQLITE: WordList = WordList::new(include_str!("../../../data/sql/functions/sqlite.txt"));
static BIGQUERY: WordList = WordList::new(include_str!("../../../data/sql/functions/bigquery.txt"));
static TSQL: WordList = WordList::new(include_str!("../../../data/sql/functions/tsql.txt"));

/// Says whether a function only computes, or reads facts about the database itself. The name is in lower case.
pub(in crate::sql) fn is_pure(dialect: SqlDialect, name: &str) -> bool {
    let (own, bare) = match dialect {
        SqlDialect::Postgresql => (&POSTGRESQL, name.strip_prefix("pg_catalog.")),
        SqlDialect::Mysql => (&MYSQL, None),
        SqlDialect::Sqlite => (&SQLITE, None),
        SqlDialect::Bigquery => (&BIGQUERY, name.strip_prefix("safe.")),
        SqlDialect::Tsql => (&TSQL, None),
    };
    let name = bare.unwrap_or(name);
    COMMON.contains(name) || own.contains(name)
}
