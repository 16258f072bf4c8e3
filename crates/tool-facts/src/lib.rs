//! Facts about a tool call, parsed from its arguments.
//!
//! [`CallFacts::of`] finds the arguments that are a shell command, a path, a URL or SQL, parses them and gives facts about each. If a
//! [`Declaration`] says what the arguments of the tool are, [`CallFacts::of_declared`] reads them in the declared language alone. A policy decides
//! by these facts; this crate decides nothing. All parsing is lexical: no file system, name server or database is asked.
//!
//! An argument that cannot be parsed is an [`Unparsed`]. So is an argument that was parsed but that programs may read in different ways:
//! [`CallFacts::first_failure`] gives the first of both kinds, and no policy rule allows such a call.
//!
//! Start reading at `argument.rs`, which decides the kind of each argument, and `declared.rs`, which follows a declaration; `catalogue.rs` has the
//! declarations of known clients. `shell.rs`, `path.rs`, `url.rs` and `sql.rs` parse one kind each; `line.rs` makes the command line of a call.
//! Names of programs, options, functions and arguments are lists in `data/`, read by `word_list.rs`.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::HashSet;

use command_line::Line;
use serde::Serialize;
use serde_json::Value;

use self::argument::{Argument, ArgumentKind, CallArguments, CallTraits, CommandList, UnknownArgument};

mod argument;
mod catalogue;
mod declaration;
mod declared;
mod line;
mod path;
mod shell;
mod sql;
mod text;
mod url;
mod word_list;

pub use catalogue::Catalogue;
pub use declaration::{
    ArgumentUse, Declaration, SqlDialect, ToolEffect, UnknownName, check_argument_name, parse_shell, shell_names,
};
pub use path::{PathFacts, steering::may_steer, under};
pub use shell::{Assignment, Redirect, Shell, Simple, may_steer_variable};
pub use sql::{Sql, Statement};
pub use url::UrlFacts;

/// The facts about one call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallFacts {
    /// The shell command that the call runs.
    pub shell: Option<Result<Shell, Unparsed>>,
    /// The shell command as a line of runs: in the declared language, or as Bash reads it. If no language is declared, the line has a doubt
    /// unless every shell reads the text alike.
    pub line: Option<Result<Line, Unparsed>>,
    /// The text in which the spans of `line` stand. Words of a command that no shell reads are quoted and joined.
    pub line_text: String,
    /// The paths that the call names.
    pub paths: Vec<CallPath>,
    /// The directory in which the command of the call happens, from a declared argument.
    pub cwd: Option<String>,
    /// The tool is declared.
    pub declared: bool,
    /// The URL that the call requests.
    pub url: Option<Result<UrlFacts, Unparsed>>,
    /// The SQL that the call runs.
    pub sql: Option<Result<Sql, Unparsed>>,
    /// Arguments beside these that are not known to be harmless.
    unknown_arguments: Vec<UnknownArgument>,
    /// The line is in a declared language, so that the doubts of `shell` do not count for patterns.
    judged_by_line: bool,
    /// The first doubt of the line in a declared language.
    line_doubt: Option<Unparsed>,
}

/// A path that a call names.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPath {
    /// The position of its argument: `path`, `edits[0].path`.
    pub place: String,
    /// The path.
    pub path: Result<PathFacts, Unparsed>,
    /// The call reads it, or may read it.
    pub read: bool,
    /// The call writes it, or may write it. The declared directory of a command is neither read nor written.
    pub written: bool,
}

impl CallPath {
    /// A path whose use is not known.
    fn undeclared(place: impl Into<String>, path: Result<PathFacts, Unparsed>) -> Self {
        Self { place: place.into(), path, read: true, written: true }
    }

    fn unparsed(place: &str, reason: Unparsed) -> Self {
        Self::undeclared(place, Err(reason))
    }
}

/// The reason why an argument cannot be relied on. No allowing rule matches a call that has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unparsed {
    /// The kind of the argument: `shell`, `path`, `url`, `sql`, or `arguments` if there are too many or they are nested too deep.
    pub what: &'static str,
    /// The problem, in words for the person who reads the question.
    pub reason: String,
}

impl Unparsed {
    /// Combines the kind of the argument and the problem.
    pub fn new(what: &'static str, reason: impl Into<String>) -> Self {
        Self { what, reason: reason.into() }
    }
}

