//! Looks an expression over before it is ever evaluated.

use std::{collections::BTreeSet, sync::Arc};

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use regex::{Regex, RegexBuilder};

use super::{
    Remark,
    functions::{BINARY, CALLABLE, DIFFERENT, SAME, WITHIN, matcher, shown},
};
use crate::{case::FACTS, document::listed};

/// How deep an expression may be nested once it is parsed: evaluating it takes stack for each level.
const DEEPEST: usize = 24;
/// How deep loops may be nested.
const DEEPEST_LOOPS: usize = 2;

/// How long a pattern of `glob` may be, in bytes.
const LONGEST_GLOB: usize = 128;

/// What an expression reads of a call.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// The variables besides `args`.
    pub(super) variables: BTreeSet<&'static str>,
    pub(super) arguments: Arguments,
    /// How deep its loops are nested.
    pub(super) loops: usize,
}

impl Reads {
    /// Whether it gives the same for every call.
    pub(super) fn nothing(&self) -> bool {
        self.variables.is_empty() && matches!(self.arguments, Arguments::Unread)
    }
}

/// Which arguments an expression reads.
#[derive(Debug, Default)]
pub(super) enum Arguments {
    #[default]
    Unread,
    Fields(BTreeSet<String>),
    Whole,
}

/// What was found in an expression.
#[derive(Default)]
pub(super) struct Survey {
    pub(super) reads: Reads,
    pub(super) remarks: Vec<Remark>,
    /// The patterns of `matches`, by the number of their function.
    pub(super) regexes: Vec<Arc<Regex>>,
    /// The variables of the loops around.
    scope: Vec<String>,
    loops: usize,
}

impl Survey {
    /// Refuses what cannot mean anything, and makes comparisons strict.
    pub(super) fn of(expression: &mut IdedExpr) -> Result<Self, Remark> {
        let mut survey = Self::default();
        survey.visit(expression, 0)?;
        Ok(survey)
    }

