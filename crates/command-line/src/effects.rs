//! What a run does: which files it reads and writes, whom it contacts, and which of its words do more than the program does by itself.

use crate::{ProgramRun, ShellWord, programs};

/// The effects of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    /// The program is in the tables, and its words were read by them. If not, nothing is known about what it does.
    pub known: bool,
    /// The name of the program: the last component of its path in lower case. Empty if it is not known.
    pub name: String,
    /// Whether the shell finds the program by its bare name, or it is named by a path of a system directory (`/usr/bin/git`).
    pub on_path: bool,
    /// The subcommands, such as `["remote", "add"]`, if the tables list subcommands for the program.
    pub subcommand: Vec<String>,
    /// The role of each word of the run, the program included. As many as `run.words`.
    pub roles: Vec<WordRole>,
    /// Files and directories that words name as input, in addition to redirections.
    pub reads: Vec<ShellWord>,
    /// Files and directories that words name as output, in addition to redirections.
    pub writes: Vec<ShellWord>,
    /// Addresses (URL or host) that words name and that the run contacts.
    pub contacts: Vec<ShellWord>,
    /// The directory in which the program works because of an option (`git -C dir`, `make -C dir`), if any.
    pub directory: Option<ShellWord>,
    /// Words that do more than the program does without them. Empty for a program that is not in the tables.
    pub hazards: Vec<Hazard>,
}

/// The role of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordRole {
    /// The program.
    Program,
    /// A subcommand.
    Subcommand,
    /// An option.
    Option,
    /// The value of the option before it.
    Value,
    /// Any other word.
    Operand,
}

/// A word that does more than the program does by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hazard {
    /// What it does.
    pub kind: HazardKind,
    /// Index of the word in `run.words`.
    pub word: usize,
    /// The file or the address that it concerns, if the word names one.
    pub target: Option<ShellWord>,
}

/// What a hazardous word does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HazardKind {
    /// It names a file that the program writes, or makes the program write or delete. The file is `target`, if it is known.
    Writes,
    /// It makes the program start another program, or read settings that do. What starts is not known, or it is a run of its own in the line.
    Runs,
    /// It makes the program send data to, or load data from, an address.
    Sends,
    /// The tables do not say what it does, or the word is not known.
    Unknown,
}

/// Finds the effects of a run in the tables of programs.
#[must_use]
pub fn effects(run: &ProgramRun) -> Effects {
    programs::effects(run)
}
