//! Names of tables and functions.

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

use crate::SqlDialect;

/// Says whether the name of a table may be a file: some databases read a file whose name stands in quotes.
pub(super) fn may_be_a_file(table: &ObjectName) -> bool {
    table.0.iter().any(|part| match part {
        ObjectNamePart::Identifier(ident) => {
            ident.quote_style == Some('\'')
                || (ident.quote_style.is_some() && ident.value.contains(['/', '\\', '.', ':', '*', '?']))
        }
        ObjectNamePart::Function(_) => false,
    })
}

/// Says whether the name of a table is a text: it may have lost characters when the text was split.
pub(super) fn is_text(table: &ObjectName) -> bool {
    table.0.iter().any(|part| match part {
        ObjectNamePart::Identifier(ident) => ident.quote_style == Some('\''),
        ObjectNamePart::Function(_) => true,
    })
}

/// The name of a table with its schema, as patterns compare it. A part that contains a period stands in quotes.
pub(super) fn table_name(object: &ObjectName, dialect: Option<SqlDialect>) -> String {
    let parts = object.0.iter().map(|object| match object {
        ObjectNamePart::Identifier(ident) => {
            let spelled = match dialect {
                None | Some(SqlDialect::Postgresql) => part(ident),
                Some(SqlDialect::Sqlite | SqlDialect::Tsql) => ident.value.to_lowercase(),
                Some(SqlDialect::Mysql | SqlDialect::Bigquery) => ident.value.clone(),
            };
            if spelled.contains('.') { format!("\"{spelled}\"") } else { spelled }
        }
        ObjectNamePart::Function(function) => function.to_string(),
    });
    parts.collect::<Vec<_>>().join(".")
}

/// A name with its schema, in lower case where it was not quoted.
pub(super) fn name(object: &ObjectName) -> String {
    let parts: Vec<String> = object
        .0
        .iter()
        .map(|object| match object {
            ObjectNamePart::Identifier(ident) => part(ident),
            ObjectNamePart::Function(function) => function.to_string(),
        })
        .collect();
    parts.join(".")
}

pub(super) fn part(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// Adds the bare name in lower case of each table: `public.Secrets` and `"Secrets"` are `secrets` in most databases,
/// and a rule that names it must see them.
pub(super) fn with_bare_names(names: Vec<String>) -> Vec<String> {
    let bare = |name: &String| name.rsplit('.').next().unwrap_or_default().to_lowercase();
    names
        .into_iter()
        .flat_map(|name| {
            let bare = bare(&name);
            [name, bare]
        })
        .collect()
}

pub(super) fn unique(mut all: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    all.retain(|name| seen.insert(name.clone()));
    all
}
