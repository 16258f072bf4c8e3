//! Facts about a call of a declared tool.
//!
//! Declared arguments are read by their use alone. The others are examined as those of any tool: their kind is guessed by name, and one that is
//! not known to be harmless is an unknown argument.

use command_line::{Line, ShellLanguage};
use serde_json::Value;

use crate::argument::{self, Argument, ArgumentKind, CallArguments, CommandList};
use crate::declaration::{ArgumentUse, Declaration};
use crate::shell::Shell;
use crate::{CallFacts, CallPath, PathFacts, Sql, Unparsed, line, read_sql, read_url, set_once};

/// Largest number of values of declared arguments.
const MOST: usize = 1_000;

/// A value of a declared argument.
struct DeclaredValue<'a> {
    kind: ArgumentUse,
    argument: Argument<'a>,
}

/// Finds the facts about a call.
pub(super) fn facts(tool: &str, arguments: &Value, declaration: &Declaration) -> CallFacts {
    let mut facts = CallFacts { declared: true, ..CallFacts::default() };
    let mut rest = arguments.clone();
    let directories = take(&mut rest, declaration, ArgumentUse::Cwd);
    // What stands there is data, whatever it looks like.
    take(&mut rest, declaration, ArgumentUse::Text);
    let mut declared = Vec::new();
    for (name, kind) in &declaration.arguments {
        let mut search = ArgumentSearch { kind: *kind, around: Vec::new(), found: &mut declared };
        search.look(&rest, &steps(name), "");
    }
    let guessed = argument::find(tool, &rest).and_then(|guessed| {
        let few = declared.len() <= MOST;
        few.then_some(guessed).ok_or("there are too many arguments to examine")
    });
    match guessed {
        Ok(guessed) => DeclaredReader { tool, declaration, facts: &mut facts }.read(&rest, declared, guessed),
        Err(reason) => facts.paths.push(CallPath::unparsed("", Unparsed::new("arguments", reason))),
    }
    facts.set_directories(&directories);
    facts.set_surroundings();
    facts
}

struct DeclaredReader<'r> {
    tool: &'r str,
    declaration: &'r Declaration,
    facts: &'r mut CallFacts,
}

