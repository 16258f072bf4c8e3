//! Types and collations in queries. Those of users run functions of users.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "enums of the SQL parser have a hundred variants; what is not named here has no type"
)]

use sqlparser::ast::{
    CastKind, DataType, Expr, FunctionArgumentClause, FunctionArguments, ObjectName, TableAlias, TableFactor,
};

use crate::SqlDialect;
use crate::word_list::WordList;

/// Types of one word of `PostgreSQL` and of its common extensions, whose functions only compute.
static TYPES: WordList = WordList::new(include_str!("../../data/sql/postgresql_types.txt"));

/// Types of `PostgreSQL` of several words.
const LONG_TYPES: &[&str] = &[
    "bit varying",
    "char varying",
    "character varying",
    "double precision",
    "time with time zone",
    "time without time zone",
    "timestamp with time zone",
    "timestamp without time zone",
];

/// Collations that every database of `PostgreSQL` has, without quotes.
const COLLATIONS: &[&str] = &["C", "POSIX", "default", "ucs_basic", "unicode"];

/// Says whether an expression uses a type or a collation that the database may not have by itself.
pub(super) fn in_expression(expression: &Expr, dialect: Option<SqlDialect>) -> bool {
    match expression {
        // `Type::Method()` of Transact-SQL calls a method of a type.
        Expr::Cast { kind: CastKind::DoubleColon, .. } if dialect == Some(SqlDialect::Tsql) => true,
        Expr::Cast { data_type, .. } => is_unknown(data_type, dialect),
        Expr::Convert { data_type: Some(data_type), .. } => is_unknown(data_type, dialect),
        Expr::TypedString(typed) => is_unknown(&typed.data_type, dialect),
        Expr::Collate { collation, .. } => dialect == Some(SqlDialect::Postgresql) && !is_collation(collation),
        Expr::Function(function) => match &function.args {
            FunctionArguments::List(list) => list.clauses.iter().any(|clause| match clause {
                FunctionArgumentClause::JsonReturningClause(returning) => is_unknown(&returning.data_type, dialect),
                _ => false,
            }),
            _ => false,
        },
        _ => false,
    }
}

/// Says whether a part of `FROM` uses a type that the database may not have by itself.
pub(super) fn in_factor(factor: &TableFactor, dialect: Option<SqlDialect>) -> bool {
    let columns = |alias: &Option<TableAlias>| {
        let columns = alias.iter().flat_map(|alias| &alias.columns);
        columns.filter_map(|column| column.data_type.as_ref()).any(|data_type| is_unknown(data_type, dialect))
    };
    match factor {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => columns(alias),
        TableFactor::JsonTable { .. } => dialect == Some(SqlDialect::Postgresql),
        _ => false,
    }
}

/// Says whether a type may be one of users. Without a dialect, only types that the parser knows are none.
fn is_unknown(data_type: &DataType, dialect: Option<SqlDialect>) -> bool {
    match (dialect, data_type) {
        (Some(SqlDialect::Postgresql), DataType::Interval { .. }) => false,
        (Some(SqlDialect::Postgresql), data_type) => !is_listed(&data_type.to_string()),
        (None, DataType::Custom(..)) => true,
        // A type in a schema is one of users, and its functions may be written in any language.
        (Some(SqlDialect::Tsql), DataType::Custom(name, _)) => name.0.len() > 1,
        _ => false,
    }
}

/// Says whether a type of `PostgreSQL` is on the list, without its lengths and dimensions.
fn is_listed(written: &str) -> bool {
    let mut depth = 0_usize;
    let mut bare = String::new();
    for c in written.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => bare.extend(c.to_lowercase()),
            _ => {}
        }
    }
    let bare = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    LONG_TYPES.contains(&bare.as_str()) || TYPES.contains(bare.strip_prefix("pg_catalog.").unwrap_or(&bare))
}

fn is_collation(collation: &ObjectName) -> bool {
    let written = collation.to_string().replace('"', "");
    let name = written.strip_prefix("pg_catalog.").unwrap_or(&written);
    let icu = name.strip_suffix("-x-icu").is_some_and(|name| !name.contains('.'));
    icu || COLLATIONS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_is_listed_without_its_lengths() {
        for listed in
            ["INT", "INT[]", "NUMERIC(10,2)", "TIMESTAMP(3) WITH TIME ZONE", "pg_catalog.int4", "CHARACTER VARYING(3)"]
        {
            assert!(is_listed(listed), "{listed}");
        }
        for other in ["evil", "public.int4", "\"int4\"", "TINYINT", "evil[]"] {
            assert!(!is_listed(other), "{other}");
        }
    }
}
