//! Finds the arguments of a tool that are a command, a path, a URL or SQL.
//!
//! The name of an argument decides, at any depth. Capitals, `_` and `-` do not count: `filePath` is `file_path`.
//!
//! | name | is |
//! | --- | --- |
//! | `command`, `cmd`, `argv` | a shell command; a list is the words of one command, which no shell reads |
//! | `commands`, `script`, `scripts` | a shell command; a list is several commands |
//! | `shell_command`, `bash_command`, … and longer names that end in one of these words (`pre_script`, `postCommand`) | a shell command |
//! | `args`, `argv`, `arguments` beside a command | its further words |
//! | `env`, `environment`, `env_vars`, … beside a command | its variables |
//! | `path`, `file`, `file_path`, `filename`, `directory`, `dir`, `cwd`, … and their plurals | a path |
//! | `source`, `destination`, `src`, `dst`, `from`, `to`, `target`, … and their plurals | a path, if the value is a string |
//! | longer names that end in one of these words, or in `_path`, `_file`, `_dir`, … | a path, if the value is a string |
//! | any other name beside a path, except `content`, `message` and the like | a path, if the value has the form of one: `/x`, `../x`, `~/x`, `C:\x` |
//! | a name that itself has one of these forms, or has a slash and stands beside a path: `edits: {"/x": …}` | a path |
//! | `patch`, `diff`, and any text with `*** Update File:` in it | the paths of the files that the patch changes |
//! | any text with lines of a patch, in a tool whose name says so (`apply_patch`) | the paths of the files that the patch changes |
//! | `url`, `uri`, `endpoint`, `href`, `webhook_url`, … | a URL |
//! | `location` | a URL if it contains `://`, else a path |
//! | `method`, `http_method`, `verb` beside a URL | its method; without one `POST` if there is a body, else `GET` |
//! | `sql`, `statement`, `sql_query`, and names that end in `_sql` | SQL |
//! | `query` | SQL if the tool's name says so (`sql`, `db`, `postgres`, …) or the text parses as SQL |
//!
//! *Beside* means in the same object, in the objects around it, and in their fields `options`, `init`, `request`,
//! `headers` and the like. Any other argument beside a command, a URL or SQL is harmless by the lists of
//! `beside_fact.rs`, or it is an [`UnknownArgument`]: a rule that examines these facts allows the call only if it
//! examines the unknown argument too. Beside a path the lists of `file_tools.rs` hold: a command, a URL or SQL is
//! unknown there, and so is every argument that tools for files do not have: `hook`, `formatter`, `repo`. Two
//! spellings of one argument are refused, because it is not known which one a tool reads. A value of the wrong type
//! under one of these names is refused too.

use serde_json::{Map, Value};

use self::name::{holds_settings, kind_of, plain};

mod beside_fact;
mod beside_path;
mod file_tools;
mod header;
mod name;
mod patch;
mod path_name;
mod unnamed_path;

pub(super) use beside_fact::{CallTraits, UnknownArgument, unknown_arguments};
pub(super) use name::{
    ArgumentKind, CommandList, OVERRIDES, is_body, is_database, is_environment, is_further_words, is_method, is_plural,
    kind_by_name,
};
pub(super) use patch::named_files;
pub(super) use unnamed_path::several;

/// An argument that is parsed.
pub(super) struct Argument<'a> {
    pub(super) kind: ArgumentKind,
    /// Position in the call: `path`, `edits[0].file_path`.
    pub(super) place: String,
    /// The objects that contain the argument, the outermost first.
    around: Vec<&'a Value>,
    pub(super) value: &'a Value,
}

/// Deepest nesting at which arguments are looked for.
const DEEPEST: usize = 8;
/// Largest number of arguments that are parsed.
const MOST: usize = 256;

/// The parts of a call that are parsed.
pub(super) struct CallArguments<'a> {
    pub(super) arguments: Vec<Argument<'a>>,
    /// Names of arguments that are paths themselves, with their positions.
    pub(super) keys: Vec<(String, &'a str)>,
    /// Positions of texts that hold arguments of their own, such as JSON in a string.
    pub(super) packed: Vec<String>,
}

/// Finds every argument that is parsed. `Err` if there are too many, or they are nested too deep.
pub(super) fn find<'a>(tool: &str, arguments: &'a Value) -> Result<CallArguments<'a>, &'static str> {
    let mut search = Search::default();
    search.look_into(arguments, "", 0)?;
    let mut found = CallArguments { arguments: search.found, keys: Vec::new(), packed: Vec::new() };
    unnamed_path::add(arguments, &mut found);
    patch::add(tool, arguments, &mut found);
    if found.arguments.len() + found.keys.len() > MOST {
        return Err("there are too many arguments to examine");
    }
    Ok(found)
}

