//! The table of programs that write files, and which of their arguments name these files.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::word_list::{WordList, parse_table};

/// Programs that write no file, whatever their arguments are.
pub(super) static READERS: WordList = WordList::new(include_str!("../../../data/shell/readers.txt"));

/// Programs that write files which their arguments name.
pub(super) static WRITERS: LazyLock<Writers> =
    LazyLock::new(|| parse_table(include_str!("../../../data/shell/writers.toml")));

/// The rows of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writers {
    writer: Vec<Writer>,
}

impl Writers {
    /// Returns the row of a program.
    pub(super) fn find(&self, name: &str) -> Option<&Writer> {
        self.writer.iter().find(|writer| writer.names.iter().any(|own| own == name))
    }
}

/// The arguments of a program that name what it writes. Letters are short options; long options are without their dashes.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Writer {
    names: Vec<String>,
    pub(super) operands: Operands,
    /// Letters whose value is a file that is written.
    pub(super) output_letters: String,
    /// Long options whose value is a file that is written. A shorter beginning counts as the whole option.
    pub(super) output_options: Vec<String>,
    /// Letters that take a value which is not a written file.
    pub(super) value_letters: String,
    /// Short options that do not affect the written files. `None` if other options of the program may write further files, so that the files
    /// of a call are never known for certain.
    pub(super) known_letters: Option<String>,
    /// Letters that take no value, for a program without `known_letters`. A call with no other letters writes only the files that its arguments name.
    pub(super) passed_letters: String,
    /// Long options that do not change what is written.
    pub(super) passed_options: Vec<String>,
    /// Options for which `-` means the standard output; an empty string stands for the operands. Everywhere else `-` is a file of that name.
    pub(super) stdout_options: Vec<String>,
}

impl Writer {
    /// A row for a call in which an option changes which operands are written.
    pub(super) fn of_operands(operands: Operands, value_letters: &str) -> Self {
        Self { operands, value_letters: value_letters.to_owned(), ..Self::default() }
    }

    /// Says whether a letter takes a value.
    pub(super) fn takes_value(&self, letter: char) -> bool {
        self.output_letters.contains(letter) || self.value_letters.contains(letter)
    }

    /// Says whether `-` means the standard output for an option; for the operands the option is empty.
    pub(super) fn writes_stdout(&self, option: &str) -> bool {
        self.stdout_options.iter().any(|own| own == option)
    }
}

/// The operands of a program that are written.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operands {
    #[default]
    Untouched,
    All,
    Last,
    /// The second of two operands.
    Second,
    AllButFirst,
    /// Files appear in the working directory, whatever the operands are.
    Here,
}
