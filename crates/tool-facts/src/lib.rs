//! What an action is about, read by real parsers before any rule looks at it.
//!
//! [`Parsed::of`] finds the arguments that are a shell command, a path, a URL or SQL, and gives facts about each. Everything is
//! lexical: no file, no resolver and no database is asked.
//!
//! What cannot be read is an [`Unparsed`], and so is what can be read but not relied on: see [`Parsed::failed`].

use serde::Serialize;
use serde_json::Value;

use self::argument::{Argument, Known, List, Sort, Stranger};

mod argument;
mod path;
mod shell;
mod sql;
mod text;
mod url;
mod word_list;

pub use path::{PathFacts, under};
pub use shell::{Assignment, Redirect, Shell, Simple};
pub use sql::{Sql, Statement};
pub use url::UrlFacts;

/// The facts about one action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The command that it runs.
    pub shell: Option<Result<Shell, Unparsed>>,
    /// The paths that it names, each with the argument that it came from.
    pub paths: Vec<(String, Result<PathFacts, Unparsed>)>,
    /// The address that it calls.
    pub url: Option<Result<UrlFacts, Unparsed>>,
    /// The SQL that it runs.
    pub sql: Option<Result<Sql, Unparsed>>,
    /// What stands beside these and is not known to be harmless.
    strangers: Vec<Stranger>,
}

/// Why something cannot be relied on. No allowing rule matches an action that has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unparsed {
    /// What it is: `shell`, `path`, `url`, `sql`, or `arguments` where they are too deep or too many.
    pub what: &'static str,
    /// What is wrong with it, for the person who reads the question.
    pub reason: String,
}

impl Unparsed {
    pub fn new(what: &'static str, reason: impl Into<String>) -> Self {
        Self { what, reason: reason.into() }
    }
}

impl Parsed {
    /// Reads the arguments of a tool, by the table in `argument.rs`.
    pub fn of(tool: &str, arguments: &Value) -> Self {
        let mut parsed = Self::default();
        match argument::find(tool, arguments) {
            Ok(found) => {
                found.arguments.iter().for_each(|argument| parsed.take(tool, argument));
                let packed = || Err(Unparsed::new("path", "a text holds arguments that a tool may take out of it"));
                parsed.paths.extend(found.keys.into_iter().map(|(place, key)| (place, PathFacts::parse(key))));
                parsed.paths.extend(found.packed.into_iter().map(|place| (place, packed())));
                let known = Known {
                    sql: parsed.sql.is_some(),
                    database: argument::is_database(tool),
                    paths: !parsed.paths.is_empty(),
                };
                parsed.strangers = argument::strangers(arguments, &found.arguments, &known);
            }
            Err(reason) => parsed.paths.push((String::new(), Err(Unparsed::new("arguments", reason)))),
        }
        // A directory beside a command is where it runs, and which path is a directory is not known.
        let here = |path: &PathFacts| !path.absolute && path.components.is_empty();
        if let Some(Ok(shell)) = &mut parsed.shell
            && !parsed.paths.iter().all(|(_, path)| path.as_ref().is_ok_and(here))
        {
            shell.elsewhere();
        }
        if let Some(Ok(shell)) = &mut parsed.shell
            && parsed.strangers.iter().any(|stranger| stranger.beside == "shell")
        {
            shell.beside_strangers();
        }
        parsed
    }

    /// Gives the first argument that nobody looks at although it may change what is looked at. An allowing rule that looks at a command, an
    /// address or SQL must look at everything beside it that is not known to be harmless, by a variable or by the argument's name.
    pub fn overlooked(
        &self,
        looks_at: impl Fn(&str) -> bool,
        names: impl Fn(&str) -> bool,
    ) -> Option<(&str, &'static str)> {
        let unseen = |stranger: &&Stranger| {
            looks_at(stranger.beside) && !stranger.variable.is_some_and(&looks_at) && !names(&stranger.argument)
        };
        self.strangers.iter().find(unseen).map(|stranger| (stranger.argument.as_str(), stranger.beside))
    }

