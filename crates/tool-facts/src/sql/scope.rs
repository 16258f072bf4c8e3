//! The names that `WITH` introduces, where each of them is visible.

use sqlparser::ast::{ObjectName, ObjectNamePart, Query};

use crate::SqlDialect;

/// The common names that are visible at the current position of a walk through a statement.
#[derive(Default)]
pub(super) struct QueryScope {
    levels: Vec<Level>,
}

/// The names of one `WITH`.
struct Level {
    /// The query that the `WITH` belongs to.
    query: *const Query,
    /// The names, each with the query that defines it.
    names: Vec<(String, *const Query)>,
    recursive: bool,
    /// Number of the names that are visible.
    visible: usize,
}

impl QueryScope {
    /// Enters a query: inside it, its own common names become visible one after another.
    pub(super) fn enter(&mut self, query: &Query, dialect: SqlDialect) {
        let here = std::ptr::from_ref(query);
        for level in &mut self.levels {
            if let Some(at) = level.names.iter().position(|(_, defined)| *defined == here) {
                level.visible = at + usize::from(level.recursive);
            }
        }
        if let Some(with) = &query.with {
            // In Transact-SQL, a name that its own query uses is recursive without the keyword.
            let recursive = with.recursive || dialect == SqlDialect::Tsql;
            let names = with.cte_tables.iter();
            let names = names.map(|table| {
                (
                    spelled(&table.alias.name.value, table.alias.name.quote_style, dialect),
                    std::ptr::from_ref(&*table.query),
                )
            });
            self.levels.push(Level { query: here, names: names.collect(), recursive, visible: 0 });
        }
    }

    /// Leaves a query. The name that it defines, if it does, is visible from now on.
    pub(super) fn leave(&mut self, query: &Query) {
        let here = std::ptr::from_ref(query);
        if self.levels.last().is_some_and(|level| level.query == here) {
            self.levels.pop();
        }
        for level in &mut self.levels {
            if let Some(at) = level.names.iter().position(|(_, defined)| *defined == here) {
                level.visible = at + 1;
            }
        }
    }

    /// Says whether a name is a visible common name, and not a table.
    pub(super) fn is_common(&self, name: &ObjectName, dialect: SqlDialect) -> bool {
        let [ObjectNamePart::Identifier(ident)] = name.0.as_slice() else { return false };
        let wanted = spelled(&ident.value, ident.quote_style, dialect);
        self.levels.iter().any(|level| level.names.iter().take(level.visible).any(|(name, _)| *name == wanted))
    }
}

/// A name as it is compared. `PostgreSQL` folds names without quotes; of the others only equal spellings count, because some of them tell capitals
/// apart.
fn spelled(name: &str, quote: Option<char>, dialect: SqlDialect) -> String {
    if quote.is_none() && dialect == SqlDialect::Postgresql { name.to_lowercase() } else { name.to_owned() }
}
