//! SQL: the verbs, tables and functions of its statements.
//!
//! `lexical.rs` refuses quotes and comments that databases end at different positions, then sqlparser parses the text.
//! `statement.rs` collects the facts of a statement from its tree. `gate.rs` adds a doubt unless every database
//! certainly reads the text alike. The database that will run the text is not known, and no schema is looked up.

use serde::Serialize;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use self::statement::Inspected;
use super::{SqlDialect, Unparsed};

mod dialect;
mod function;
mod gate;
mod lexical;
mod names;
mod reading;
mod scope;
mod statement;
mod token;
mod types;
mod upsert;
mod words;

/// Facts about a text of SQL.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Sql {
    /// The statements, in order.
    pub statements: Vec<Statement>,
    /// Every statement is understood and only reads.
    pub read_only: bool,
    /// The verbs of all statements, also of nested ones, and every verb of an upsert.
    pub verbs: Vec<String>,
    /// Every table that is read: as named, and by its bare name in lower case.
    pub reads: Vec<String>,
    /// Every table that is written, created, altered or dropped: as named, and by its bare name in lower case.
    pub writes: Vec<String>,
    /// Every function that is called, in lower case.
    pub functions: Vec<String>,
    /// Every table that is read, once, as patterns compare it: with its schema if it was named, in lower case where the database does not tell
    /// capitals apart.
    #[serde(skip)]
    pub read_tables: Vec<String>,
    /// Every table that is written, once, spelled in the same way.
    #[serde(skip)]
    pub written_tables: Vec<String>,
    /// A function is called that may do more than compute.
    #[serde(skip)]
    pub calls: bool,
    /// Something else happens than reading, changing rows of the written tables and calling functions: a lock, a setting, an unknown statement.
    #[serde(skip)]
    pub acts: bool,
    /// The reason why databases may read the text in different ways, if they may. The other fields are then the reading of the parser.
    pub doubt: Option<Unparsed>,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Statement {
    /// `select`, `insert`, `update`, `delete`, `drop`, …. A query that contains a write has the verb of the write. An insert that may
    /// find an existing row has the stronger verb: `update`, or `delete` if it replaces the row.
    pub verb: String,
    /// The tables that the statement reads, in lower case unless quoted. A table with a schema or with capitals occurs a second time, by its
    /// bare name in lower case.
    pub reads: Vec<String>,
    /// The tables that the statement writes, creates, alters or drops, spelled in the same way.
    pub writes: Vec<String>,
    /// Every part that changes rows has a `WHERE` that mentions a column; for a query, its first part has.
    pub has_where: bool,
    /// The functions that the statement calls, in lower case.
    pub functions: Vec<String>,
    /// The statement is understood and only reads.
    pub read_only: bool,
}

impl Sql {
    /// Parses a text of SQL as one dialect reads it.
    pub fn parse_as(dialect: SqlDialect, text: &str) -> Result<Self, Unparsed> {
        dialect::parse(dialect, text)
    }

    /// Parses a text of SQL. A text that databases read differently is refused or in doubt, because it is not known which database will run it.
    pub fn parse(text: &str) -> Result<Self, Unparsed> {
        lexical::check(text)?;
        // The parser refuses deeper nesting.
        let parser = Parser::new(&GenericDialect {}).with_recursion_limit(40);
        let statements = parser
            .try_with_sql(text)
            .and_then(|mut parser| parser.parse_statements())
            .map_err(|error| refused(format!("the SQL cannot be parsed: {error}")))?;
        if statements.is_empty() {
            return Err(refused("the text contains no statement"));
        }
        if statements.iter().any(statement::has_short_form) {
            lexical::ends_after_table(text)?;
        }
        let mut sql = Self { read_only: true, ..Self::default() };
        for statement in &statements {
            sql.add(statement::inspect(statement, None));
        }
        sql.doubt = gate::find_doubt(text, &statements, &sql.statements)
            .map(|reason| refused(format!("databases may read it in different ways ({reason})")));
        Ok(sql)
    }

    fn add(&mut self, inspected: Inspected) {
        let statement = inspected.statement;
        self.read_only &= statement.read_only;
        self.calls |= inspected.calls;
        self.acts |= inspected.acts;
        extend(&mut self.verbs, &inspected.verbs);
        extend(&mut self.reads, &statement.reads);
        extend(&mut self.writes, &statement.writes);
        extend(&mut self.functions, &statement.functions);
        extend(&mut self.read_tables, &inspected.read_tables);
        extend(&mut self.written_tables, &inspected.written_tables);
        self.statements.push(statement);
    }
}

fn extend(all: &mut Vec<String>, more: &[String]) {
    for name in more {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
}

fn refused(reason: impl Into<String>) -> Unparsed {
    Unparsed::new("sql", reason)
}