    /// Whether it names a file or a directory under a name that means nothing else.
    pub fn names_files(&self) -> bool {
        self.paths.iter().any(|(place, _)| {
            let name = place.split(['.', '[']).rfind(|part| !part.ends_with(']')).unwrap_or_default();
            matches!(argument::sort(name), Some(Sort::Path | Sort::File))
        })
    }

    fn take(&mut self, tool: &str, argument: &Argument<'_>) {
        let value = argument.value;
        match argument.sort {
            Sort::Command(list) => only(&mut self.shell, "shell", || command(argument, list)),
            Sort::Url => only(&mut self.url, "url", || address(argument)),
            Sort::Location if value.as_str().is_some_and(|text| text.contains("://")) => {
                only(&mut self.url, "url", || address(argument));
            }
            Sort::Sql => only(&mut self.sql, "sql", || statement(value)),
            Sort::PerhapsSql if argument::is_database(tool) => only(&mut self.sql, "sql", || statement(value)),
            Sort::PerhapsSql => {
                if let Ok(sql) = statement(value) {
                    only(&mut self.sql, "sql", || Ok(sql));
                } else if holds_sql(value) {
                    only(&mut self.sql, "sql", || {
                        Err(Unparsed::new("sql", "there is SQL in something that is no text"))
                    });
                }
            }
            Sort::Path | Sort::File => self.path(argument.sort, &argument.place, value),
            Sort::PerhapsPath | Sort::Location => self.perhaps_path(&argument.place, value),
        }
    }

    fn path(&mut self, sort: Sort, place: &str, value: &Value) {
        let unread = |reason: &str| Err(Unparsed::new("path", reason));
        let path = match value {
            Value::String(path) => read_path(place, path),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let place = format!("{place}[{at}]");
                    match item {
                        Value::Array(_) => self.paths.push((place, unread("the path is a list within a list"))),
                        item => self.path(sort, &place, item),
                    }
                }
                return;
            }
            // Its path is found by its own name.
            Value::Object(_) if sort == Sort::File && names_a_path(value) => return,
            _ => unread("the path is no text"),
        };
        self.paths.push((place.to_owned(), path));
    }

    fn perhaps_path(&mut self, place: &str, value: &Value) {
        match value {
            Value::String(path) => self.paths.push((place.to_owned(), read_path(place, path))),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, item)| self.perhaps_path(&format!("{place}[{at}]"), item));
            }
            _ => {}
        }
    }

    /// Gives the first thing that forbids every allowing rule: what could not be parsed, or what was parsed and is in doubt.
    pub fn failed(&self) -> Option<&Unparsed> {
        let shell = self.shell.iter().find_map(|shell| match shell {
            Ok(shell) => shell.doubt.as_ref(),
            Err(unparsed) => Some(unparsed),
        });
        let path = || self.paths.iter().find_map(|(_, path)| path.as_ref().err());
        let url = || self.url.iter().find_map(|url| url.as_ref().err());
        let sql = || {
            self.sql.iter().find_map(|sql| match sql {
                Ok(sql) => sql.doubt.as_ref(),
                Err(unparsed) => Some(unparsed),
            })
        };
        shell.or_else(path).or_else(url).or_else(sql)
    }
}

/// There is one place for each sort: a second one of it makes both unreadable.
fn only<T>(place: &mut Option<Result<T, Unparsed>>, what: &'static str, new: impl FnOnce() -> Result<T, Unparsed>) {
    *place = Some(match place.take() {
        None => new(),
        Some(_) => Err(Unparsed::new(what, "there is more than one of them in the arguments")),
    });
}

