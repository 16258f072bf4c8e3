//! The functions that expressions may call, and their comparisons.

use std::sync::{Arc, LazyLock};

use cel::{
    Context, DeclarationError, Env, ExecutionError, Value,
    common::{
        ast::operators,
        types::{CelBool, CelInt, CelList, CelString, DYN_TYPE, Kind, STRING_TYPE},
        value::{CowVal, Val},
    },
};
use regex::Regex;
use wildmatch::WildMatch;

/// Equality that fails on values of different kinds instead of being false.
pub(super) const SAME: &str = "@same";
/// Inequality that fails on values of different kinds.
pub(super) const DIFFERENT: &str = "@different";
/// Membership that fails on anything but a list, and if no element is of the kind of the value.
pub(super) const WITHIN: &str = "@within";

/// The size of a list or a text, which fails on anything else.
pub(super) const SIZE: &str = "@size";
/// The list of a loop; it fails on anything else, because a loop over an object would go through its keys.
pub(super) const EACH: &str = "@each";
/// Like [`EACH`], but also fails on an empty list.
pub(super) const SOME: &str = "@some";

/// Longest text for `glob`, in bytes: the cost grows with the length of text and pattern.
const LONGEST_GLOBBED: usize = 64 << 10;

/// Functions and methods that expressions may call: the name, whether it is called on a target (`x.f()`), and its number of arguments.
pub(super) const CALLABLE: [(&str, bool, usize); 18] = [
    ("under", false, 2),
    ("host", false, 1),
    ("glob", false, 2),
    ("size", false, 1),
    ("size", true, 0),
    ("contains", true, 1),
    ("startsWith", true, 1),
    ("endsWith", true, 1),
    ("matches", true, 1),
    ("int", false, 1),
    ("uint", false, 1),
    ("double", false, 1),
    ("string", false, 1),
    ("bool", false, 1),
    (operators::NEGATE, false, 1),
    (operators::LOGICAL_NOT, false, 1),
    (operators::NOT_STRICTLY_FALSE, false, 1),
    (operators::CONDITIONAL, false, 3),
];

/// Operators of two operands.
pub(super) const BINARY: [&str; 15] = [
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::LESS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::GREATER_EQUALS,
    operators::ADD,
    operators::SUBSTRACT,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::INDEX,
    operators::IN,
];

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib().with_optional_support(false);
    // This cannot fail: none of these names is in the standard library. If one were, calls of it would fail, and a person would be asked.
    let _ = declare(&mut env);
    Arc::new(env)
});

/// The name of the function that matches the pattern of this number.
pub(super) fn matcher(number: usize) -> String {
    format!("@matches{number}")
}

