//! The expression of a rule: CEL over the call, its caller and its facts.
//!
//! This is the only module that knows CEL. The size of an expression is bounded when it is read, so that its evaluation cannot exhaust the
//! stack or take long, for any call of an agent.

mod argument_kind;
mod functions;
mod inspection;
mod list_size;
mod part;
mod refusals;
mod traps;
mod values;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cel::{Context, ExecutionError, IdedExpr, Value, common::types::CelBool};
use domain::{Role, Verdict};
use regex::Regex;

use self::inspection::{Arguments, Inspection, Reads};
use self::list_size::ListSize;
use crate::{PolicyInput, case::Case};

/// Longest expression, in bytes.
const LONGEST: usize = 1024;
/// Number of bytes of an expression that count as one step of its cost.
const STEP: usize = 32;
/// Functions that look at every item of a list.
const LOOPS: [&str; 5] = ["all", "exists", "exists_one", "filter", "map"];
/// Number of values that are converted in one step.
const VALUES_IN_STEP: usize = 4;
/// Deepest nesting of brackets: the parser takes about 100 KB of stack for each level.
const DEEPEST_BRACKETS: usize = 16;

/// An expression over a call.
#[derive(Debug)]
pub struct Condition {
    source: String,
    expression: IdedExpr,
    reads: Reads,
    regexes: Vec<Arc<Regex>>,
    tools: Vec<String>,
}

/// An error or a suspicious part of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The rules in which the remark matters.
    about: RemarkedRules,
    /// The rule is refused; otherwise the remark is a warning.
    pub(crate) refuses: bool,
}

/// The rules in which a remark matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RemarkedRules {
    All,
    Allowing,
    /// Rules that ask or deny.
    Holding,
}

impl Remark {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), about: RemarkedRules::All, refuses: false }
    }

    fn of_allowing(code: &'static str, message: impl Into<String>) -> Self {
        Self { about: RemarkedRules::Allowing, ..Self::new(code, message) }
    }

    /// A remark that refuses the rules in which it matters.
    fn refusing(about: RemarkedRules, code: &'static str, message: impl Into<String>) -> Self {
        Self { about, refuses: true, ..Self::new(code, message) }
    }

    /// Says whether the remark matters in a rule with this verdict.
    pub(crate) fn is_about(&self, verdict: Option<Verdict>) -> bool {
        match self.about {
            RemarkedRules::All => true,
            RemarkedRules::Allowing => verdict == Some(Verdict::Allow),
            RemarkedRules::Holding => matches!(verdict, Some(Verdict::Ask | Verdict::Deny)),
        }
    }
}

impl Condition {
    /// Reads an expression: gives it with remarks on suspicious parts, or the reason why it is refused.
    pub(crate) fn new(source: &str) -> Result<(Self, Vec<Remark>), Remark> {
        if source.len() > LONGEST {
            return Err(Remark::new("expression_too_long", format!("`when` is longer than {LONGEST} bytes")));
        }
        if brackets(source) > DEEPEST_BRACKETS {
            let message = format!("`when` has brackets nested deeper than {DEEPEST_BRACKETS}");
            return Err(Remark::new("expression_too_deep", message));
        }
        let mut expression = functions::environment().parser().parse(source).map_err(|errors| {
            let first = errors.errors.first().map_or("unreadable", |error| error.msg.as_str());
            let line = first.lines().next().unwrap_or_default();
            let why = refusals::foreign_operator(source).unwrap_or_else(|| line.to_owned());
            Remark::new("not_an_expression", format!("`when` is not an expression: {why}"))
        })?;
        let mut remarks = refusals::of(&expression);
        let inspection = Inspection::of(&mut expression)?;
        remarks.extend(inspection.remarks());
        let Inspection { reads, regexes, tools, .. } = inspection;
        Ok((Self { source: source.to_owned(), expression, reads, regexes, tools }, remarks))
    }

    /// The expression as written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Tool names with which the expression compares `tool`.
    pub(crate) fn tools(&self) -> &[String] {
        &self.tools
    }

    /// An upper bound of the steps that the evaluation takes on a call of this size.
    pub(crate) fn cost(&self, size: usize) -> usize {
        let most = values::MOST_VALUES.get(self.reads.loops).copied().unwrap_or(0);
        let turns = u32::try_from(self.reads.loops).map_or(usize::MAX, |loops| size.min(most).saturating_pow(loops));
        turns.max(1).saturating_mul(1 + self.source.len() / STEP).saturating_add(2)
    }

