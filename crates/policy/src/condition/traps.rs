//! Known mistakes in expressions that let calls through.

use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use domain::Role;
use regex_syntax::hir::Look;
use tool_facts::PathFacts;

use super::{
    Remark,
    part::{Bound, Part},
};
use crate::document::listed;

/// Facts that are always in lower case.
const LOWER: [&str; 9] = [
    "shell.commands[].name",
    "path.lower",
    "paths[].lower",
    "url.scheme",
    "url.host",
    "sql.verbs[]",
    "sql.functions[]",
    "sql.statements[].verb",
    "sql.statements[].functions[]",
];
/// Facts that are always in upper case.
const UPPER: [&str; 1] = ["url.method"];

/// The remarks on one call of a function, within these loops.
pub(super) fn of(call: &CallExpr, scope: &[Bound]) -> Vec<Remark> {
    let with_list = call.args.iter().any(|operand| matches!(operand.expr, Expr::List(_)));
    let whole = match call.func_name.as_str() {
        operators::IN => true,
        operators::EQUALS | operators::NOT_EQUALS => !with_list,
        _ => false,
    };
    let never = |(part, text): &(Part, &str)| {
        let shape = if whole { misshapen(part, text) } else { None };
        shape.or_else(|| misspelt(&part.name, text))
    };
    let mut remarks: Vec<Remark> = texts(call, scope).iter().filter_map(never).collect();
    let about = call.target.as_deref().or(call.args.first()).map(|about| &about.expr);
    match call.func_name.as_str() {
        "startsWith" if about.is_some_and(|about| names_path(about, scope)) => {
            let message =
                "`startsWith` on a path also accepts `/tmp/../etc` and `/tmp2`; use `under(path.canonical, dir)`";
            remarks.push(Remark::new("starts_with_on_path", message));
        }
        "endsWith" if call.args.last().and_then(|end| text(&end.expr)).is_some_and(|end| end.starts_with('@')) => {
            let message = "`endsWith` on an address also accepts `eve@evil.example,ann@corp.example`; use `matches(\"^[a-z.]+@…$\")`";
            remarks.push(Remark::of_allowing("ends_with_address", message));
        }
        "under" => {
            let part = about.and_then(|about| Part::of(about, scope)).filter(|part| !part.is_text());
            remarks.extend(part.map(|part| not_a_text(&part, "a path")));
        }
        "glob" | "matches" if about.is_some_and(|about| is_raw_path(about, scope)) => {
            let message = format!("`{}` on a path as it was sent", call.func_name);
            let message =
                format!("{message} also accepts `/srv/../etc`; use `under(path.canonical, dir)`, or `path.canonical`");
            remarks.push(Remark::new("pattern_on_path", message));
        }
        _ => {}
    }
    remarks
}

/// The names with which a comparison compares `tool`.
pub(super) fn tools(call: &CallExpr, scope: &[Bound]) -> Vec<String> {
    if !matches!(call.func_name.as_str(), operators::EQUALS | operators::NOT_EQUALS | operators::IN) {
        return Vec::new();
    }
    let texts = texts(call, scope).into_iter().filter(|(part, _)| part.name == "tool");
    texts.map(|(_, text)| text.to_owned()).collect()
}

/// Says whether a pattern matches only the whole text.
pub(super) fn is_anchored(pattern: &str) -> bool {
    regex_syntax::parse(pattern).is_ok_and(|pattern| {
        let properties = pattern.properties();
        properties.look_set_prefix().contains(Look::Start) && properties.look_set_suffix().contains(Look::End)
    })
}

/// Every literal text that a call compares with a fact, with the fact.
fn texts<'c>(call: &'c CallExpr, scope: &[Bound]) -> Vec<(Part, &'c str)> {
    let operands: Vec<&Expr> =
        call.target.as_deref().into_iter().chain(&call.args).map(|operand| &operand.expr).collect();
    let [left, right] = operands.as_slice() else { return Vec::new() };
    let part = |operand: &Expr| Part::of(operand, scope);
    let compared = match call.func_name.as_str() {
        operators::EQUALS | operators::NOT_EQUALS => {
            part(left).map(|part| (part, *right)).or_else(|| Some((part(right)?, *left)))
        }
        operators::IN => part(left)
            .map(|part| (part, *right))
            .or_else(|| Some((part(right).filter(Part::is_list)?.element()?, *left))),
        "glob" | "startsWith" | "endsWith" | "contains" => part(left).map(|part| (part, *right)),
        _ => None,
    };
    let Some((part, literals)) = compared else { return Vec::new() };
    let literals = if let Expr::List(list) = literals {
        list.elements.iter().map(|element| &element.expr).collect()
    } else {
        vec![literals]
    };
    literals.into_iter().filter_map(|literal| Some((part.clone(), text(literal)?))).collect()
}

