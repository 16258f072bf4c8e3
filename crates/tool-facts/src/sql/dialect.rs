//! SQL in a declared dialect.
//!
//! `scan.rs` splits the text as the dialect's own lexer does, and writes it again without comments and with plain quotes, so that sqlparser cannot
//! find other ends of texts and names than the database. The functions that only compute are a list for each dialect.

use std::collections::HashSet;
use std::ops::ControlFlow;

use sqlparser::ast::{Statement as Tree, Visit, Visitor};
use sqlparser::dialect::{BigQueryDialect, Dialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use self::scan::Scanned;
use super::{Sql, lexical, reading, refused, statement};
use crate::word_list::WordList;
use crate::{SqlDialect, Unparsed};

pub(super) mod function;
mod scan;

/// Words that begin a statement of T-SQL, whose statements need no semicolon between them. They are reserved: no name is one of them.
static TSQL_STATEMENTS: WordList = WordList::new(include_str!("../../data/sql/tsql_statements.txt"));

/// Statements of T-SQL that are one word, which the parser may take for an alias.
const TSQL_SINGLE_WORDS: &[&str] =
    &["BREAK", "CHECKPOINT", "COMMIT", "CONTINUE", "RECONFIGURE", "RETURN", "REVERT", "ROLLBACK", "SHUTDOWN"];

/// Words of statements that run a text or a procedure, which is not parsed.
const RUNNING: &[&str] = &["CALL", "DO", "EXEC", "EXECUTE", "PREPARE"];

/// Words that the parser may leave out when it writes a statement.
static OPTIONAL_WORDS: WordList = WordList::new(include_str!("../../data/sql/optional_words.txt"));

/// Parses a text of SQL as one dialect reads it.
pub(super) fn parse(dialect: SqlDialect, text: &str) -> Result<Sql, Unparsed> {
    let scanned = scan::scan(dialect, text).map_err(|reason| refused(format!("the SQL is in doubt: {reason}")))?;
    let statements = Parser::new(parser_dialect(dialect))
        .with_recursion_limit(40)
        .try_with_sql(&scanned.text)
        .and_then(|mut parser| parser.parse_statements())
        .map_err(|error| refused(format!("the SQL cannot be parsed: {error}")))?;
    if statements.is_empty() {
        return Err(refused("the text contains no statement"));
    }
    if statements.iter().any(statement::has_short_form) {
        lexical::ends_after_table(&scanned.text)?;
    }
    let mut sql = Sql { read_only: true, ..Sql::default() };
    for tree in &statements {
        sql.add(statement::inspect(tree, Some(dialect)));
    }
    if reading::ends_earlier_transaction(&statements) {
        sql.read_only = false;
        sql.acts = true;
    }
    sql.doubt = find_doubt(dialect, &scanned, &statements, sql.read_only).map(refused);
    Ok(sql)
}

fn parser_dialect(dialect: SqlDialect) -> &'static dyn Dialect {
    match dialect {
        SqlDialect::Postgresql => &PostgreSqlDialect {},
        SqlDialect::Mysql => &MySqlDialect {},
        SqlDialect::Sqlite => &SQLiteDialect {},
        SqlDialect::Bigquery => &BigQueryDialect {},
        SqlDialect::Tsql => &MsSqlDialect {},
    }
}

/// The reason why the database may do something else than the facts say, if there is one.
fn find_doubt(dialect: SqlDialect, scanned: &Scanned, statements: &[Tree], reads: bool) -> Option<String> {
    if runs_text(statements) || scanned.words.iter().zip(&scanned.begins).any(|(word, first)| *first && runs(word)) {
        return Some("a statement runs a text, a procedure or a script that is not parsed".to_owned());
    }
    if dialect == SqlDialect::Tsql {
        let mut inner = scanned.words.iter().zip(&scanned.begins).filter(|(_, first)| !**first);
        let second = inner.find(|(word, _)| {
            let word = word.as_str();
            TSQL_SINGLE_WORDS.contains(&word) || runs(word) || (reads && TSQL_STATEMENTS.contains(word))
        });
        if let Some((word, _)) = second {
            return Some(format!("`{word}` may begin a further statement"));
        }
    }
    let written: String = statements.iter().map(|tree| format!("{tree} ")).collect::<String>().to_uppercase();
    let written: HashSet<&str> = written.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let lost = scanned.words.iter().find(|word| !written.contains(word.as_str()) && !OPTIONAL_WORDS.contains(word));
    lost.map(|word| format!("the parser skipped the word `{word}`"))
}

fn runs(word: &str) -> bool {
    RUNNING.contains(&word)
}

/// Says whether a statement runs a text that is put together elsewhere, or is a part of a script with conditions and variables.
fn runs_text(statements: &[Tree]) -> bool {
    struct Running;
    impl Visitor for Running {
        type Break = ();

        fn pre_visit_statement(&mut self, tree: &Tree) -> ControlFlow<()> {
            let block = matches!(tree, Tree::StartTransaction { statements, exception, .. }
                if !statements.is_empty() || exception.is_some());
            let runs = matches!(tree, Tree::Execute { .. } | Tree::Prepare { .. } | Tree::Call(_));
            let script = matches!(
                tree,
                Tree::Declare { .. }
                    | Tree::If(_)
                    | Tree::While(_)
                    | Tree::Case(_)
                    | Tree::Open(_)
                    | Tree::Fetch { .. }
            );
            if block || runs || script { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    statements.iter().any(|tree| tree.visit(&mut Running).is_break())
}