    /// An upper bound of the steps that the evaluation takes on a call, by the lengths of the lists that it reads.
    pub(crate) fn cost_of(&self, case: &Case<'_>) -> usize {
        let mut size = ListSize::default();
        let source: String = self.source.split_whitespace().collect();
        if LOOPS.iter().any(|name| source.contains(&format!("].{name}("))) {
            // A list in the expression itself.
            size.longest = source.matches(',').count() + 1;
        }
        for name in &self.reads.variables {
            size.add(case.fact(name), false);
        }
        if !matches!(self.reads.arguments, Arguments::Unread) {
            size.add(case.call.arguments, true);
        }
        self.cost(size.longest).saturating_add(size.values / VALUES_IN_STEP)
    }

    /// Says whether the expression examines a variable; `path` stands for `paths` too.
    pub(crate) fn looks_at(&self, variable: &str) -> bool {
        match variable {
            "path" => self.reads.variables.contains("path") || self.reads.variables.contains("paths"),
            variable => self.reads.variables.contains(variable),
        }
    }

    /// Says whether the expression examines the functions of the SQL.
    pub(crate) fn looks_at_functions(&self) -> bool {
        self.looks_at("sql") && self.source.contains(".functions")
    }

    /// Says whether the expression names an argument.
    pub(crate) fn names(&self, argument: &str) -> bool {
        match &self.reads.arguments {
            Arguments::Unread | Arguments::Whole => false,
            Arguments::Fields(fields) => fields.contains(argument),
        }
    }

    /// Says whether the expression examines any argument.
    pub(crate) const fn reads_arguments(&self) -> bool {
        !matches!(self.reads.arguments, Arguments::Unread)
    }

    /// Says whether the call has an argument that may change the examined facts and that the expression does not examine.
    pub(crate) fn overlooks(&self, case: &Case<'_>) -> bool {
        let looks_at = |variable: &str| self.looks_at(variable);
        let names = |argument: &str| self.names(argument);
        ["shell", "path", "url", "sql"].into_iter().any(looks_at)
            && case.parsed().first_unexamined(looks_at, names).is_some()
    }

    /// Says whether the expression examines the caller.
    pub(crate) fn looks_at_caller(&self) -> bool {
        self.reads.variables.contains("caller")
    }

    /// The result, if it is the same for every call.
    pub(crate) fn constant(&self) -> Option<Result<bool, String>> {
        let arguments = serde_json::Value::Null;
        let call = PolicyInput {
            tool: "",
            arguments: &arguments,
            agent: None,
            user: "",
            role: Role::Agent,
            client: None,
            root: None,
        };
        self.reads.nothing().then(|| self.holds(&Case::new(&call)))
    }

    /// Evaluates the expression on a call. `Err` is the reason why it cannot be evaluated.
    pub(crate) fn holds(&self, case: &Case<'_>) -> Result<bool, String> {
        let mut context = Context::with_env(functions::environment());
        functions::declare_matchers(&mut context, &self.regexes)?;
        values::bind(&mut context, &self.reads, case)?;
        let value = Value::resolve_val(&self.expression, &context).map_err(|error| describe(&error))?;
        let truth = value.downcast_ref::<CelBool>().map(|truth| *truth.inner());
        truth.ok_or_else(|| format!("it gives a {} instead of true or false", value.get_type().name()))
    }
}

/// The deepest nesting of brackets in a text. Brackets within quotes count too, so that the limit is only stricter.
fn brackets(source: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Describes an error without any value of an argument, because the text stands in rulings and logs.
#[expect(clippy::wildcard_enum_match_arm, reason = "the library may add variants to this enum")]
fn describe(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("there is no `{}`", key.chars().take(60).collect::<String>()),
        ExecutionError::NoSuchOverload(overload)
            if overload.argument_types().first().is_some_and(|first| first == "null_type")
                && matches!(functions::source_name(overload.function()), "." | "[]") =>
        {
            "it reads a field that this call does not have".into()
        }
        ExecutionError::NoSuchOverload(overload) if functions::guards_loop(overload.function()) => {
            format!("a loop needs a list, not a {}", overload.argument_types().join(", "))
        }
        ExecutionError::NoSuchOverload(overload) => {
            let types = overload.argument_types().join(", ");
            format!("`{}` cannot be used on ({types})", functions::source_name(overload.function()))
        }
        ExecutionError::FunctionError { function, message } if functions::guards_loop(function) => message.clone(),
        ExecutionError::FunctionError { function, message } => {
            format!("`{}`: {message}", functions::source_name(function))
        }
        ExecutionError::UnexpectedType { .. } => "a value has the wrong type".into(),
        ExecutionError::IndexOutOfBounds(_) => "a list has no such element".into(),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => "it divides by zero".into(),
        ExecutionError::Overflow(..) => "a number is too large".into(),
        _ => "the values do not fit the expression".into(),
    }
}
