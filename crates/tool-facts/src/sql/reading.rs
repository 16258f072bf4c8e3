//! Parts of statements that only read, by dialect.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "enums of the SQL parser have a hundred variants; what is not named here is not a read"
)]

use sqlparser::ast::{BinaryOperator, Expr, Statement as Tree, TableFactor, TransactionModifier};

use crate::SqlDialect;
use crate::word_list::WordList;

/// Pragmas that only read, with a value or without.
static PRAGMAS: WordList = WordList::new(include_str!("../../data/sql/sqlite_pragmas.txt"));

/// Pragmas that only read without a value.
static SETTINGS: WordList = WordList::new(include_str!("../../data/sql/sqlite_settings.txt"));

/// Table hints of Transact-SQL that take no lock that others wait for.
const HINTS: &[&str] =
    &["nolock", "readuncommitted", "readcommitted", "readpast", "noexpand", "forceseek", "forcescan"];

/// Operators of extensions of `PostgreSQL` that only compute: distances of vectors and similarity of texts.
const OPERATORS: &[&str] = &["<->", "<#>", "<=>", "<+>", "<->>", "<<->", "<%", "%>", "<<%", "%>>"];

/// Says whether a statement only shows metadata, or begins and ends a transaction.
pub(super) fn is_harmless(tree: &Tree, dialect: SqlDialect) -> bool {
    match tree {
        Tree::ShowFunctions { .. }
        | Tree::ShowStatus { .. }
        | Tree::ShowVariables { .. }
        | Tree::ShowProcessList { .. }
        | Tree::ShowCollation { .. }
        | Tree::ShowCharset(_)
        | Tree::Commit { chain: false, .. }
        | Tree::Rollback { chain: false, savepoint: None } => true,
        Tree::StartTransaction { statements, exception, modifier, .. } => {
            let deferred = matches!(modifier, None | Some(TransactionModifier::Deferred));
            statements.is_empty() && exception.is_none() && deferred && dialect != SqlDialect::Bigquery
        }
        Tree::Pragma { name, value, .. } if dialect == SqlDialect::Sqlite => {
            let name = name.0.last().map(ToString::to_string).unwrap_or_default().to_lowercase();
            PRAGMAS.contains(&name) || (value.is_none() && SETTINGS.contains(&name))
        }
        _ => false,
    }
}

/// Says whether a statement ends a transaction that the same text did not begin, and so keeps or discards earlier changes.
pub(super) fn ends_earlier_transaction(statements: &[Tree]) -> bool {
    let mut open = false;
    statements.iter().any(|tree| match tree {
        Tree::StartTransaction { .. } => {
            open = true;
            false
        }
        Tree::Commit { .. } | Tree::Rollback { .. } => !std::mem::take(&mut open),
        _ => false,
    })
}

/// Says whether a part of `FROM` only reads, apart from the functions in it.
pub(super) fn is_reading_factor(factor: &TableFactor) -> bool {
    match factor {
        TableFactor::Table { with_hints, .. } => with_hints.iter().all(is_harmless_hint),
        TableFactor::Derived { .. }
        | TableFactor::NestedJoin { .. }
        | TableFactor::UNNEST { .. }
        | TableFactor::Function { .. }
        | TableFactor::TableFunction { .. }
        | TableFactor::JsonTable { .. }
        | TableFactor::OpenJsonTable { .. }
        | TableFactor::Pivot { .. }
        | TableFactor::Unpivot { .. } => true,
        _ => false,
    }
}

fn is_harmless_hint(hint: &Expr) -> bool {
    match hint {
        Expr::Identifier(name) => HINTS.contains(&name.value.to_lowercase().as_str()),
        _ => false,
    }
}

/// Says whether an operator only computes.
pub(super) fn is_reading_operator(operator: &BinaryOperator) -> bool {
    match operator {
        BinaryOperator::Assignment | BinaryOperator::PGCustomBinaryOperator(_) => false,
        BinaryOperator::Custom(written) => OPERATORS.contains(&written.as_str()),
        _ => true,
    }
}
