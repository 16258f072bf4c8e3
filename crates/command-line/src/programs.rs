//! Tables of programs and their options.
//!
//! `tables.rs` lists the data files and defines their format; `options.rs` holds the options of one program or subcommand. `scan.rs` reads the words
//! of a run from left to right, and `other_table.rs` those that another table reads; `operands.rs` gives the operands their kinds. `scripts.rs` reads texts that are small programs, such as those of
//! `sed` and `awk`, and `special.rs` judges the few programs whose words follow rules of their own, with
//! `conditions.rs`, `git.rs` and `tar.rs`.

use crate::{Effects, Hazard, HazardKind, ProgramRun, ShellWord, WordPart, WordRole};

mod conditions;
mod git;
mod operands;
mod options;
mod other_table;
mod patterns;
mod scan;
mod scripts;
mod special;
mod tables;
mod tar;

/// Directories whose programs are those that the bare name means.
const SYSTEM_DIRECTORIES: &[&str] =
    &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// Finds the effects of a run in the tables.
pub(crate) fn effects(run: &ProgramRun) -> Effects {
    let Some(program) = run.words.first() else { return Effects::default() };
    let mut effects = Effects { name: program_name(program), ..Effects::default() };
    effects.roles = vec![WordRole::Operand; run.words.len()];
    if let Some(role) = effects.roles.first_mut() {
        *role = WordRole::Program;
    }
    let Some(name) = program.text() else { return effects };
    let bare = match name.rsplit_once('/') {
        None => name,
        Some((directory, bare)) if SYSTEM_DIRECTORIES.contains(&directory) => bare,
        Some(_) => return effects,
    };
    // A name with a blank is a table for words of other programs.
    if bare.contains(' ') {
        return effects;
    }
    effects.on_path = true;
    let Some(row) = tables::program(bare) else { return effects };
    effects.known = true;
    let mut effects = scan::scan(row, run, effects);
    effects.hazards.sort_by_key(|hazard| hazard.word);
    effects.hazards.dedup();
    effects
}

/// The last component of the path of a program in lower case, or nothing if it is not known.
fn program_name(program: &ShellWord) -> String {
    let Some(WordPart::Literal(text)) = program.parts.last() else { return String::new() };
    match text.rsplit_once('/') {
        Some((_, name)) => name.to_lowercase(),
        None if program.parts.len() == 1 => text.to_lowercase(),
        None => String::new(),
    }
}

impl Effects {
    /// Adds a hazard of a word that names no target.
    fn add_hazard(&mut self, kind: HazardKind, word: usize) {
        self.hazards.push(Hazard { kind, word, target: None });
    }

    /// Adds a file that is written, and the hazard of the word that says so.
    fn add_write(&mut self, word: usize, file: ShellWord) {
        self.hazards.push(Hazard { kind: HazardKind::Writes, word, target: Some(file.clone()) });
        if !self.writes.contains(&file) {
            self.writes.push(file);
        }
    }

    /// Adds a file that is read. The word `-` is the standard input.
    fn add_read(&mut self, file: ShellWord) {
        if file.text() != Some("-") && file.text() != Some("") && !self.reads.contains(&file) {
            self.reads.push(file);
        }
    }

    /// Adds an address that is contacted, and the hazard of the word that says so. Some programs make several addresses of brackets and braces.
    fn add_contact(&mut self, word: usize, address: ShellWord) {
        let address = if address.prefix().contains(['{', '}', '[', ']']) { unknown_word(&address) } else { address };
        self.hazards.push(Hazard { kind: HazardKind::Sends, word, target: Some(address.clone()) });
        self.contacts.push(address);
    }

    /// Sets the directory, or joins it to the one that an option before it has set.
    fn set_directory(&mut self, directory: ShellWord) {
        let joined = match (self.directory.as_ref().map(ShellWord::text), directory.text()) {
            (None, _) => directory,
            (Some(_), Some(text)) if text.starts_with('/') => directory,
            (Some(Some(first)), Some(text)) => {
                ShellWord { parts: vec![WordPart::Literal(format!("{first}/{text}"))], ..directory }
            }
            (Some(_), _) => unknown_word(&directory),
        };
        self.directory = Some(joined);
    }
}

/// A word in the place of another one, of which nothing is known.
fn unknown_word(word: &ShellWord) -> ShellWord {
    ShellWord { parts: vec![WordPart::Unknown { quoted: true }], span: word.span.clone() }
}

/// The rest of a word after the first `bytes` of its literal beginning.
fn word_after(word: &ShellWord, bytes: usize) -> ShellWord {
    let rest = word.prefix().get(bytes..).unwrap_or_default();
    let mut parts = if rest.is_empty() { Vec::new() } else { vec![WordPart::Literal(rest.to_owned())] };
    parts.extend(word.parts.iter().skip(1).cloned());
    ShellWord { parts, span: word.span.clone() }
}