fn text(literal: &Expr) -> Option<&str> {
    if let Expr::Literal(LiteralValue::String(text)) = literal { Some(text.inner()) } else { None }
}

/// A remark on a fact that never equals this text.
fn misshapen(part: &Part, text: &str) -> Option<Remark> {
    if !part.is_text() {
        return Some(not_a_text(part, &format!("`{text}`")));
    }
    let last = part.name.rsplit('.').next().unwrap_or_default();
    let of_path = part.name.starts_with("path.") || part.name.starts_with("paths[].");
    let how = match last {
        "extension" if of_path && text.starts_with('.') => format!("has no dot: `{}`", text.trim_start_matches('.')),
        "name" if of_path && text.contains('/') => "is the last part of a path; use `path.canonical`".to_owned(),
        "canonical" if of_path => match PathFacts::parse(text) {
            Ok(facts) if facts.canonical != text => format!("is written `{}`", facts.canonical),
            _ => return None,
        },
        "program" | "name" if part.name.starts_with("shell.commands[].") && text.contains(['/', ' ']) => {
            "is the last part of a program's path, without its arguments; compare `path`, `subcommand` and `args` too"
                .to_owned()
        }
        _ => return None,
    };
    Some(Remark::new("never_true", format!("`{}` is never `{text}`: it {how}", part.name)))
}

/// A remark on a fact that is used as a text and is not one.
fn not_a_text(part: &Part, taken_for: &str) -> Remark {
    Remark::new("never_true", format!("`{}` is not a text, and so never {taken_for}: name one of its parts", part.name))
}

/// A remark on a fact that is never spelled like this text.
fn misspelt(part: &str, text: &str) -> Option<Remark> {
    let case = match part {
        lower if LOWER.contains(&lower) && text != text.to_lowercase() => "in lower case",
        upper if UPPER.contains(&upper) && text != text.to_uppercase() => "in upper case",
        "caller.role" if Role::ALL.iter().all(|role| role.name() != text) => {
            let message = format!("`caller.role` is never `{text}`; there are {}", listed(&Role::ALL.map(Role::name)));
            return Some(Remark::new("never_true", message));
        }
        _ => return None,
    };
    Some(Remark::new("never_true", format!("`{part}` is always {case}, and so never `{text}`")))
}

/// Says whether an expression is a path by its name.
fn names_path(expression: &Expr, scope: &[Bound]) -> bool {
    match expression {
        Expr::Ident(name) => is_raw_path(expression, scope) || pathlike(name),
        Expr::Select(select) => pathlike(&select.field),
        Expr::Call(call) if call.func_name == operators::INDEX => {
            call.args.iter().any(|arg| text(&arg.expr).is_some_and(pathlike) || names_path(&arg.expr, scope))
        }
        Expr::Unspecified
        | Expr::Call(_)
        | Expr::Comprehension(_)
        | Expr::List(_)
        | Expr::Literal(_)
        | Expr::Map(_)
        | Expr::Struct(_) => false,
    }
}

/// Says whether an expression is a path as the agent sent it, by the name of its argument.
pub(super) fn is_raw_path(expression: &Expr, scope: &[Bound]) -> bool {
    if let Expr::Ident(name) = expression {
        scope.iter().any(|bound| bound.variable == *name && bound.raw_path)
    } else {
        sent(expression, scope) && names_path(expression, scope)
    }
}

/// Says whether an expression is an argument, or a part of one.
fn sent(expression: &Expr, scope: &[Bound]) -> bool {
    match expression {
        Expr::Ident(name) => {
            name == "args" || scope.iter().any(|bound| bound.variable == *name && bound.part.is_none())
        }
        Expr::Select(select) => sent(&select.operand.expr, scope),
        Expr::Call(call) if call.func_name == operators::INDEX => {
            call.args.first().is_some_and(|owner| sent(&owner.expr, scope))
        }
        Expr::Unspecified
        | Expr::Call(_)
        | Expr::Comprehension(_)
        | Expr::List(_)
        | Expr::Literal(_)
        | Expr::Map(_)
        | Expr::Struct(_) => false,
    }
}

fn pathlike(name: &str) -> bool {
    let name = name.to_lowercase();
    ["path", "file", "dir", "folder", "destination", "source", "canonical"].iter().any(|word| name.contains(word))
}
