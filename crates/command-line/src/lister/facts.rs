//! What a text does with variables, functions and the directory anywhere in it.

use std::collections::{HashMap, HashSet};

use super::arithmetic;
use crate::syntax::tree::{Atom, CommandNode, Kind, List, RawAssignment, RawTarget, RawValue, RawWord, Simple};

/// Built-in commands that can set variables that the text does not name.
const OPAQUE: &[&str] = &[
    ".",
    "alias",
    "autoload",
    "coproc",
    "emulate",
    "enable",
    "eval",
    "float",
    "getopts",
    "integer",
    "let",
    "mapfile",
    "private",
    "readarray",
    "setopt",
    "shopt",
    "source",
    "trap",
    "unalias",
    "unset",
    "unsetopt",
    "vared",
    "zmodload",
];

/// What a text does with variables, functions and the directory.
#[derive(Default)]
pub(crate) struct Facts {
    sites: HashMap<String, Site>,
    /// Functions that are defined anywhere.
    pub(crate) functions: HashSet<String>,
    /// Variables may be set that the text does not name.
    pub(crate) opaque: bool,
    /// The directory may change after it.
    pub(crate) moves: bool,
    /// The directory may change within it.
    pub(crate) moves_within: bool,
    /// A function may change the directory.
    pub(crate) function_moves: bool,
    /// `set` may change the options of the shell.
    pub(crate) has_options: bool,
    in_function: bool,
}

/// The places where one variable is set.
#[derive(Default)]
struct Site {
    count: usize,
    not_numeric: bool,
    in_function: bool,
    /// An expression evaluates the variable before it is certain that it is a number.
    evaluated_before: bool,
}

impl Facts {
    /// Collects the facts about a list.
    pub(crate) fn of(list: &List) -> Self {
        let mut facts = Self::default();
        facts.list(list);
        facts
    }

    /// Says whether a variable has the same value after it has been set at the one place that sets it.
    pub(crate) fn is_set_once(&self, name: &str) -> bool {
        !self.opaque && self.sites.get(name).is_some_and(|site| site.count == 1 && !site.in_function)
    }

    /// Says whether nothing here sets a variable.
    pub(crate) fn is_never_set(&self, name: &str) -> bool {
        !self.opaque && self.sites.get(name).is_none_or(|site| site.count == 0)
    }

    /// Says whether no function sets a variable.
    pub(crate) fn is_safe_in_loop(&self, name: &str) -> bool {
        !self.opaque && self.sites.get(name).is_none_or(|site| !site.in_function)
    }

    /// Says whether the text sets a variable, and only to numbers.
    pub(crate) fn is_numeric(&self, name: &str) -> bool {
        !self.opaque
            && self.sites.get(name).is_some_and(|site| site.count > 0 && !site.not_numeric && !site.evaluated_before)
    }

    fn list(&mut self, list: &List) {
        for item in &list.items {
            let moves = self.moves;
            for pipeline in item.links.iter().map(|link| &link.pipeline) {
                let moves = self.moves;
                for command in &pipeline.commands {
                    // The last command of a pipeline runs in the shell itself in zsh.
                    self.moves = moves;
                    self.command(command);
                }
            }
            if item.background {
                self.moves = moves;
            }
        }
    }

    /// Collects the facts about a list that another shell runs.
    fn apart(&mut self, list: &List) {
        let moves = self.moves;
        self.list(list);
        self.moves = moves;
    }

    fn move_directory(&mut self) {
        self.moves = true;
        self.moves_within = true;
        self.function_moves |= self.in_function;
    }

