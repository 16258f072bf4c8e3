//! SQL, as verbs and tables.

use serde::Serialize;

/// What a text of SQL does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Sql {
    /// Its statements, in order.
    pub statements: Vec<Statement>,
    /// Every statement is understood, and only reads.
    pub read_only: bool,
    /// The verbs of all statements.
    pub verbs: Vec<String>,
    /// Every table that is read.
    pub reads: Vec<String>,
    /// Every table that is written, made, changed or dropped.
    pub writes: Vec<String>,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Statement {
    /// `select`, `insert`, `update`, `delete`, `drop`, …
    pub verb: String,
    /// The tables that it reads, in lower case where they were not quoted.
    pub reads: Vec<String>,
    /// The tables that it writes, makes, changes or drops.
    pub writes: Vec<String>,
    /// It is limited by a `WHERE`: for a statement that updates or deletes, by one of its own.
    pub has_where: bool,
    /// The functions that it calls, in lower case.
    pub functions: Vec<String>,
    /// It is understood, and only reads.
    pub read_only: bool,
}