/// Declares the patterns of one expression.
pub(super) fn declare_matchers(context: &mut Context<'_, '_>, regexes: &[Arc<Regex>]) -> Result<(), String> {
    for (number, regex) in regexes.iter().enumerate() {
        let regex = Arc::clone(regex);
        let matches = move |value: Value| {
            let Value::String(text) = value else {
                return Err(ExecutionError::no_such_overload("matches", vec![value.type_of().to_string()]));
            };
            Ok(Value::Bool(regex.is_match(&text)))
        };
        context.add_function(&matcher(number), matches).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The environment of every expression.
pub(super) fn environment() -> Arc<Env> {
    Arc::clone(&ENVIRONMENT)
}

/// The name of a function as its author wrote it.
pub(super) fn source_name(function: &str) -> &str {
    match function {
        SAME => "==",
        DIFFERENT => "!=",
        WITHIN | operators::IN => "in",
        operators::INDEX => "[]",
        operators::CONDITIONAL => "?:",
        other if other.starts_with("@matches") => "matches",
        other => other.trim_matches(['_', '@']),
    }
}

fn declare(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload("under", "under", vec![STRING_TYPE, STRING_TYPE], |args| {
        let [path, dir] = texts("under", &args)?;
        let under =
            tool_facts::under(path, dir).map_err(|error| ExecutionError::function_error("under", error.reason))?;
        Ok(truth(under))
    })?;
    env.add_overload("host", "host", vec![STRING_TYPE], |args| {
        let [url] = texts("host", &args)?;
        let facts = tool_facts::UrlFacts::parse(url, "GET")
            .map_err(|error| ExecutionError::function_error("host", error.reason))?;
        Ok(CowVal::owned(CelString::from(facts.host)))
    })?;
    env.add_overload("glob", "glob", vec![STRING_TYPE, STRING_TYPE], |args| {
        let [text, pattern] = texts("glob", &args)?;
        if text.len() > LONGEST_GLOBBED {
            return Err(ExecutionError::function_error("glob", "the text is too long"));
        }
        Ok(truth(WildMatch::new(pattern).matches(text)))
    })?;
    env.add_overload(SAME, SAME, vec![DYN_TYPE, DYN_TYPE], |args| same(SAME, &args).map(truth))?;
    env.add_overload(DIFFERENT, DIFFERENT, vec![DYN_TYPE, DYN_TYPE], |args| {
        same(DIFFERENT, &args).map(|same| truth(!same))
    })?;
    env.add_overload(WITHIN, WITHIN, vec![DYN_TYPE, DYN_TYPE], |args| within(&args).map(truth))?;
    env.add_overload(SIZE, SIZE, vec![DYN_TYPE], |args| size(&args).map(|size| CowVal::owned(CelInt::from(size))))?;
    env.add_overload(EACH, EACH, vec![DYN_TYPE], |args| list(EACH, args).map(|(list, _)| list))?;
    env.add_overload(SOME, SOME, vec![DYN_TYPE], |args| match list(SOME, args)? {
        (_, 0) => Err(ExecutionError::function_error(SOME, "`all` has no element to check")),
        (list, _) => Ok(list),
    })
}

/// Says whether a function guards the list of a loop.
pub(super) fn guards_loop(function: &str) -> bool {
    matches!(function, EACH | SOME)
}

/// Returns the only argument, which must be a list, and the length of that list.
fn list<'b, 'v>(function: &str, args: Vec<CowVal<'b, 'v>>) -> Result<(CowVal<'b, 'v>, usize), ExecutionError> {
    let length = args.first().and_then(|arg| arg.downcast_ref::<CelList>()).map(|list| list.inner().len());
    let refusal = mismatch(function, &args);
    args.into_iter().next().zip(length).ok_or(refusal)
}

fn size(args: &[CowVal<'_, '_>]) -> Result<i64, ExecutionError> {
    let [value] = args else { return Err(mismatch(SIZE, args)) };
    let length = match (value.downcast_ref::<CelList>(), value.downcast_ref::<CelString>()) {
        (Some(list), _) => list.inner().len(),
        (_, Some(text)) => text.inner().chars().count(),
        _ => return Err(mismatch(SIZE, args)),
    };
    i64::try_from(length).map_err(|_| mismatch(SIZE, args))
}

fn truth<'b, 'v>(value: bool) -> CowVal<'b, 'v> {
    CowVal::owned(CelBool::from(value))
}

fn texts<'a, const N: usize>(function: &str, args: &'a [CowVal<'_, '_>]) -> Result<[&'a str; N], ExecutionError> {
    let texts: Option<Vec<&str>> =
        args.iter().map(|arg| arg.downcast_ref::<CelString>().map(CelString::inner)).collect();
    texts.and_then(|texts| texts.try_into().ok()).ok_or_else(|| mismatch(function, args))
}

fn same(function: &str, args: &[CowVal<'_, '_>]) -> Result<bool, ExecutionError> {
    match args {
        [left, right] if akin(left.as_ref(), right.as_ref()) => Ok(left.as_ref().equals(right.as_ref())),
        _ => Err(mismatch(function, args)),
    }
}

fn within(args: &[CowVal<'_, '_>]) -> Result<bool, ExecutionError> {
    let [value, all] = args else { return Err(mismatch(WITHIN, args)) };
    let fits = all.downcast_ref::<CelList>().is_some_and(|list| {
        list.inner().is_empty() || list.inner().iter().any(|item| akin(value.as_ref(), item.as_ref()))
    });
    match all.as_container() {
        Some(container) if fits => container.contains(value.as_ref()),
        _ => Err(mismatch(WITHIN, args)),
    }
}

/// Says whether two values are of the same kind. Whole numbers and decimal numbers are one kind.
fn akin(left: &dyn Val, right: &dyn Val) -> bool {
    let kind = |value: &dyn Val| {
        let kind = value.get_type().kind();
        if matches!(kind, Kind::UInt | Kind::Double) { Kind::Int } else { kind }
    };
    kind(left) == kind(right)
}

fn mismatch(function: &str, args: &[CowVal<'_, '_>]) -> ExecutionError {
    let types = args.iter().map(|arg| arg.get_type().name().to_owned()).collect();
    ExecutionError::no_such_overload(function, types)
}