fn command(argument: &Argument<'_>, list: List) -> Result<Shell, Unparsed> {
    let refused = |reason: &str| Unparsed::new("shell", reason);
    let further = argument.beside(&argument::is_further).map_err(refused)?.map_or(Ok(Vec::new()), words)?;
    let shell = match argument.value {
        Value::String(text) if further.is_empty() => Shell::parse(text)?,
        // A program and its words; a text with more than a program in it could be run in two ways.
        Value::String(program) if program.split_whitespace().count() == 1 => {
            Shell::of_words(&std::iter::once(program.as_str()).chain(further).collect::<Vec<_>>())?
        }
        _ if !further.is_empty() => {
            return Err(refused("there are further words beside a command that has words already"));
        }
        value => match list {
            List::Words => Shell::of_words_or_text(&words(value)?)?,
            List::Texts => Shell::of_texts(&words(value)?)?,
            List::Unclear => return Err(refused("the command is no text")),
        },
    };
    let named = |name: &str, _: &Value| argument::is_environment(name);
    let Some(variables) = argument.beside(&named).map_err(refused)? else { return Ok(shell) };
    let variables = variables.as_object().ok_or_else(|| refused("the variables are no object"))?;
    Ok(variables
        .iter()
        .fold(shell, |shell, (name, value)| shell.with_variable(name, value.as_str().unwrap_or_default())))
}

/// A path that stands at this place. One text must not be taken for several paths.
fn read_path(place: &str, path: &str) -> Result<PathFacts, Unparsed> {
    let name = place.rsplit('.').next().unwrap_or_default();
    if argument::several(path, argument::is_plural(name) && !name.ends_with(']')) {
        return Err(Unparsed::new("path", "the text may be taken for several paths"));
    }
    PathFacts::parse(path)
}

fn words(list: &Value) -> Result<Vec<&str>, Unparsed> {
    let refused = || Unparsed::new("shell", "the command is neither a text nor a list of words");
    list.as_array().ok_or_else(refused)?.iter().map(|word| word.as_str().ok_or_else(refused)).collect()
}

fn address(argument: &Argument<'_>) -> Result<UrlFacts, Unparsed> {
    let refused = |reason: &str| Unparsed::new("url", reason);
    let address = match argument.value {
        Value::String(address) => address,
        Value::Array(items) => match items.as_slice() {
            [Value::String(address)] => address,
            _ => return Err(refused("there is not exactly one URL")),
        },
        _ => return Err(refused("the URL is no text")),
    };
    let name = argument.place.rsplit('.').next().unwrap_or_default();
    if argument.value.is_string() && argument::is_plural(name) && address.contains([',', ';', '|']) {
        return Err(refused("the text may be taken for several URLs"));
    }
    if argument.hides(argument::OVERRIDES) {
        return Err(refused("a header may change the method"));
    }
    let method = match argument.beside(&argument::is_method).map_err(refused)? {
        Some(method) => method.as_str().ok_or_else(|| refused("the method is no text"))?,
        None if argument.accompanied(argument::is_body) => "POST",
        None => "GET",
    };
    UrlFacts::parse(address, method)
}

fn statement(value: &Value) -> Result<Sql, Unparsed> {
    match value {
        Value::String(text) => Sql::parse(text),
        _ => Err(Unparsed::new("sql", "the SQL is no text")),
    }
}

/// Says whether an object names a path, as `{path, content}` does.
fn names_a_path(object: &Value) -> bool {
    object.as_object().into_iter().flatten().any(|(name, value)| {
        value.is_string() && matches!(argument::sort(name), Some(Sort::Path | Sort::File | Sort::PerhapsPath))
    })
}

/// Says whether a list or an object holds a text of SQL under no name that would tell.
fn holds_sql(value: &Value) -> bool {
    let reads = |text: &Value| statement(text).is_ok();
    match value {
        Value::Array(items) => items.iter().any(reads),
        Value::Object(fields) => fields.iter().any(|(name, text)| argument::sort(name).is_none() && reads(text)),
        _ => false,
    }
}