    fn command(&mut self, command: &CommandNode) {
        for redirect in &command.redirects {
            match &redirect.target {
                RawTarget::Word(word) | RawTarget::HereString(word) => self.word(word),
                RawTarget::Document(body) => body.get().into_iter().for_each(|word| self.word(word)),
            }
        }
        match &command.kind {
            Kind::Simple(simple) => self.simple(simple),
            Kind::Group(list) => self.list(list),
            Kind::Subshell(list) => self.apart(list),
            Kind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list(condition);
                    self.list(body);
                }
                otherwise.iter().for_each(|list| self.list(list));
            }
            Kind::While { condition, body } => {
                self.list(condition);
                self.list(body);
            }
            Kind::For(iteration) => {
                let words = iteration.words.as_deref();
                let numeric = words.is_some_and(|words| words.iter().all(is_numeric_range)) && !iteration.menu;
                self.set(&iteration.name, 1, numeric);
                if iteration.menu {
                    self.set("REPLY", 2, false);
                }
                words.into_iter().flatten().for_each(|word| self.word(word));
                self.list(&iteration.body);
            }
            Kind::Count { expression, body } => {
                self.expression(expression);
                self.list(body);
            }
            Kind::Case { subject, arms } => {
                self.word(subject);
                for arm in arms {
                    arm.patterns.iter().for_each(|pattern| self.word(pattern));
                    self.list(&arm.body);
                }
            }
            Kind::Function { name, body } => {
                self.functions.insert(name.clone());
                let outer = std::mem::replace(&mut self.in_function, true);
                self.command(body);
                self.in_function = outer;
            }
            Kind::Test(words) => words.iter().for_each(|word| self.word(word)),
            Kind::Arithmetic(expression) => self.expression(expression),
        }
    }

    fn set(&mut self, name: &str, count: usize, numeric: bool) {
        let site = self.sites.entry(name.to_owned()).or_default();
        site.count += count;
        site.not_numeric |= !numeric;
        site.in_function |= self.in_function;
    }

    fn word(&mut self, word: &RawWord) {
        for atom in &word.atoms {
            match atom {
                Atom::Substitution(substitution) => self.apart(&substitution.list),
                Atom::Expression(expression) => self.expression(expression),
                Atom::Operation(operation) => {
                    operation.words.iter().for_each(|word| self.word(word));
                    operation.expressions.iter().for_each(|expression| self.expression(expression));
                    if operation.sets {
                        self.set(&operation.name, 2, false);
                    }
                }
                Atom::Bare(_) | Atom::Quoted(_) | Atom::Variable { .. } | Atom::Number | Atom::Unknown { .. } => {}
            }
        }
    }

    fn expression(&mut self, expression: &RawWord) {
        self.word(expression);
        for mention in arithmetic::mentions(expression) {
            if mention.is_given {
                self.set(&mention.name, 2, true);
            } else if !self.sites.contains_key(&mention.name) {
                self.sites.entry(mention.name).or_default().evaluated_before = true;
            }
        }
        for name in arithmetic::assigned(expression) {
            self.set(&name, 2, true);
        }
    }

    fn assignment(&mut self, assignment: &RawAssignment) {
        assignment.subscript.iter().for_each(|subscript| self.expression(subscript));
        let plain = assignment.subscript.is_none() && !assignment.append;
        match &assignment.value {
            RawValue::Word(word) => {
                self.word(word);
                self.set(&assignment.name, if plain { 1 } else { 2 }, is_numeric(word));
            }
            RawValue::Array(words) => {
                words.iter().for_each(|word| self.word(word));
                self.set(&assignment.name, 2, words.iter().all(is_numeric));
            }
        }
    }

    fn simple(&mut self, simple: &Simple) {
        simple.words.iter().for_each(|word| self.word(word));
        let mut words = simple.words.as_slice();
        while let [first, rest @ ..] = words
            && matches!(first.literal().as_deref(), Some("command" | "builtin" | "-p" | "--"))
        {
            words = rest;
        }
        let name = words.first().map(RawWord::literal);
        for assignment in &simple.assignments {
            self.assignment(assignment);
            let kept = name.as_ref().and_then(Option::as_deref) != Some("read");
            self.opaque |= assignment.name == "IFS" && kept;
        }
        match name {
            None => {}
            Some(None) => self.opaque |= !words.first().is_some_and(names_path),
            Some(Some(name)) => self.builtin(&name, words.get(1..).unwrap_or_default()),
        }
    }

    fn builtin(&mut self, name: &str, words: &[RawWord]) {
        match name {
            "cd" | "chdir" | "pushd" | "popd" => self.move_directory(),
            "set" => self.has_options = true,
            "read" => {
                for word in words {
                    match word.literal() {
                        None => self.opaque = true,
                        Some(text) if text.starts_with('-') => {
                            self.opaque |=
                                !text.chars().skip(1).all(|c| "drsenNptu".contains(c)) && !text.ends_with('a');
                        }
                        Some(text) => self.set(&text, 2, false),
                    }
                }
                self.set("REPLY", 2, false);
            }
            "printf" => {
                let first = words.first().map(RawWord::literal);
                self.opaque |= first.is_some_and(|first| first.is_none_or(|text| text.starts_with("-v")));
            }
            "export" | "readonly" => words.iter().for_each(|word| self.declared(word, 1)),
            "local" | "declare" | "typeset" => words.iter().for_each(|word| self.declared(word, 2)),
            name => {
                self.opaque |= OPAQUE.contains(&name);
                if matches!(name, "eval" | "trap") {
                    self.move_directory();
                }
            }
        }
    }

    /// A word after `export` or `declare`.
    fn declared(&mut self, word: &RawWord, count: usize) {
        let mut known = RawWord::default();
        for atom in &word.atoms {
            if !matches!(atom, Atom::Bare(_) | Atom::Quoted(_)) {
                break;
            }
            known.atoms.push(atom.clone());
        }
        let bare = known.literal().unwrap_or_default();
        if bare.starts_with('-') {
            self.opaque |= !bare.trim_start_matches('-').chars().all(|c| "xrgaAp".contains(c));
            return;
        }
        let Some((name, value)) = bare.split_once('=') else {
            match word.literal() {
                Some(_) if count == 1 => {}
                Some(name) => self.set(&name, 2, false),
                None => self.opaque = true,
            }
            return;
        };
        let literal = word.literal().is_some() && value.chars().all(|c| c.is_ascii_digit());
        let arithmetic = value.is_empty() && matches!(word.atoms.last(), Some(Atom::Expression(_) | Atom::Number));
        let name = name.strip_suffix('+').unwrap_or(name);
        self.set(name, count, literal || (arithmetic && word.atoms.len() == known.atoms.len() + 1));
        self.opaque |= name == "IFS";
    }
}

