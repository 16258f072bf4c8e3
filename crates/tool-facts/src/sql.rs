//! SQL, as verbs and tables.

use serde::Serialize;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::Unparsed;

mod function;
mod gate;
mod lexical;
mod survey;
mod token;
mod upsert;
mod words;

/// What a text of SQL does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Sql {
    /// Its statements, in order.
    pub statements: Vec<Statement>,
    /// Every statement is understood, and only reads.
    pub read_only: bool,
    /// The verbs of all statements, those within others too, and each that an upsert has.
    pub verbs: Vec<String>,
    /// Every table that is read, as it is named and by its bare name in lower case.
    pub reads: Vec<String>,
    /// Every table that is written, made, changed or dropped, likewise.
    pub writes: Vec<String>,
    /// Every function that is called.
    pub functions: Vec<String>,
    /// Why databases may read it in another way, where they may. The facts are then what the parser made of it.
    pub doubt: Option<Unparsed>,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Statement {
    /// `select`, `insert`, `update`, `delete`, `drop`, …; of a query that writes on its way, the verb that writes; of an insert that may
    /// find its row there, the stronger one: `update`, or `delete` where it replaces.
    pub verb: String,
    /// The tables that it reads, in lower case where they were not quoted. One with a schema or with capitals is there a second time, by its
    /// bare name in lower case.
    pub reads: Vec<String>,
    /// The tables that it writes, makes, changes or drops, likewise.
    pub writes: Vec<String>,
    /// Every part of it that changes rows is limited by a `WHERE` that looks at a column; for a query, its first part is.
    pub has_where: bool,
    /// The functions that it calls, in lower case.
    pub functions: Vec<String>,
    /// It is understood, and only reads.
    pub read_only: bool,
}

impl Sql {
    /// Reads a text of SQL. What databases would read differently is refused or in doubt, because nobody here knows which one will run it.
    pub fn parse(text: &str) -> Result<Self, Unparsed> {
        lexical::check(text)?;
        // The parser goes no deeper than this, whatever the text.
        let parser = Parser::new(&GenericDialect {}).with_recursion_limit(40);
        let statements = parser
            .try_with_sql(text)
            .and_then(|mut parser| parser.parse_statements())
            .map_err(|error| refused(format!("this is no SQL that can be read: {error}")))?;
        if statements.is_empty() {
            return Err(refused("there is no statement in it"));
        }
        if statements.iter().any(survey::has_short_form) {
            lexical::ends_after_table(text)?;
        }
        let mut sql = Self { read_only: true, ..Self::default() };
        for statement in &statements {
            let (statement, verbs) = survey::look(statement);
            sql.read_only &= statement.read_only;
            extend(&mut sql.verbs, &verbs);
            extend(&mut sql.reads, &statement.reads);
            extend(&mut sql.writes, &statement.writes);
            extend(&mut sql.functions, &statement.functions);
            sql.statements.push(statement);
        }
        sql.doubt = gate::doubt(text, &statements, &sql.statements)
            .map(|reason| refused(format!("databases may read it in different ways ({reason})")));
        Ok(sql)
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
