//! Examines an expression when it is loaded, before it is ever evaluated.

use std::{collections::BTreeSet, sync::Arc};

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use regex::{Regex, RegexBuilder};

use super::{
    Remark,
    functions::{BINARY, CALLABLE, DIFFERENT, EACH, SAME, SIZE, SOME, WITHIN, matcher, source_name},
    part::{Bound, Part, is_subject},
    traps,
};
use crate::document::listed;

/// Deepest nesting of a parsed expression: its evaluation takes stack for each level.
const DEEPEST: usize = 24;
/// Deepest nesting of loops.
const DEEPEST_LOOPS: usize = 2;

/// Longest pattern of `glob`, in bytes.
const LONGEST_GLOB: usize = 128;

/// Largest size of a compiled pattern of `matches`, in bytes.
const LARGEST_REGEX: usize = 256 << 10;

/// The variables and arguments that an expression reads.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// The variables except `args`.
    pub(super) variables: BTreeSet<&'static str>,
    pub(super) arguments: Arguments,
    /// Nesting depth of its loops.
    pub(super) loops: usize,
}

impl Reads {
    /// Says whether the expression gives the same result for every call.
    pub(super) fn nothing(&self) -> bool {
        self.variables.is_empty() && matches!(self.arguments, Arguments::Unread)
    }
}

/// The arguments that an expression reads.
#[derive(Debug, Default)]
pub(super) enum Arguments {
    #[default]
    Unread,
    Fields(BTreeSet<String>),
    Whole,
}

/// The properties of an expression.
#[derive(Default)]
pub(super) struct Inspection {
    pub(super) reads: Reads,
    /// Compiled patterns of `matches`, by the number of their function.
    pub(super) regexes: Vec<Arc<Regex>>,
    /// Names with which the expression compares `tool`.
    pub(super) tools: Vec<String>,
    remarks: Vec<Remark>,
    /// Names of the facts that the expression examines.
    facts: BTreeSet<String>,
    /// Names of the facts whose size the expression examines.
    measured: BTreeSet<String>,
    /// The expression has the form `!paths.exists(…)`.
    wants_no_path: bool,
    /// Variables of the enclosing loops.
    scope: Vec<Bound>,
    loops: usize,
}

impl Inspection {
    /// Examines an expression, refuses it if it contains an error, and makes its comparisons strict.
    pub(super) fn of(expression: &mut IdedExpr) -> Result<Self, Remark> {
        let mut inspection = Self::default();
        inspection.visit(expression, 0)?;
        Ok(inspection)
    }

    /// Remarks for the author of the expression.
    pub(super) fn remarks(&self) -> Vec<Remark> {
        let mut remarks = self.remarks.clone();
        let looks = |part: &str| self.facts.contains(part);
        let around = [
            "shell.plain",
            "shell.plain_elsewhere",
            "shell.plain_beside",
            "shell.writes",
            "shell.commands[].redirects",
        ];
        if looks("shell.commands") && !around.into_iter().any(looks) {
            let message = "this also allows redirections and other text around the commands, as in `ls > /etc/passwd`; begin with `shell.plain`";
            remarks.push(Remark::of_allowing("commands_without_plain", message));
        }
        let sure = ["shell.plain", "shell.plain_elsewhere", "shell.plain_beside", "shell.writes_known"];
        let sure = sure.into_iter().any(looks);
        if looks("shell.writes") && !sure && !self.measured.contains("shell.writes") {
            let message =
                "`shell.writes` lists the known files only, and many programs write others; add `shell.writes_known`";
            remarks.push(Remark::of_allowing("writes_without_known", message));
        }
        if self.wants_no_path && !self.measured.contains("paths") {
            let message = "`!paths.exists(…)` is true for a call without paths; write `paths.all(…)`, which then fails";
            remarks.push(Remark::of_allowing("true_of_no_paths", message));
        }
        remarks
    }