impl CallFacts {
    /// Parses the arguments of a tool of which nothing is declared. The table in `argument.rs` gives the kind of each argument.
    #[must_use]
    pub fn of(tool: &str, arguments: &Value) -> Self {
        let mut parsed = Self::default();
        match argument::find(tool, arguments) {
            Ok(found) => {
                parsed.add_guessed(tool, &found);
                parsed.set_unknown_arguments(tool, arguments, &found.arguments, &HashSet::new());
            }
            Err(reason) => parsed.paths.push(CallPath::unparsed("", Unparsed::new("arguments", reason))),
        }
        parsed.set_surroundings();
        parsed
    }

    /// Parses the arguments of a tool. A declared argument is read by its declared use and language alone, the others as `of` does.
    #[must_use]
    pub fn of_declared(tool: &str, arguments: &Value, declaration: Option<&Declaration>) -> Self {
        match declaration {
            Some(declaration) => declared::facts(tool, arguments, declaration),
            None => Self::of(tool, arguments),
        }
    }

    /// Adds the facts of arguments that were found by their names.
    fn add_guessed(&mut self, tool: &str, found: &CallArguments<'_>) {
        found.arguments.iter().for_each(|argument| self.add_argument(tool, argument));
        let packed = || Unparsed::new("path", "a text contains further arguments that a tool may extract");
        self.paths.extend(found.keys.iter().map(|(place, key)| CallPath::undeclared(place, PathFacts::parse(key))));
        self.paths.extend(found.packed.iter().map(|place| CallPath::unparsed(place, packed())));
    }

