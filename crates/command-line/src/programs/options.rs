//! The options of one program or subcommand.

use std::collections::HashMap;

use super::tables::Row;
use crate::HazardKind;

/// The options of one program or subcommand by name.
#[derive(Debug, Default)]
pub(super) struct Options {
    by_name: HashMap<String, Opt>,
    /// Beginnings of options of the style `words` whose value follows directly.
    prefixes: Vec<String>,
    /// A number after the dash is harmless.
    pub(super) numbers: bool,
}

/// What the tables say about an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opt {
    /// Where its value stands.
    pub(super) shape: Shape,
    /// What it does.
    pub(super) effect: OptEffect,
    /// Patterns of values that are not harmless.
    pub(super) exceptions: Vec<String>,
}

/// Where the value of an option stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// There is none.
    None,
    /// In the same word or in the next.
    Required,
    /// In the same word, or there is none.
    Attached,
    /// It is the words up to `;` or `{} +`.
    Until,
    /// The next word is a name, and the one after it is the value.
    Pair,
}

/// What an option does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OptEffect {
    /// Nothing beyond what the program does.
    Harmless,
    /// Its value is read.
    Reads,
    /// Its value is written.
    Writes,
    /// Its value is the directory.
    Directory,
    /// Its value is an address.
    Contacts,
    /// Its value is a setting of git.
    Setting,
    /// Its value is harmless if it is one of these.
    Choice(Vec<String>),
    /// Its value is a file or directory whose code the program runs by its nature.
    Project,
    /// Its value is a module, and the words after it belong to it.
    Module,
    /// It does more than the program does.
    Hazard(HazardKind),
}

impl Options {
    /// Collects the options of a row.
    pub(super) fn new(row: &Row) -> Self {
        use OptEffect::{Contacts, Directory, Harmless, Hazard, Reads, Setting, Writes};
        let mut options = Self {
            prefixes: row.prefixes.clone(),
            numbers: row.numbers,
            by_name: HashMap::with_capacity(row.flags.len()),
        };
        options.add(&row.information, Shape::None, &Harmless);
        options.add(&row.checking, Shape::None, &Harmless);
        options.add(&row.flags, Shape::None, &Harmless);
        options.add(&row.text, Shape::Required, &Harmless);
        options.add(&row.optional, Shape::Attached, &Harmless);
        options.add(&row.reads, Shape::Required, &Reads);
        options.add(&row.writes, Shape::Required, &Writes);
        options.add(&row.directories, Shape::Required, &Directory);
        options.add(&row.contacts, Shape::Required, &Contacts);
        options.add(&row.projects, Shape::Required, &OptEffect::Project);
        options.add(&row.modules, Shape::Required, &OptEffect::Module);
        options.add(&row.settings, Shape::Required, &Setting);
        for (name, words) in &row.choices {
            options.add(std::slice::from_ref(name), Shape::Required, &OptEffect::Choice(words.clone()));
        }
        options.add(&row.writing, Shape::None, &Hazard(HazardKind::Writes));
        options.add(&row.running, Shape::None, &Hazard(HazardKind::Runs));
        options.add(&row.sending, Shape::None, &Hazard(HazardKind::Sends));
        for (name, patterns) in &row.except {
            if let Some(option) = options.by_name.get_mut(name) {
                option.exceptions.clone_from(patterns);
            }
        }
        options
    }

    /// Adds the options of one list. A sign at the end of an option says where its value stands.
    fn add(&mut self, names: &[String], usual: Shape, effect: &OptEffect) {
        for name in names {
            let (name, shape) = match name.char_indices().next_back() {
                Some((at, '=')) => (name.get(..at).unwrap_or_default(), Shape::Required),
                Some((at, '?')) if at > 1 => (name.get(..at).unwrap_or_default(), Shape::Attached),
                Some((at, '+')) => (name.get(..at).unwrap_or_default(), Shape::Pair),
                Some((at, ';')) => (name.get(..at).unwrap_or_default(), Shape::Until),
                _ => (name.as_str(), usual),
            };
            self.by_name.insert(name.to_owned(), Opt { shape, effect: effect.clone(), exceptions: Vec::new() });
        }
    }

    /// Adds the options of another subcommand that are not listed here.
    pub(super) fn extend(&mut self, other: Self) {
        for (name, option) in other.by_name {
            self.by_name.entry(name).or_insert(option);
        }
        self.numbers |= other.numbers;
    }

    /// Finds an option by its whole name.
    pub(super) fn find(&self, name: &str) -> Option<&Opt> {
        self.by_name.get(name)
    }

    /// The option with which a word begins and whose value follows directly.
    pub(super) fn prefix_of(&self, text: &str) -> Option<&str> {
        self.prefixes.iter().map(String::as_str).find(|prefix| text.starts_with(prefix))
    }

    /// Says whether any option has its value directly after it.
    pub(super) fn has_prefixes(&self) -> bool {
        !self.prefixes.is_empty()
    }

    /// Says whether an option names a file that is read.
    pub(super) fn may_read(&self) -> bool {
        self.by_name.values().any(|option| option.effect == OptEffect::Reads)
    }
}