impl DeclaredReader<'_> {
    fn read<'a>(&mut self, rest: &'a Value, declared: Vec<DeclaredValue<'a>>, mut guessed: CallArguments<'a>) {
        let within = |place: &str| declared.iter().any(|one| is_within(place, &one.argument.place));
        guessed.arguments.retain(|one| !within(&one.place));
        guessed.keys.retain(|(place, _)| !within(place));
        guessed.packed.retain(|place| !within(place));
        self.facts.add_guessed(self.tool, &guessed);
        self.read_commands(&declared);
        for one in &declared {
            self.read_one(one);
        }
        let addresses = declared.iter().map(|one| std::ptr::from_ref(one.argument.value)).collect();
        let mut found = guessed.arguments;
        found.extend(declared.into_iter().filter(|one| !is_taken(one.kind)).map(|one| one.argument));
        self.facts.set_unknown_arguments(self.tool, rest, &found, &addresses);
    }

    /// Reads all declared commands. Several of them are one line.
    fn read_commands(&mut self, declared: &[DeclaredValue<'_>]) {
        let commands: Vec<_> = declared.iter().filter(|one| one.kind.is_command()).collect();
        if commands.is_empty() {
            return;
        }
        let Some(language) = self.declaration.shell else {
            // Without a language, the command has to be one that every shell reads alike.
            for one in commands {
                self.facts.add_guessed_command(&one.argument, list_meaning(one.kind));
            }
            return;
        };
        if self.facts.shell.is_some() {
            let several = || Unparsed::new("shell", "there are several of this kind in the arguments");
            self.facts.shell = Some(Err(several()));
            self.facts.line = Some(Err(several()));
            return;
        }
        let mut text = String::new();
        let line = commands.iter().try_fold(Line::default(), |line, one| {
            let (more, of_more) = read_line(one, language)?;
            Ok(line::join(line, more, &mut text, &of_more))
        });
        self.facts.shell = Some(line.as_ref().map(|line| Shell::from_line(line, &text)).map_err(Unparsed::clone));
        let doubt = line.as_ref().ok().and_then(|line| line.doubts.first());
        self.facts.line_doubt = doubt.map(|doubt| Unparsed::new("shell", doubt.reason.clone()));
        self.facts.judged_by_line = true;
        self.facts.line = Some(line);
        self.facts.line_text = text;
    }

    fn read_one(&mut self, one: &DeclaredValue<'_>) {
        let Argument { place, value, .. } = &one.argument;
        match one.kind {
            ArgumentUse::Path | ArgumentUse::ReadPath | ArgumentUse::WritePath => {
                self.read_paths(one.kind, place, value);
            }
            ArgumentUse::Patch => self.read_patch(place, value),
            ArgumentUse::Url => set_once(&mut self.facts.url, "url", || read_url(&one.argument)),
            ArgumentUse::Sql => {
                let dialect = self.declaration.sql;
                set_once(&mut self.facts.sql, "sql", || match (dialect, value) {
                    (Some(dialect), Value::String(text)) => Sql::parse_as(dialect, text),
                    (_, value) => read_sql(value),
                });
            }
            ArgumentUse::Shell | ArgumentUse::Words | ArgumentUse::Text | ArgumentUse::Cwd => {}
        }
    }

    fn read_patch(&mut self, place: &str, value: &Value) {
        let unparsed = |reason: &str| CallPath::unparsed(place, Unparsed::new("path", reason));
        match value.as_str().map_or(Err("the patch is not a text"), argument::named_files) {
            Ok(files) => self.facts.paths.extend(files.into_iter().map(|file| CallPath {
                place: place.to_owned(),
                path: PathFacts::parse(file),
                read: false,
                written: true,
            })),
            Err(reason) => self.facts.paths.push(unparsed(reason)),
        }
    }

    fn read_paths(&mut self, kind: ArgumentUse, place: &str, value: &Value) {
        let path = match value {
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.read_paths(kind, &format!("{place}[{at}]"), item);
                }
                return;
            }
            Value::String(path) => PathFacts::parse(path),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                Err(Unparsed::new("path", "the path is not a text"))
            }
        };
        let (read, written) = (kind != ArgumentUse::WritePath, kind != ArgumentUse::ReadPath);
        self.facts.paths.push(CallPath { place: place.to_owned(), path, read, written });
    }
}

/// Reads a declared command with the words and variables beside it. Gives the line and the text in which its spans stand.
fn read_line(declared: &DeclaredValue<'_>, language: ShellLanguage) -> Result<(Line, String), Unparsed> {
    let argument = &declared.argument;
    let refused = |reason: &str| Unparsed::new("shell", reason);
    let further = argument.beside(&argument::is_further_words).map_err(refused)?;
    if further.is_some_and(|words| words.as_array().is_none_or(|words| !words.is_empty())) {
        return Err(refused("an argument beside the command may add words to it"));
    }
    let (mut line, text) = match argument.value {
        Value::String(text) => (line::of_text(language, text)?, text.clone()),
        Value::Array(_) if declared.kind == ArgumentUse::Words => line::of_words(&crate::read_words(argument.value)?)?,
        Value::Array(_) => return Err(refused("the command is a list, but the tool takes a text")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err(refused("the command is neither a text nor a list of words"));
        }
    };
    line::add_variables(&mut line, argument)?;
    Ok((line, text))
}

/// A part of the name of a declared argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathStep<'n> {
    /// A field of an object.
    Field(&'n str),
    /// Every item of a list.
    Items,
}

/// The parts of a name: `edits[].path` is a field, its items, and a field of each.
fn steps(name: &str) -> Vec<PathStep<'_>> {
    let mut steps = Vec::new();
    for part in name.split('.') {
        let field = part.trim_end_matches("[]");
        steps.push(PathStep::Field(field));
        steps.extend(std::iter::repeat_n(PathStep::Items, (part.len() - field.len()) / 2));
    }
    steps
}