    fn visit(&mut self, expression: &mut IdedExpr, depth: usize) -> Result<(), Remark> {
        if depth > DEEPEST {
            return Err(Remark::new("expression_too_deep", format!("`when` is nested deeper than {DEEPEST} levels")));
        }
        match &mut expression.expr {
            Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.read(name, None),
            Expr::Select(select) => {
                self.look(&select.operand.expr, &select.field)?;
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

    /// Records that a variable, or one field of it, is read.
    fn read(&mut self, name: &str, field: Option<&str>) -> Result<(), Remark> {
        if name.starts_with('@') || self.binds(name) {
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
        self.reads.variables.insert(known);
        Ok(())
    }

    fn binds(&self, name: &str) -> bool {
        self.scope.iter().any(|bound| bound.variable == name)
    }

    /// Records that a field of a fact is examined, and refuses an unknown field.
    fn look(&mut self, owner: &Expr, field: &str) -> Result<(), Remark> {
        let Some(owner) = Part::of(owner, &self.scope) else { return Ok(()) };
        self.facts.insert(format!("{}.{field}", owner.name));
        owner.check_field(field)
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
        if let (operators::INDEX, [owner, key]) = (call.func_name.as_str(), call.args.as_slice())
            && let Expr::Literal(LiteralValue::String(field)) = &key.expr
        {
            self.look(&owner.expr, field.inner())?;
        }
        self.remark_on(call)?;
        self.measure(call)?;
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
        if name == "args" || VARIABLES.contains(&name.as_str()) || self.binds(name) {
            return Err(Remark::new("hidden_variable", format!("the loop's `{name}` hides a variable of that name")));
        }
        self.loops += 1;
        self.reads.loops = self.reads.loops.max(self.loops);
        if self.loops > DEEPEST_LOOPS {
            let message = format!("`when` has loops nested deeper than {DEEPEST_LOOPS}");
            return Err(Remark::new("expression_too_deep", message));
        }
        let bound = self.range(comprehension)?;
        self.scope.push(bound);
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

    /// Makes a loop fail on a value that is not a list, and `all` on an empty list of subjects of the call. Returns the variable of the loop.
    fn range(&self, comprehension: &mut ComprehensionExpr) -> Result<Bound, Remark> {
        let range = &mut comprehension.iter_range;
        let part = Part::of(&range.expr, &self.scope);
        if matches!(&range.expr, Expr::Ident(name) if name == "args")
            || part.as_ref().is_some_and(|part| !part.is_list())
        {
            return Err(Remark::new("wrong_kind", "a loop needs a list, and this is not one"));
        }
        let bound = Bound {
            variable: comprehension.iter_var.clone(),
            part: part.and_then(|part| part.element()),
            raw_path: traps::is_raw_path(&range.expr, &self.scope),
        };
        let is_all = comprehension.accu_init.expr == Expr::Literal(LiteralValue::Boolean(true.into()));
        let guard = if is_all && is_subject(&range.expr, &self.scope) { SOME } else { EACH };
        let list = IdedExpr { id: range.id, expr: std::mem::replace(&mut range.expr, Expr::Unspecified) };
        range.expr = Expr::Call(CallExpr { func_name: guard.to_owned(), target: None, args: vec![list] });
        Ok(bound)
    }

    fn remark_on(&mut self, call: &CallExpr) -> Result<(), Remark> {
        if call.func_name == "glob" && pattern(call)?.len() > LONGEST_GLOB {
            let message = format!("the pattern of `glob` is longer than {LONGEST_GLOB} bytes");
            return Err(Remark::new("expression_too_long", message));
        }
        self.remarks.extend(traps::of(call, &self.scope));
        self.tools.extend(traps::tools(call, &self.scope));
        if call.func_name == operators::LOGICAL_NOT
            && let [IdedExpr { expr: Expr::Comprehension(inner), .. }] = call.args.as_slice()
            && inner.accu_init.expr == Expr::Literal(LiteralValue::Boolean(false.into()))
        {
            let range = Part::of(&inner.iter_range.expr, &self.scope);
            self.wants_no_path |= range.is_some_and(|range| range.name == "paths");
        }
        Ok(())
    }

    /// Makes `size` fail on a value that is neither a list nor a text.
    fn measure(&mut self, call: &mut CallExpr) -> Result<(), Remark> {
        if call.func_name != "size" {
            return Ok(());
        }
        let Some(sized) = call.target.take().map(|target| *target).or_else(|| call.args.pop()) else { return Ok(()) };
        let part = Part::of(&sized.expr, &self.scope);
        let unsized_part = part.as_ref().is_some_and(|part| !part.is_list() && !part.is_text());
        if matches!(&sized.expr, Expr::Ident(name) if name == "args") || unsized_part {
            return Err(Remark::new("wrong_kind", "`size` needs a list or a text, and this is neither"));
        }
        self.measured.extend(part.map(|part| part.name));
        call.func_name = SIZE.to_owned();
        call.args = vec![sized];
        Ok(())
    }

    /// Replaces `text.matches("pattern")` by a call of a function that has the compiled pattern.
    fn compile(&mut self, call: &mut CallExpr) -> Result<(), Remark> {
        if call.func_name != "matches" {
            return Ok(());
        }
        let pattern = pattern(call)?;
        let compiled = RegexBuilder::new(pattern).size_limit(LARGEST_REGEX).build().map_err(|error| {
            let message = format!("`matches` has no regular expression: {}", error.to_string().replace('\n', " "));
            Remark::new("wrong_regex", message)
        })?;
        if !traps::is_anchored(pattern) {
            let message = "`matches` is true wherever the pattern occurs; write `^(…)$` to mean the whole text";
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

/// The variables except `args`.
const VARIABLES: [&str; 7] = ["tool", "caller", "shell", "path", "paths", "url", "sql"];

fn unknown_function(name: &str, targeted: bool) -> Remark {
    let functions: Vec<&str> = CALLABLE
        .iter()
        .filter(|known| known.1 == targeted && known.0.starts_with(char::is_alphabetic))
        .map(|known| known.0)
        .collect();
    let message = format!("`when` cannot use `{}` in this way; it can use {}", source_name(name), listed(&functions));
    Remark::new("unknown_function", message)
}

fn unusable() -> Remark {
    Remark::new("not_an_expression", "`when` contains a value of a type that rules do not support")
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

/// Makes comparisons of values of different kinds fail instead of being false, except with a literal `null`.
fn make_strict(call: &mut CallExpr) {
    if call.args.iter().any(|arg| arg.expr == Expr::Literal(LiteralValue::Null)) {
        return;
    }
    let strict = match call.func_name.as_str() {
        operators::EQUALS => SAME,
        operators::NOT_EQUALS => DIFFERENT,
        // `"x" in args` asks whether an argument is present, and stays as it is.
        operators::IN if call.args.last().is_none_or(|all| all.expr != Expr::Ident("args".into())) => WITHIN,
        _ => return,
    };
    call.func_name = strict.to_owned();
}

/// The pattern of a call. It must be a literal in the file: an agent must not control its cost.
fn pattern(call: &CallExpr) -> Result<&str, Remark> {
    if let Some(Expr::Literal(LiteralValue::String(pattern))) = call.args.last().map(|arg| &arg.expr) {
        Ok(pattern.inner())
    } else {
        let message = format!("the pattern of `{}` must be written in the file", call.func_name);
        Err(Remark::new("pattern_not_literal", message))
    }
}
