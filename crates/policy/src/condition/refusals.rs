//! Expressions that allow or miss more than they say. A new policy with one is refused.

use std::collections::BTreeSet;

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::{
    Remark, RemarkedRules,
    argument_kind::{ArgumentKind, argument_kind, is_amount, suggestion},
    part::{Bound, Part},
};

/// Functions that compare a text.
const TEXT_FUNCTIONS: [&str; 5] = ["startsWith", "endsWith", "contains", "matches", "glob"];
/// Conversions of a value.
const CONVERSIONS: [&str; 3] = ["string", "int", "double"];

/// The refusals of an expression.
pub(super) fn of(expression: &IdedExpr) -> Vec<Remark> {
    let mut walk = Walk::default();
    walk.look(&expression.expr, false);
    if conjuncts(&expression.expr).into_iter().any(is_plain) {
        let message = "behind `shell.plain` the rule misses every command with other text around it, as in `cd a && git push`: search all of `shell.commands`, or write `commands = [\"git push *\"]`";
        walk.remarks.push(Remark::refusing(RemarkedRules::Holding, "behind_plain", message));
    }
    let unbounded = walk.above.iter().filter(|argument| !walk.below.contains(*argument));
    for argument in unbounded {
        let message =
            format!("`args.{argument}` has an upper bound only, and so may be negative: add `args.{argument} >= 0`");
        walk.remarks.push(if is_amount(argument) {
            Remark::refusing(RemarkedRules::Allowing, "no_lower_bound", message)
        } else {
            Remark::of_allowing("no_lower_bound", message)
        });
    }
    walk.remarks
}

/// Explains operators of other languages in a text that is no expression.
pub(super) fn foreign_operator(source: &str) -> Option<String> {
    let mut bare = String::with_capacity(source.len());
    let mut quote = None;
    for c in source.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None => bare.push(c),
        }
    }
    let word = |wanted: &str| {
        bare.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').any(|word| word.eq_ignore_ascii_case(wanted))
    };
    let operators = [("and", "&&"), ("or", "||"), ("not", "!")];
    let (foreign, own) = operators.into_iter().find(|(foreign, _)| word(foreign))?;
    Some(format!("write `{own}` for `{foreign}`"))
}

/// A walk through an expression.
#[derive(Default)]
struct Walk {
    remarks: Vec<Remark>,
    /// Variables of the enclosing loops, with the facts for which they stand.
    scope: Vec<Bound>,
    /// Variables of the enclosing loops, with the arguments whose elements they are.
    elements: Vec<(String, String)>,
    /// Arguments with an upper bound.
    above: BTreeSet<String>,
    /// Arguments with a lower bound, or with an exact value.
    below: BTreeSet<String>,
}

