//! A pattern of tables: `orders`, `analytics.*`.

use crate::{answer::MatchAnswer, why::Why, wildcard::Wildcard};

/// Longest pattern, in bytes.
pub(crate) const LONGEST: usize = 1024;

/// A table, with its schema and database if the pattern names them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TablePattern {
    parts: Vec<Wildcard>,
}

impl TablePattern {
    /// Reads a pattern, or gives the reason why the text is not one.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("is empty, so that it matches nothing".into());
        }
        if text.len() > LONGEST {
            return Err(format!("is longer than {LONGEST} bytes"));
        }
        if text.split('.').any(str::is_empty)
            || text.contains(['"', '`', '[', ';'])
            || text.contains(char::is_whitespace)
        {
            return Err("is no name of a table: write `schema.table` without quotes".into());
        }
        Ok(Self { parts: text.split('.').map(Wildcard::parse).collect() })
    }

    /// Says whether the pattern matches a table as the SQL names it: with a schema only if the pattern has one.
    pub(crate) fn covers(&self, table: &str) -> bool {
        let names: Vec<&str> = table.split('.').collect();
        names.len() == self.parts.len() && self.parts.iter().zip(&names).all(|(part, name)| part.matches(name))
    }

    /// Whether the pattern matches a table, for a rule that asks or denies. A name without a schema may be one of any schema.
    pub(crate) fn finds(&self, table: &str, why: impl FnOnce() -> Why) -> MatchAnswer {
        let table = table.to_lowercase();
        let names: Vec<&str> = table.split('.').rev().collect();
        let same = self.parts.iter().rev().zip(&names).all(|(part, name)| part.lowered().matches(name));
        match (same, names.len() >= self.parts.len()) {
            (true, true) => MatchAnswer::Yes,
            (true, false) => MatchAnswer::Maybe(why()),
            (false, _) => MatchAnswer::No(why()),
        }
    }
}
