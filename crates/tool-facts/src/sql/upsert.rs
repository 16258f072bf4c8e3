//! Finds the effects of inserts and merges on existing rows.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "enums of the SQL parser have a hundred variants; only two of them write over rows"
)]

use sqlparser::ast::{Expr, MergeAction, OnConflictAction, OnInsert, SqliteOnConflict, Statement as Tree};

/// The further verbs of a statement, the strongest first: an upsert also updates, and a replacing insert also deletes.
pub(super) fn further(tree: &Tree) -> Vec<&'static str> {
    match tree {
        Tree::Insert(insert) if insert.replace_into || insert.overwrite || replaces(insert.or.as_ref()) => {
            vec!["delete", "update"]
        }
        Tree::Insert(insert) if updates(insert.on.as_ref()) => vec!["update"],
        Tree::Update(update) if replaces(update.or.as_ref()) => vec!["delete"],
        Tree::Merge(merge) => merge
            .clauses
            .iter()
            .filter_map(|clause| match clause.action {
                MergeAction::Insert(_) => Some("insert"),
                MergeAction::Update(_) => Some("update"),
                MergeAction::Delete { .. } => Some("delete"),
                MergeAction::DoNothing { .. } => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The `WHERE` of `DO UPDATE`, if it has one.
pub(super) fn limit(tree: &Tree) -> Option<&Expr> {
    let Tree::Insert(insert) = tree else { return None };
    match &insert.on {
        Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
            OnConflictAction::DoUpdate(update) => update.selection.as_ref(),
            OnConflictAction::DoNothing => None,
        },
        _ => None,
    }
}

fn replaces(or: Option<&SqliteOnConflict>) -> bool {
    matches!(or, Some(SqliteOnConflict::Replace))
}

/// Says whether an insert updates existing rows. Any clause after `ON` other than `DO NOTHING` counts as an update.
fn updates(on: Option<&OnInsert>) -> bool {
    match on {
        None => false,
        Some(OnInsert::OnConflict(conflict)) => conflict.action != OnConflictAction::DoNothing,
        Some(_) => true,
    }
}