impl Walk {
    fn look(&mut self, expression: &Expr, negated: bool) {
        match expression {
            Expr::Call(call) => self.call(call, negated),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, negated),
            Expr::Select(select) => self.look(&select.operand.expr, negated),
            Expr::List(list) => list.elements.iter().for_each(|element| self.look(&element.expr, negated)),
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.look(&entry.value.expr, negated);
                    }
                }
            }
            Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
        }
    }

    fn call(&mut self, call: &CallExpr, negated: bool) {
        let name = call.func_name.as_str();
        let subject = call.target.as_deref().or(call.args.first()).map(|subject| &subject.expr);
        if let Some(subject) = subject.filter(|_| TEXT_FUNCTIONS.contains(&name)) {
            let literal = call.args.last().and_then(|last| text(&last.expr)).unwrap_or_default();
            self.compare_text(name, subject, literal);
        }
        if let (operators::IN, [wanted, texts]) = (name, call.args.as_slice()) {
            let part = Part::of(&texts.expr, &self.scope).filter(Part::is_text);
            if let (Some(part), Some(wanted)) = (part, text(&wanted.expr)) {
                let message = format!("`{}` is a text and no list: compare it as a whole", part.name);
                self.remarks.push(Remark::refusing(
                    RemarkedRules::All,
                    "list_or_text",
                    format!("{message}, or write `contains(\"{wanted}\")`"),
                ));
            }
        }
        if let [left, right] = call.args.as_slice() {
            self.bound(name, &left.expr, &right.expr, negated);
        }
        let negated = negated ^ (name == operators::LOGICAL_NOT);
        call.target.iter().for_each(|target| self.look(&target.expr, negated));
        call.args.iter().for_each(|argument| self.look(&argument.expr, negated));
    }

    /// Checks a function that compares a text.
    fn compare_text(&mut self, function: &str, subject: &Expr, literal: &str) {
        if let Some(part) = Part::of(subject, &self.scope).filter(Part::is_list) {
            let list = part.name.rsplit('.').next().unwrap_or_default();
            let message = format!(
                "`{}` is a list and no text: write `\"{literal}\" in …{list}`, or `{list}.exists(x, …)`",
                part.name
            );
            self.remarks.push(Remark::refusing(RemarkedRules::All, "list_or_text", message));
        }
        let Some(argument) = self.argument(subject) else { return };
        let Some(kind) = argument_kind(&argument, literal) else { return };
        let what = match kind {
            ArgumentKind::Command => "a command: `git status; rm -rf /` begins with `git` too",
            ArgumentKind::Url => "an address: `https://docs.rs.evil.example/` contains `docs.rs` too",
            ArgumentKind::Sql => "SQL: `select 1; drop table x` begins with `select` too",
            ArgumentKind::Path => "a path: `/srv/../etc/passwd` begins with `/srv` too",
        };
        let message =
            format!("`{function}` compares the text of {what}; write {}", suggestion(kind, function, literal));
        self.remarks.push(Remark::refusing(RemarkedRules::Allowing, "text_comparison", message));
    }

    /// Notes the bounds of a number.
    fn bound(&mut self, operator: &str, left: &Expr, right: &Expr, negated: bool) {
        let (left, right) = (self.argument(left), self.argument(right));
        let less = matches!(operator, operators::LESS | operators::LESS_EQUALS);
        let greater = matches!(operator, operators::GREATER | operators::GREATER_EQUALS);
        if less || greater {
            let left_above = less != negated;
            if let Some(argument) = left {
                if left_above {
                    self.above.insert(argument)
                } else {
                    self.below.insert(argument)
                };
            }
            if let Some(argument) = right {
                if left_above {
                    self.below.insert(argument)
                } else {
                    self.above.insert(argument)
                };
            }
        } else if matches!(operator, operators::EQUALS | operators::IN) {
            self.below.extend(left);
            self.below.extend(right);
        }
    }

    fn comprehension(&mut self, comprehension: &ComprehensionExpr, negated: bool) {
        let range = &comprehension.iter_range.expr;
        self.look(range, negated);
        let part = Part::of(range, &self.scope).and_then(|part| part.element());
        self.scope.push(Bound { variable: comprehension.iter_var.clone(), part, raw_path: false });
        let argument = self.argument(range);
        let bound = argument.is_some();
        self.elements.extend(argument.map(|argument| (comprehension.iter_var.clone(), argument)));
        for inner in [&comprehension.loop_cond, &comprehension.loop_step, &comprehension.result] {
            self.look(&inner.expr, negated);
        }
        if bound {
            self.elements.pop();
        }
        self.scope.pop();
    }

    /// The name of the argument, or of the field of an argument, that an expression is.
    fn argument(&self, expression: &Expr) -> Option<String> {
        match expression {
            Expr::Ident(name) => {
                self.elements.iter().rev().find(|(variable, _)| variable == name).map(|(_, argument)| argument.clone())
            }
            Expr::Select(select) if self.is_sent(&select.operand.expr) => Some(select.field.clone()),
            Expr::Call(call) if call.func_name == operators::INDEX => {
                let [owner, key] = call.args.as_slice() else { return None };
                match text(&key.expr) {
                    Some(name) if self.is_sent(&owner.expr) => Some(name.to_owned()),
                    Some(_) => None,
                    None => self.argument(&owner.expr),
                }
            }
            Expr::Call(call) if CONVERSIONS.contains(&call.func_name.as_str()) => {
                let inner = call.target.as_deref().or(call.args.first())?;
                self.argument(&inner.expr)
            }
            Expr::Unspecified
            | Expr::Call(_)
            | Expr::Comprehension(_)
            | Expr::List(_)
            | Expr::Literal(_)
            | Expr::Map(_)
            | Expr::Select(_)
            | Expr::Struct(_) => None,
        }
    }

    /// Says whether an expression is the arguments, or a part of them.
    fn is_sent(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::Ident(name) if name == "args") || self.argument(expression).is_some()
    }
}

/// The terms that all have to be true.
fn conjuncts(expression: &Expr) -> Vec<&Expr> {
    if let Expr::Call(call) = expression
        && call.func_name == operators::LOGICAL_AND
    {
        return call.args.iter().flat_map(|term| conjuncts(&term.expr)).collect();
    }
    vec![expression]
}

/// Says whether a term is `shell.plain` or one of its variants.
fn is_plain(term: &Expr) -> bool {
    matches!(term, Expr::Select(select)
        if !select.test
            && matches!(select.field.as_str(), "plain" | "plain_elsewhere" | "plain_beside")
            && matches!(&select.operand.expr, Expr::Ident(name) if name == "shell"))
}

fn text(literal: &Expr) -> Option<&str> {
    if let Expr::Literal(LiteralValue::String(text)) = literal { Some(text.inner()) } else { None }
}