/// Says whether a word names a program by a path, so that it is no built-in command.
fn names_path(word: &RawWord) -> bool {
    word.atoms.iter().any(|atom| match atom {
        Atom::Bare(c) => *c == '/',
        Atom::Quoted(text) => text.contains('/'),
        Atom::Variable { .. }
        | Atom::Number
        | Atom::Unknown { .. }
        | Atom::Substitution(_)
        | Atom::Expression(_)
        | Atom::Operation(_) => false,
    })
}

/// Says whether a value is certainly a number, or empty.
fn is_numeric(word: &RawWord) -> bool {
    word.atoms.iter().enumerate().all(|(at, atom)| match atom {
        Atom::Bare(c) => c.is_ascii_digit() || (at == 0 && *c == '-'),
        Atom::Quoted(text) => text.chars().all(|c| c.is_ascii_digit()),
        Atom::Number | Atom::Expression(_) => true,
        Atom::Operation(operation) => operation.number,
        Atom::Variable { .. } | Atom::Unknown { .. } | Atom::Substitution(_) => false,
    })
}

/// Says whether a word of a loop is a number, or a range of numbers in braces.
fn is_numeric_range(word: &RawWord) -> bool {
    let range = word.bare().is_some_and(|bare| {
        bare.strip_prefix('{').and_then(|bare| bare.strip_suffix('}')).is_some_and(|range| {
            let mut parts = range.split("..");
            let number = |part: &str| part.strip_prefix('-').unwrap_or(part).parse::<u32>().is_ok();
            range.contains("..") && parts.all(number)
        })
    });
    range || is_numeric(word)
}
