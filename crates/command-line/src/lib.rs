//! What a command line runs, read without running anything.
//!
//! [`Line::parse`] reads a text in one shell language and gives its [`ProgramRun`]s: every program that the text can start, with its words, variables,
//! redirections and directory. A part of a word that only the shell knows, such as `$X`, is an unknown [`WordPart`]. A part of the text that cannot be
//! judged is a [`Doubt`]; the runs around it are still listed. [`effects()`] says what one run reads, writes, contacts and starts, by tables of
//! programs and their options.
//!
//! This crate decides nothing and asks neither a file system nor an environment. What it does not understand, it reports as a doubt or as an
//! unknown effect; it never guesses.
//!
//! Start reading at `run.rs` and `word.rs`, which define the result. `syntax.rs` reads the language into a tree; `lister.rs` lists its
//! runs; `expand.rs` lists the commands inside `sh -c`,
//! `xargs`, `find -exec` and wrappers; `programs.rs` finds the effects of a run in the tables of `data/`.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![warn(clippy::wildcard_enum_match_arm)]

mod effects;
mod expand;
mod lister;
mod programs;
mod run;
mod syntax;
mod word;

pub use effects::{Effects, Hazard, HazardKind, WordRole, effects};
pub use run::{
    Directory, Doubt, Line, ProgramRun, Redirection, RedirectionKind, RunPosition, ShellLanguage, Stdin,
    VariableAssignment,
};
pub use word::{ShellWord, WordPart};
