//! Which argument of a tool is what.
//!
//! By its name, wherever it stands in the arguments; capitals, `_` and `-` do not count (`filePath` is `file_path`):
//!
//! | name | is |
//! | --- | --- |
//! | `command`, `cmd`, `argv` | a shell command; a list of words is one that no shell sees |
//! | `commands`, `script`, `scripts` | a shell command; a list of texts is several |
//! | `shell_command`, `bash_command`, … and what ends so (`pre_script`, `postCommand`) | a shell command |
//! | `args`, `argv`, `arguments` beside a command | its further words |
//! | `env`, `environment`, `env_vars`, … beside a command | its variables |
//! | `path`, `file`, `file_path`, `filename`, `directory`, `dir`, `cwd`, … and their plurals | a path |
//! | `source`, `destination`, `src`, `dst`, `from`, `to`, `target`, …, their plurals, and what ends so or in `_path`, `_file`, `_dir`, … | a path, where it is a text |
//! | any other beside a path, but for `content`, `message` and alike | a path, where it leads somewhere: `/x`, `../x`, `~/x`, `C:\x` |
//! | a name that leads somewhere itself, or has a slash and stands beside a path: `edits: {"/x": …}` | a path |
//! | `patch`, `diff`, any text with `*** Update File:` in it, and in a tool named so (`apply_patch`) whatever reads like a patch | the paths of the files that it changes |
//! | `url`, `uri`, `endpoint`, `href`, `webhook_url`, … | a URL |
//! | `location` | a URL where it has `://` in it, else a path |
//! | `method`, `http_method`, `verb` beside a URL | its method; else `POST` where there is a body, `GET` where there is none |
//! | `sql`, `statement`, `sql_query`, and what ends in `_sql` | SQL |
//! | `query` | SQL where the tool's name says so (`sql`, `db`, `postgres`, …) or the text is SQL |
//!
//! *Beside* is in the same object, in the objects around it, and in what these call `options`, `init`, `request`, `headers` or alike.
//! What else stands beside a command, a URL or SQL is harmless by the lists in `companion.rs`, or a stranger: no rule that looks at these
//! facts allows the call, unless it looks at the stranger too. Beside a path the lists are those of `neighbour.rs`: a command, a URL or SQL
//! is a stranger there, and so is everything that is not known from tools that work on files: `hook`, `formatter`, `repo`.
//! Nobody here knows which of two spellings a tool reads: two of them are unreadable, and so is the wrong type under one of these names.

use serde_json::{Map, Value};

use self::name::{holds_settings, plain, sort_of};

mod companion;
mod deed;
mod header;
mod name;
mod neighbour;
mod patch;
mod place;
mod stray;

pub(super) use companion::{Known, Stranger, strangers};
pub(super) use name::{
    List, OVERRIDES, Sort, is_body, is_database, is_environment, is_further, is_method, is_plural, sort,
};
pub(super) use stray::several;

/// An argument that is looked into.
pub(super) struct Argument<'a> {
    pub(super) sort: Sort,
    /// Where it stands: `path`, `edits[0].file_path`.
    pub(super) place: String,
    /// The objects that it stands in, the outermost first.
    around: Vec<&'a Value>,
    pub(super) value: &'a Value,
}

/// How deep arguments are looked for, and how many are taken.
const DEEPEST: usize = 8;
const MOST: usize = 256;

/// Everything in a call that is looked into.
pub(super) struct Found<'a> {
    pub(super) arguments: Vec<Argument<'a>>,
    /// Names that are paths themselves, and where they stand.
    pub(super) keys: Vec<(String, &'a str)>,
    /// Where a text stands that holds arguments within.
    pub(super) packed: Vec<String>,
}

/// Finds every argument that is looked into. `Err` where there are too many of them, or they are too deep to be found.
pub(super) fn find<'a>(tool: &str, arguments: &'a Value) -> Result<Found<'a>, &'static str> {
    let mut search = Search::default();
    search.look_into(arguments, "", 0)?;
    let mut found = Found { arguments: search.found, keys: Vec::new(), packed: Vec::new() };
    stray::add(arguments, &mut found);
    patch::add(tool, arguments, &mut found);
    if found.arguments.len() + found.keys.len() > MOST {
        return Err("there are too many arguments to be looked into");
    }
    Ok(found)
}

#[derive(Default)]
struct Search<'a> {
    found: Vec<Argument<'a>>,
    /// The objects on the way to where it looks.
    around: Vec<&'a Value>,
}

impl<'a> Search<'a> {
    fn look_into(&mut self, value: &'a Value, place: &str, depth: usize) -> Result<(), &'static str> {
        let nested = matches!(value, Value::Object(_))
            || value.as_array().is_some_and(|items| items.iter().any(|item| item.is_object() || item.is_array()));
        if depth > DEEPEST && nested {
            return Err("the arguments are too deep to be looked into");
        }
        match value {
            Value::Object(fields) => {
                self.around.push(value);
                for (name, inner) in fields {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    if let Some(sort) = sort_of(name, inner).filter(|_| !beside_a_command(name, fields)) {
                        if self.found.len() >= MOST {
                            return Err("there are too many arguments to be looked into");
                        }
                        let around = self.around.clone();
                        self.found.push(Argument { sort, place: place.clone(), around, value: inner });
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
            _ => {}
        }
        Ok(())
    }
}

/// `argv` is a command by itself, and the words of another one that stands beside it.
fn beside_a_command(name: &str, fields: &Map<String, Value>) -> bool {
    let command = |other: &String| matches!(sort(other), Some(Sort::Command(_))) && plain(other) != "argv";
    plain(name) == "argv" && fields.iter().any(|(other, value)| !value.is_null() && command(other))
}

impl<'a> Argument<'a> {
    /// Gives what stands beside the argument under any of these names. `Err` where several do: a tool may read any of them.
    pub(super) fn beside(&self, wanted: &dyn Fn(&str, &Value) -> bool) -> Result<Option<&'a Value>, &'static str> {
        let mut found = Vec::new();
        self.around.iter().for_each(|object| self.gather(object, wanted, &mut found));
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only).filter(|value| !value.is_null())),
            several if several.iter().all(|value| value.is_null()) => Ok(None),
            _ => Err("what belongs to it is there under several names"),
        }
    }

    /// Says whether anything but null stands beside the argument under such a name.
    pub(super) fn accompanied(&self, named: fn(&str) -> bool) -> bool {
        let mut found = Vec::new();
        let wanted = |name: &str, _: &Value| named(name);
        self.around.iter().for_each(|object| self.gather(object, &wanted, &mut found));
        found.iter().any(|value| !value.is_null())
    }

    /// Says whether any of these texts stands in what holds the settings of the call, where it is a list or a text: nobody here knows how
    /// a tool takes those apart.
    pub(super) fn hides(&self, texts: &[&str]) -> bool {
        let fields = self.around.iter().filter_map(|object| object.as_object()).flatten();
        let held = fields.filter(|(name, _)| holds_settings(&plain(name)));
        held.into_iter().any(|(_, value)| hides(value, texts, 0))
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

fn hides(value: &Value, texts: &[&str], depth: usize) -> bool {
    match value {
        Value::String(text) => texts.iter().any(|wanted| plain(text).contains(wanted)),
        Value::Array(items) if depth <= DEEPEST => items.iter().any(|item| hides(item, texts, depth + 1)),
        Value::Object(fields) if depth <= DEEPEST => fields.values().any(|inner| hides(inner, texts, depth + 1)),
        _ => false,
    }
}