/// Removes the values of all arguments of one use, and returns them with their positions.
fn take(arguments: &mut Value, declaration: &Declaration, wanted: ArgumentUse) -> Vec<(String, Value)> {
    let mut taken = Vec::new();
    for (name, _) in declaration.arguments.iter().filter(|(_, kind)| **kind == wanted) {
        take_one(arguments, &steps(name), "", &mut taken);
    }
    taken
}

fn take_one(value: &mut Value, steps: &[PathStep<'_>], place: &str, taken: &mut Vec<(String, Value)>) {
    match (steps.split_first(), value) {
        (None, Value::Null) => {}
        (None, value) => taken.push((place.to_owned(), value.take())),
        (Some((PathStep::Field(name), rest)), Value::Object(fields)) => {
            if let Some(inner) = fields.get_mut(*name) {
                take_one(inner, rest, &beneath(place, name), taken);
            }
        }
        (Some((PathStep::Items, rest)), Value::Array(items)) => {
            for (at, item) in items.iter_mut().enumerate() {
                take_one(item, rest, &format!("{place}[{at}]"), taken);
            }
        }
        (Some(_), _) => {}
    }
}

/// Finds the values of one declared argument.
struct ArgumentSearch<'s, 'a> {
    kind: ArgumentUse,
    around: Vec<&'a Value>,
    found: &'s mut Vec<DeclaredValue<'a>>,
}

impl<'a> ArgumentSearch<'_, 'a> {
    fn look(&mut self, value: &'a Value, steps: &[PathStep<'_>], place: &str) {
        let Some((step, rest)) = steps.split_first() else {
            if !value.is_null() || is_taken(self.kind) {
                let kind = guessed_kind(self.kind);
                let argument = Argument::new(kind, place, &self.around, value);
                self.found.push(DeclaredValue { kind: self.kind, argument });
            }
            return;
        };
        match (step, value) {
            (PathStep::Field(name), Value::Object(fields)) => {
                if let Some(inner) = fields.get(*name) {
                    self.around.push(value);
                    self.look(inner, rest, &beneath(place, name));
                    self.around.pop();
                }
            }
            (PathStep::Items, Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    self.look(item, rest, &format!("{place}[{at}]"));
                }
            }
            _ => {}
        }
    }
}

/// Says whether the values of a use are removed before the arguments are examined.
fn is_taken(kind: ArgumentUse) -> bool {
    matches!(kind, ArgumentUse::Text | ArgumentUse::Cwd)
}

/// What a list of texts means in a declared command.
fn list_meaning(kind: ArgumentUse) -> CommandList {
    if kind == ArgumentUse::Words { CommandList::Words } else { CommandList::Unclear }
}

/// The kind under which a declared argument stands beside others.
fn guessed_kind(kind: ArgumentUse) -> ArgumentKind {
    match kind {
        ArgumentUse::Shell | ArgumentUse::Words => ArgumentKind::Command(list_meaning(kind)),
        ArgumentUse::Url => ArgumentKind::Url,
        ArgumentUse::Sql => ArgumentKind::Sql,
        ArgumentUse::Path
        | ArgumentUse::ReadPath
        | ArgumentUse::WritePath
        | ArgumentUse::Patch
        | ArgumentUse::Text
        | ArgumentUse::Cwd => ArgumentKind::Path,
    }
}

fn beneath(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// Says whether a position is that of a declared argument, or lies in it.
fn is_within(place: &str, declared: &str) -> bool {
    place.strip_prefix(declared).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_split_into_its_steps() {
        assert_eq!(steps("command"), [PathStep::Field("command")]);
        assert_eq!(steps("edits[].path"), [PathStep::Field("edits"), PathStep::Items, PathStep::Field("path")]);
        assert_eq!(steps("a.b[][]"), [PathStep::Field("a"), PathStep::Field("b"), PathStep::Items, PathStep::Items]);
    }

    #[test]
    fn place_lies_within_a_declared_argument() {
        assert!(is_within("a", "a") && is_within("a.b", "a") && is_within("a[0].b", "a[0]"));
        assert!(!is_within("ab", "a") && !is_within("a", "a.b") && !is_within("b", "a"));
    }
}