    fn set_unknown_arguments(
        &mut self,
        tool: &str,
        arguments: &Value,
        found: &[Argument<'_>],
        declared: &HashSet<*const Value>,
    ) {
        let known = CallTraits {
            sql: self.sql.is_some(),
            database: argument::is_database(tool),
            paths: !self.paths.is_empty(),
            declared,
        };
        self.unknown_arguments = argument::unknown_arguments(arguments, found, &known);
    }

    /// Adds the declared directories in which the command happens.
    fn set_directories(&mut self, directories: &[(String, Value)]) {
        for (place, directory) in directories {
            let text = directory.as_str().filter(|_| directories.len() == 1);
            let unparsed = || Unparsed::new("path", "the directory is not a single text");
            let path = text.ok_or_else(unparsed).and_then(PathFacts::parse);
            self.cwd = directory.as_str().map(str::to_owned);
            self.paths.push(CallPath { place: place.clone(), path, read: false, written: false });
        }
    }

    /// Marks a command that may run elsewhere, or that has unknown arguments beside it.
    fn set_surroundings(&mut self) {
        let Some(Ok(shell)) = &mut self.shell else { return };
        // A path beside a command may be the directory in which the command runs.
        let here = |path: &PathFacts| !path.absolute && path.components.is_empty();
        if !self.paths.iter().all(|one| one.path.as_ref().is_ok_and(here)) {
            shell.set_elsewhere();
        }
        if self.unknown_arguments.iter().any(|unknown| unknown.beside == "shell") {
            shell.set_beside_unknown();
        }
    }

    fn add_guessed_command(&mut self, argument: &Argument<'_>, list: CommandList) {
        let several = self.shell.is_some();
        set_once(&mut self.shell, "shell", || read_command(argument, list));
        let doubt = match &self.shell {
            Some(Ok(shell)) => shell.doubt.as_ref(),
            Some(Err(unparsed)) => Some(unparsed),
            None => None,
        };
        let line = match doubt {
            Some(doubt) if several || self.shell.as_ref().is_some_and(Result::is_err) => Err(doubt.clone()),
            doubt => line::of_guess(argument, list).map(|(mut line, text)| {
                if let Some(doubt) = doubt {
                    line::add_doubt(&mut line, &text, &doubt.reason);
                }
                self.line_text = text;
                line
            }),
        };
        self.line = Some(line);
    }

    /// Returns the first argument that a rule does not examine although it may change the meaning of a fact that the rule examines.
    ///
    /// An allowing rule that examines a command, a path, a URL or SQL must also examine every argument beside it that is not known to be harmless:
    /// by a variable (`looks_at`) or by the name of the argument (`names`). The result is the name of the argument and the fact beside it.
    pub fn first_unexamined(
        &self,
        looks_at: impl Fn(&str) -> bool,
        names: impl Fn(&str) -> bool,
    ) -> Option<(&str, &'static str)> {
        let unexamined = |unknown: &&UnknownArgument| {
            looks_at(unknown.beside) && !unknown.variable.is_some_and(&looks_at) && !names(&unknown.argument)
        };
        self.unknown_arguments.iter().find(unexamined).map(|unknown| (unknown.argument.as_str(), unknown.beside))
    }

    /// Says whether the call has an argument whose name can only mean a file or a directory.
    #[must_use]
    pub fn names_files(&self) -> bool {
        self.paths.iter().any(|one| {
            let name = one.place.split(['.', '[']).rfind(|part| !part.ends_with(']')).unwrap_or_default();
            matches!(argument::kind_by_name(name), Some(ArgumentKind::Path | ArgumentKind::File))
        })
    }

    fn add_argument(&mut self, tool: &str, argument: &Argument<'_>) {
        let value = argument.value;
        match argument.kind {
            ArgumentKind::Command(list) => self.add_guessed_command(argument, list),
            ArgumentKind::Url => set_once(&mut self.url, "url", || read_url(argument)),
            ArgumentKind::Location if value.as_str().is_some_and(|text| text.contains("://")) => {
                set_once(&mut self.url, "url", || read_url(argument));
            }
            ArgumentKind::Sql => set_once(&mut self.sql, "sql", || read_sql(value)),
            ArgumentKind::PossibleSql if argument::is_database(tool) => {
                set_once(&mut self.sql, "sql", || read_sql(value));
            }
            ArgumentKind::PossibleSql => {
                if let Ok(sql) = read_sql(value) {
                    set_once(&mut self.sql, "sql", || Ok(sql));
                } else if holds_sql(value) {
                    set_once(&mut self.sql, "sql", || {
                        Err(Unparsed::new("sql", "a value that is not a text contains SQL"))
                    });
                }
            }
            ArgumentKind::Path | ArgumentKind::File => self.add_path(argument.kind, &argument.place, value),
            ArgumentKind::PossiblePath | ArgumentKind::Location => self.add_possible_path(&argument.place, value),
        }
    }

    fn add_path(&mut self, kind: ArgumentKind, place: &str, value: &Value) {
        let unread = |reason: &str| Err(Unparsed::new("path", reason));
        let path = match value {
            Value::String(path) => read_path(place, path),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let place = format!("{place}[{at}]");
                    match item {
                        Value::Array(_) => {
                            self.paths.push(CallPath::undeclared(place, unread("the path is in a list within a list")));
                        }
                        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                            self.add_path(kind, &place, item);
                        }
                    }
                }
                return;
            }
            // The path within the object is found by its own name.
            Value::Object(_) if kind == ArgumentKind::File && names_a_path(value) => return,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => unread("the path is not a text"),
        };
        self.paths.push(CallPath::undeclared(place, path));
    }

    fn add_possible_path(&mut self, place: &str, value: &Value) {
        match value {
            Value::String(path) => self.paths.push(CallPath::undeclared(place, read_path(place, path))),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, item)| self.add_possible_path(&format!("{place}[{at}]"), item));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }

    /// Returns the first argument that could not be parsed, or that was parsed and is in doubt. No allowing rule matches a call that has one.
    ///
    /// Of the command of a declared tool, only the doubts of its line count. A condition over `shell` needs more: [`Self::first_shell_doubt`].
    #[must_use]
    pub fn first_failure(&self) -> Option<&Unparsed> {
        let shell = self.shell.iter().find_map(|shell| match shell {
            Ok(_) if self.judged_by_line => self.line_doubt.as_ref(),
            Ok(shell) => shell.doubt.as_ref(),
            Err(unparsed) => Some(unparsed),
        });
        let path = || self.paths.iter().find_map(|one| one.path.as_ref().err());
        let url = || self.url.iter().find_map(|url| url.as_ref().err());
        let sql = || {
            self.sql.iter().find_map(|sql| match sql {
                Ok(sql) => sql.doubt.as_ref(),
                Err(unparsed) => Some(unparsed),
            })
        };
        shell.or_else(path).or_else(url).or_else(sql)
    }

    /// Returns the reason why no condition over `shell` may allow the call, although a pattern may: a word that is known only when the command
    /// runs, a program that may run another, a variable that decides what runs. An allowing rule with a `when` has to ask for it too.
    #[must_use]
    pub fn first_shell_doubt(&self) -> Option<&Unparsed> {
        self.shell.iter().find_map(|shell| match shell {
            Ok(shell) => shell.doubt.as_ref(),
            Err(unparsed) => Some(unparsed),
        })
    }
}