#[derive(Default)]
struct Search<'a> {
    found: Vec<Argument<'a>>,
    /// The objects that contain the current value, the outermost first.
    around: Vec<&'a Value>,
}

impl<'a> Search<'a> {
    fn look_into(&mut self, value: &'a Value, place: &str, depth: usize) -> Result<(), &'static str> {
        let nested = matches!(value, Value::Object(_))
            || value.as_array().is_some_and(|items| items.iter().any(|item| item.is_object() || item.is_array()));
        if depth > DEEPEST && nested {
            return Err("the arguments are nested too deep to examine");
        }
        match value {
            Value::Object(fields) => {
                self.around.push(value);
                for (name, inner) in fields {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    if let Some(kind) = kind_of(name, inner).filter(|_| !beside_a_command(name, fields)) {
                        if self.found.len() >= MOST {
                            return Err("there are too many arguments to examine");
                        }
                        let around = self.around.clone();
                        self.found.push(Argument { kind, place: place.clone(), around, value: inner });
                    }
                    self.look_into(inner, &place, depth + 1)?;
                }
                self.around.pop();
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate().filter(|(_, item)| item.is_object() || item.is_array()) {
                    self.look_into(item, &format!("{place}[{at}]"), depth + 1)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }
}

/// `argv` is a command by itself; beside another command it holds the words of that command.
fn beside_a_command(name: &str, fields: &Map<String, Value>) -> bool {
    let command =
        |other: &String| matches!(kind_by_name(other), Some(ArgumentKind::Command(_))) && plain(other) != "argv";
    plain(name) == "argv" && fields.iter().any(|(other, value)| !value.is_null() && command(other))
}

impl<'a> Argument<'a> {
    /// An argument at a position, with the objects that contain it.
    pub(super) fn new(kind: ArgumentKind, place: &str, around: &[&'a Value], value: &'a Value) -> Self {
        Self { kind, place: place.to_owned(), around: around.to_vec(), value }
    }

    /// Returns the value beside the argument under any of the wanted names. `Err` if there are several: a tool may read any of them.
    pub(super) fn beside(&self, wanted: &dyn Fn(&str, &Value) -> bool) -> Result<Option<&'a Value>, &'static str> {
        let mut found = Vec::new();
        self.around.iter().for_each(|object| self.gather(object, wanted, &mut found));
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only).filter(|value| !value.is_null())),
            several if several.iter().all(|value| value.is_null()) => Ok(None),
            _ => Err("an argument that belongs to it is given under several names"),
        }
    }

    /// Says whether a value other than null stands beside the argument under such a name.
    pub(super) fn is_accompanied(&self, named: fn(&str) -> bool) -> bool {
        let mut found = Vec::new();
        let wanted = |name: &str, _: &Value| named(name);
        self.around.iter().for_each(|object| self.gather(object, &wanted, &mut found));
        found.iter().any(|value| !value.is_null())
    }

    /// Says whether any of these texts stands in the settings of the call, within a list or a string: how a tool splits those is
    /// not known.
    pub(super) fn holds_text(&self, texts: &[&str]) -> bool {
        let fields = self.around.iter().filter_map(|object| object.as_object()).flatten();
        let held = fields.filter(|(name, _)| holds_settings(&plain(name)));
        held.into_iter().any(|(_, value)| holds_text(value, texts, 0))
    }

    fn gather(&self, object: &'a Value, wanted: &dyn Fn(&str, &Value) -> bool, found: &mut Vec<&'a Value>) {
        for (name, value) in object.as_object().into_iter().flatten() {
            let itself = std::ptr::eq(value, self.value) || self.around.iter().any(|one| std::ptr::eq(*one, value));
            let name = plain(name);
            if itself {
                continue;
            }
            if wanted(&name, value) {
                found.push(value);
            } else if holds_settings(&name) {
                self.gather(value, wanted, found);
                value.as_array().into_iter().flatten().for_each(|item| self.gather(item, wanted, found));
            }
        }
    }
}

fn holds_text(value: &Value, texts: &[&str], depth: usize) -> bool {
    match value {
        Value::String(text) => texts.iter().any(|wanted| plain(text).contains(wanted)),
        Value::Array(items) if depth <= DEEPEST => items.iter().any(|item| holds_text(item, texts, depth + 1)),
        Value::Object(fields) if depth <= DEEPEST => fields.values().any(|inner| holds_text(inner, texts, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}
