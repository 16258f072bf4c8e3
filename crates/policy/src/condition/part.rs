//! The part of the facts of a call that an expression refers to.

use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use serde_json::Value;

use super::Remark;
use crate::{case::SHAPES, document::listed};

/// Lists of the subjects of a call. `all` on an empty one of these must not be true, because nothing was examined.
const SUBJECTS: [&str; 4] = ["paths", "shell.commands", "sql.statements", "sql.reads"];

/// A part of the facts.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Path of the part: `shell.commands[].name`.
    pub(super) name: String,
    like: &'static Value,
}

/// The variable of a loop.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) variable: String,
    /// The part that the variable stands for, if known.
    pub(super) part: Option<Part>,
    /// The variable is an element of an argument whose name says that it holds paths.
    pub(super) raw_path: bool,
}

impl Part {
    /// The part that a variable available to every expression, such as `shell`, stands for.
    pub(super) fn variable(name: &str) -> Option<Self> {
        Some(Self { name: name.to_owned(), like: SHAPES.get(name)? })
    }

    /// The part to which an expression refers, within these loops.
    pub(super) fn of(expression: &Expr, scope: &[Bound]) -> Option<Self> {
        match expression {
            Expr::Ident(name) => match scope.iter().find(|bound| bound.variable == *name) {
                Some(bound) => bound.part.clone(),
                None => Self::variable(name),
            },
            Expr::Select(select) => Self::of(&select.operand.expr, scope)?.field(&select.field),
            Expr::Call(call) if call.func_name == operators::INDEX => Self::indexed(call, scope),
            Expr::Call(call) if call.func_name == "host" => Self::variable("url")?.field("host"),
            Expr::Unspecified
            | Expr::Call(_)
            | Expr::Comprehension(_)
            | Expr::List(_)
            | Expr::Literal(_)
            | Expr::Map(_)
            | Expr::Struct(_) => None,
        }
    }

    fn indexed(call: &CallExpr, scope: &[Bound]) -> Option<Self> {
        let [owner, key] = call.args.as_slice() else { return None };
        let owner = Self::of(&owner.expr, scope)?;
        if let Expr::Literal(LiteralValue::String(field)) = &key.expr {
            owner.field(field.inner())
        } else {
            owner.element()
        }
    }

    fn field(&self, field: &str) -> Option<Self> {
        Some(Self { name: format!("{}.{field}", self.name), like: self.like.get(field)? })
    }

    /// The elements of the part, if it is a list.
    pub(super) fn element(&self) -> Option<Self> {
        Some(Self { name: format!("{}[]", self.name), like: self.like.as_array()?.first()? })
    }

    pub(super) fn is_list(&self) -> bool {
        self.like.is_array()
    }

    pub(super) fn is_text(&self) -> bool {
        self.like.is_string()
    }

    /// Refuses a field that the part never has.
    pub(super) fn check_field(&self, field: &str) -> Result<(), Remark> {
        if self.like.get(field).is_some() {
            return Ok(());
        }
        let name = &self.name;
        let message = match self.like.as_object() {
            None => format!("`{name}` has no fields"),
            Some(fields) => {
                let known: Vec<&str> = fields.keys().map(String::as_str).collect();
                format!("`{name}` has no field `{field}`; it has {}", listed(&known))
            }
        };
        Err(Remark::new("unknown_field", message))
    }
}

/// Says whether a list is one of the subjects of a call, or is computed from one.
pub(super) fn is_subject(list: &Expr, scope: &[Bound]) -> bool {
    match list {
        Expr::Comprehension(inner) => is_subject(&inner.iter_range.expr, scope),
        Expr::Call(call) if super::functions::guards_loop(&call.func_name) => {
            call.args.iter().any(|list| is_subject(&list.expr, scope))
        }
        Expr::Unspecified
        | Expr::Call(_)
        | Expr::Ident(_)
        | Expr::List(_)
        | Expr::Literal(_)
        | Expr::Map(_)
        | Expr::Select(_)
        | Expr::Struct(_) => Part::of(list, scope).is_some_and(|part| SUBJECTS.contains(&part.name.as_str())),
    }
}