    fn visit(&mut self, expression: &mut IdedExpr, depth: usize) -> Result<(), Remark> {
        if depth > DEEPEST {
            return Err(Remark::new("expression_too_deep", format!("`when` is nested deeper than {DEEPEST} levels")));
        }
        match &mut expression.expr {
            Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.read(name, None),
            Expr::Select(select) => {
                if let Expr::Ident(name) = &select.operand.expr {
                    return self.read(name, Some(&select.field));
                }
                self.visit(&mut select.operand, depth + 1)
            }
            Expr::Call(call) => self.call(call, depth),
            Expr::List(list) => list.elements.iter_mut().try_for_each(|element| self.visit(element, depth + 1)),
            Expr::Map(map) => map.entries.iter_mut().try_for_each(|entry| match &mut entry.expr {
                EntryExpr::MapEntry(entry) => {
                    self.visit(&mut entry.key, depth + 1)?;
                    self.visit(&mut entry.value, depth + 1)
                }
                EntryExpr::StructField(_) => Err(unusable()),
            }),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, depth),
            Expr::Struct(_) | Expr::Unspecified => Err(unusable()),
        }
    }

    /// Notes that a variable, or one field of it, is read.
    fn read(&mut self, name: &str, field: Option<&str>) -> Result<(), Remark> {
        if name.starts_with('@') || self.scope.iter().any(|inner| inner == name) {
            return Ok(());
        }
        if name == "args" {
            self.reads.arguments.note(field);
            return Ok(());
        }
        let Some(known) = VARIABLES.iter().find(|known| **known == name) else {
            let message = format!("`when` has no variable `{name}`; there are `args`, {}", listed(&VARIABLES));
            return Err(Remark::new("unknown_variable", message));
        };
        if let Some(field) = field {
            check_field(known, field)?;
        }
        self.reads.variables.insert(known);
        Ok(())
    }

    fn call(&mut self, call: &mut CallExpr, depth: usize) -> Result<(), Remark> {
        let (name, arity, targeted) = (call.func_name.as_str(), call.args.len(), call.target.is_some());
        let known = (arity == 2 && !targeted && BINARY.contains(&name)) || CALLABLE.contains(&(name, targeted, arity));
        if !known {
            return Err(unknown_function(name, targeted));
        }
        if let Some(field) = literal_argument(call) {
            self.reads.arguments.note(Some(&field));
            make_strict(call);
            return Ok(());
        }
        self.remark_on(call)?;
        make_strict(call);
        self.compile(call)?;
        if let Some(target) = &mut call.target {
            self.visit(target, depth + 1)?;
        }
        call.args.iter_mut().try_for_each(|argument| self.visit(argument, depth + 1))
    }

    fn comprehension(&mut self, comprehension: &mut ComprehensionExpr, depth: usize) -> Result<(), Remark> {
        self.visit(&mut comprehension.iter_range, depth + 1)?;
        let name = &comprehension.iter_var;
        if name == "args" || VARIABLES.contains(&name.as_str()) || self.scope.contains(name) {
            return Err(Remark::new("hidden_variable", format!("the loop's `{name}` hides a variable of that name")));
        }
        self.loops += 1;
        self.reads.loops = self.reads.loops.max(self.loops);
        if self.loops > DEEPEST_LOOPS {
            let message = format!("`when` has loops nested deeper than {DEEPEST_LOOPS}");
            return Err(Remark::new("expression_too_deep", message));
        }
        self.scope.push(name.clone());
        let parts = [
            &mut comprehension.accu_init,
            &mut comprehension.loop_cond,
            &mut comprehension.loop_step,
            &mut comprehension.result,
        ];
        for part in parts {
            self.visit(part, depth + 1)?;
        }
        self.scope.pop();
        self.loops -= 1;
        Ok(())
    }

    /// Traps that have let calls through elsewhere.
    fn remark_on(&mut self, call: &CallExpr) -> Result<(), Remark> {
        let target = call.target.as_ref().map(|target| &target.expr);
        match call.func_name.as_str() {
            "startsWith" if target.is_some_and(names_path) => {
                let message = "`startsWith` on a path also accepts `/tmp/../etc` and `/tmp2`; use `under(path, dir)`";
                self.remarks.push(Remark::new("starts_with_on_path", message));
            }
            "glob" => {
                let pattern = pattern(call)?;
                if pattern.len() > LONGEST_GLOB {
                    let message = format!("the pattern of `glob` is longer than {LONGEST_GLOB} bytes");
                    return Err(Remark::new("expression_too_long", message));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes `text.matches("pattern")` a call of a function that has the pattern compiled already.
    fn compile(&mut self, call: &mut CallExpr) -> Result<(), Remark> {
        if call.func_name != "matches" {
            return Ok(());
        }
        let pattern = pattern(call)?;
        let compiled = RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|error| {
            let message = format!("`matches` has no regular expression: {}", error.to_string().replace('\n', " "));
            Remark::new("wrong_regex", message)
        })?;
        if !(pattern.starts_with('^') && pattern.ends_with('$')) {
            let message = "`matches` is true wherever the pattern occurs; write `^…$` to mean the whole text";
            self.remarks.push(Remark::new("unanchored_regex", message));
        }
        call.func_name = matcher(self.regexes.len());
        call.args = call.target.take().into_iter().map(|target| *target).collect();
        self.regexes.push(Arc::new(compiled));
        Ok(())
    }
}

impl Arguments {
    fn note(&mut self, field: Option<&str>) {
        match (&mut *self, field) {
            (Self::Whole, _) => {}
            (_, None) => *self = Self::Whole,
            (Self::Unread, Some(field)) => *self = Self::Fields(BTreeSet::from([field.to_owned()])),
            (Self::Fields(fields), Some(field)) => {
                fields.insert(field.to_owned());
            }
        }
    }
}

/// The variables besides `args`.
const VARIABLES: [&str; 7] = ["tool", "caller", "shell", "path", "paths", "url", "sql"];

fn check_field(variable: &str, field: &str) -> Result<(), Remark> {
    let caller = ["agent", "user", "role"];
    let known: Vec<&str> = match variable {
        "caller" => caller.to_vec(),
        "tool" | "paths" => Vec::new(),
        other => FACTS.get(other).into_iter().flatten().map(String::as_str).collect(),
    };
    if known.contains(&field) {
        return Ok(());
    }
    let message = match known.is_empty() {
        true => format!("`{variable}` has no fields"),
        false => format!("`{variable}` has no field `{field}`; it has {}", listed(&known)),
    };
    Err(Remark::new("unknown_field", message))
}

fn unknown_function(name: &str, targeted: bool) -> Remark {
    let functions: Vec<&str> = CALLABLE
        .iter()
        .filter(|known| known.1 == targeted && known.0.starts_with(char::is_alphabetic))
        .map(|known| known.0)
        .collect();
    let message = format!("`when` has no such use of `{}`; there are {}", shown(name), listed(&functions));
    Remark::new("unknown_function", message)
}

fn unusable() -> Remark {
    Remark::new("not_an_expression", "`when` makes a value that rules have no use for")
}

/// The argument that `args["x"]` and `"x" in args` read.
fn literal_argument(call: &CallExpr) -> Option<String> {
    let [left, right] = call.args.as_slice() else { return None };
    let (owner, name) = match call.func_name.as_str() {
        operators::INDEX => (left, right),
        operators::IN => (right, left),
        _ => return None,
    };
    match (&owner.expr, &name.expr) {
        (Expr::Ident(owner), Expr::Literal(LiteralValue::String(name))) if owner == "args" => {
            Some(name.inner().to_owned())
        }
        _ => None,
    }
}

/// Comparisons of values of different kinds fail instead of being false. With a literal `null` they are asked for.
fn make_strict(call: &mut CallExpr) {
    if call.args.iter().any(|arg| arg.expr == Expr::Literal(LiteralValue::Null)) {
        return;
    }
    let strict = match call.func_name.as_str() {
        operators::EQUALS => SAME,
        operators::NOT_EQUALS => DIFFERENT,
        operators::IN => WITHIN,
        _ => return,
    };
    call.func_name = strict.to_owned();
}

/// The pattern of a call, which stands in the file: what it costs must not be up to an agent.
fn pattern(call: &CallExpr) -> Result<&str, Remark> {
    match call.args.last().map(|arg| &arg.expr) {
        Some(Expr::Literal(LiteralValue::String(pattern))) => Ok(pattern.inner()),
        _ => {
            let message = format!("the pattern of `{}` must stand in the file", call.func_name);
            Err(Remark::new("pattern_not_literal", message))
        }
    }
}

/// Whether an expression is a path by its name.
fn names_path(expression: &Expr) -> bool {
    let pathlike = |name: &str| {
        let name = name.to_lowercase();
        ["path", "file", "dir", "folder", "destination", "source", "canonical"].iter().any(|word| name.contains(word))
    };
    match expression {
        Expr::Ident(name) => pathlike(name),
        Expr::Select(select) => pathlike(&select.field),
        Expr::Call(call) if call.func_name == operators::INDEX => call.args.iter().any(|arg| match &arg.expr {
            Expr::Literal(LiteralValue::String(name)) => pathlike(name.inner()),
            _ => false,
        }),
        _ => false,
    }
}
