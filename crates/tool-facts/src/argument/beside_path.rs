//! Finds unknown arguments beside a path: a rule that examines only the paths of a call does not see its other effects.
//!
//! Lists of names that run something (`hook`, `formatter`, `after_write`) were never complete. So an argument beside a path is harmless only if
//! it is on the lists of `file_tools.rs`, or is harmless beside the command, the URL or the SQL of the same call.

use serde_json::Value;

use super::beside_fact::{BesideFact, DeclaredValues, ParsedValues, UnknownArgument, leads_to};
use super::name::{kind_by_name, plain};
use super::{ArgumentKind, beside_fact, file_tools, path_name};

/// Values of `command` in the tools of editors: operations on a file, not programs.
const EDITOR_COMMANDS: &[&str] = &["view", "create", "str_replace", "insert", "undo_edit"];

/// Adds the commands, URLs and SQL of a call with paths as unknown arguments, and every other argument that is not known to be harmless.
pub(super) fn add(
    arguments: &Value,
    sorted: &ParsedValues,
    declared: &DeclaredValues,
    unknown_arguments: &mut Vec<UnknownArgument>,
) {
    let company = ["shell", "url", "sql"].into_iter().filter(|other| sorted.values().any(|found| found == other));
    let company = company.map(|beside| BesideFact { beside, sorted, declared }).collect();
    let deeds = BesidePath { sorted, declared, company };
    for (name, value) in arguments.as_object().into_iter().flatten() {
        let mut variables = Vec::new();
        deeds.look_at_part(name, value, &mut variables);
        let unknown = |variable| UnknownArgument { beside: "path", argument: name.clone(), variable };
        unknown_arguments.extend(variables.into_iter().map(unknown));
    }
}

struct BesidePath<'a> {
    sorted: &'a ParsedValues,
    declared: &'a DeclaredValues,
    /// The other facts of the call.
    company: Vec<BesideFact<'a>>,
}

impl BesidePath<'_> {
    /// Adds the parts of an argument that are not known to be harmless, with the variable by which a rule can examine each.
    fn look(&self, name: &str, value: &Value, variables: &mut Vec<Option<&'static str>>) {
        let short = plain(name);
        // `hook_path` and `pipe_to` end like the name of a path, but also say that the file is run.
        let path = is_path(name) && path_name::only_says_where(name);
        let opened =
            path || file_tools::holds_arguments(name) || leads_to(value, &|inner| self.declared.contains(&inner));
        match self.sorted.get(&std::ptr::from_ref(value)).copied() {
            // What a tool does with a declared path is known.
            Some("path") if self.declared.contains(&std::ptr::from_ref(value)) => return,
            // A rule sees a path under an unknown name, but not what the tool does with it.
            Some("path") | None => {}
            // In the tools of editors `command` is an operation, and not a program.
            Some("shell") if short == "command" && is_of_editor(value) => return,
            Some(variable) => return variables.push(Some(variable)),
        }
        let harmless = beside_fact::is_harmless_anywhere(&short, value) || file_tools::is_harmless(name, value);
        if is_empty(value) || harmless {
            return;
        }
        // Words and variables belong to a command, method and body to a URL, and parameter values to SQL.
        if let Some(variable) = self.told_by(&short, value) {
            return variables.push(Some(variable));
        }
        match value {
            Value::String(_) if path => {}
            Value::Object(fields) if opened => {
                fields.iter().for_each(|(name, inner)| self.look_at_part(name, inner, variables));
            }
            Value::Array(items) if opened => {
                for item in items {
                    self.look(name, item, variables);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                variables.push(None);
            }
        }
    }

    /// Like `look`, for an argument whose name may be a path: its value is then written to that path.
    fn look_at_part(&self, name: &str, value: &Value, variables: &mut Vec<Option<&'static str>>) {
        if !name.contains(['/', '\\']) {
            return self.look(name, value, variables);
        }
        match value {
            Value::String(_) => {}
            Value::Object(fields) => {
                fields.iter().for_each(|(name, inner)| self.look_at_part(name, inner, variables));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => self.look(name, value, variables),
        }
    }

    /// The variable of the fact to which an argument belongs, if it belongs to a command, a URL or SQL.
    fn told_by(&self, short: &str, value: &Value) -> Option<&'static str> {
        let told = |company: &&BesideFact<'_>| company.belongs(short, value) || company.harmless(short, value);
        self.company.iter().find(told).map(|company| company.beside)
    }
}

/// Says whether a name is that of a path.
fn is_path(name: &str) -> bool {
    matches!(
        kind_by_name(name),
        Some(ArgumentKind::Path | ArgumentKind::File | ArgumentKind::PossiblePath | ArgumentKind::Location)
    )
}

fn is_of_editor(value: &Value) -> bool {
    value.as_str().is_some_and(|command| EDITOR_COMMANDS.contains(&command))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