/// Sets a fact. A second argument of the same kind makes both unparsed, because nobody knows which one the tool reads.
fn set_once<T>(place: &mut Option<Result<T, Unparsed>>, what: &'static str, new: impl FnOnce() -> Result<T, Unparsed>) {
    *place = Some(match place.take() {
        None => new(),
        Some(_) => Err(Unparsed::new(what, "there are several of this kind in the arguments")),
    });
}

fn read_command(argument: &Argument<'_>, list: CommandList) -> Result<Shell, Unparsed> {
    let refused = |reason: &str| Unparsed::new("shell", reason);
    let further = argument.beside(&argument::is_further_words).map_err(refused)?.map_or(Ok(Vec::new()), read_words)?;
    let value = argument.value;
    let shell = if let Value::String(text) = value
        && further.is_empty()
    {
        Shell::parse(text)?
    } else if let Value::String(program) = value
        && program.split_whitespace().count() == 1
    {
        // A program and its words. A text of several words could be run as one program or through a shell.
        Shell::of_words(&std::iter::once(program.as_str()).chain(further).collect::<Vec<_>>())?
    } else if !further.is_empty() {
        return Err(refused("an argument adds words to a command that is already a list of words"));
    } else {
        match list {
            CommandList::Words => Shell::of_words_or_text(&read_words(value)?)?,
            CommandList::Texts => Shell::of_texts(&read_words(value)?)?,
            CommandList::Unclear => return Err(refused("the command is not a text")),
        }
    };
    let named = |name: &str, _: &Value| argument::is_environment(name);
    let Some(variables) = argument.beside(&named).map_err(refused)? else { return Ok(shell) };
    let variables = variables.as_object().ok_or_else(|| refused("the variables are not an object"))?;
    Ok(variables
        .iter()
        .fold(shell, |shell, (name, value)| shell.with_variable(name, value.as_str().unwrap_or_default())))
}

/// Parses a path. A text that a tool may split into several paths is refused.
fn read_path(place: &str, path: &str) -> Result<PathFacts, Unparsed> {
    let name = place.rsplit('.').next().unwrap_or_default();
    if argument::several(path, argument::is_plural(name) && !name.ends_with(']')) {
        return Err(Unparsed::new("path", "a tool may read the text as several paths"));
    }
    PathFacts::parse(path)
}

fn read_words(list: &Value) -> Result<Vec<&str>, Unparsed> {
    let refused = || Unparsed::new("shell", "the command is neither a text nor a list of words");
    list.as_array().ok_or_else(refused)?.iter().map(|word| word.as_str().ok_or_else(refused)).collect()
}

fn read_url(argument: &Argument<'_>) -> Result<UrlFacts, Unparsed> {
    let refused = |reason: &str| Unparsed::new("url", reason);
    let address = match argument.value {
        Value::String(address) => address,
        Value::Array(items) => match items.as_slice() {
            [Value::String(address)] => address,
            _ => return Err(refused("there is not exactly one URL")),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err(refused("the URL is not a text"));
        }
    };
    let name = argument.place.rsplit('.').next().unwrap_or_default();
    if argument.value.is_string() && argument::is_plural(name) && address.contains([',', ';', '|']) {
        return Err(refused("a tool may read the text as several URLs"));
    }
    if argument.holds_text(argument::OVERRIDES) {
        return Err(refused("a header may change the method"));
    }
    let method = match argument.beside(&argument::is_method).map_err(refused)? {
        Some(method) => method.as_str().ok_or_else(|| refused("the method is not a text"))?,
        None if argument.is_accompanied(argument::is_body) => "POST",
        None => "GET",
    };
    UrlFacts::parse(address, method)
}

fn read_sql(value: &Value) -> Result<Sql, Unparsed> {
    match value {
        Value::String(text) => Sql::parse(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(Unparsed::new("sql", "the SQL is not a text"))
        }
    }
}

/// Says whether an object has a field that is a path, as `{path, content}` does.
fn names_a_path(object: &Value) -> bool {
    object.as_object().into_iter().flatten().any(|(name, value)| {
        value.is_string()
            && matches!(
                argument::kind_by_name(name),
                Some(ArgumentKind::Path | ArgumentKind::File | ArgumentKind::PossiblePath)
            )
    })
}

/// Says whether a list or an object holds SQL under a name that does not say so.
fn holds_sql(value: &Value) -> bool {
    let reads = |text: &Value| read_sql(text).is_ok();
    match value {
        Value::Array(items) => items.iter().any(reads),
        Value::Object(fields) => {
            fields.iter().any(|(name, text)| argument::kind_by_name(name).is_none() && reads(text))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
