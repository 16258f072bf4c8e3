//! The kinds of operands.

use super::{Effects, unknown_word};
use crate::{Hazard, HazardKind, ShellWord, WordPart};

/// Kind of an operand: what the program does with the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandKind {
    /// Only text.
    Text,
    /// A file or directory that is read.
    Read,
    /// A file or directory that is written or deleted.
    Write,
    /// The directory in which the program works.
    Directory,
    /// An address that the program contacts.
    Address,
    /// A repository from which git loads: an address or a path.
    Repository,
    /// A remote of git: a name, an address or a path.
    Remote,
    /// What `git push` sends: `+` forces it, and an empty left side deletes a branch.
    Refspec,
    /// A revision of git, or a path that it compares.
    Revision,
    /// A text in a language that may run anything.
    Code,
    /// A program that is started. All words after it belong to it.
    Command,
    /// A file or directory whose code or settings the program runs by its nature.
    Project,
    /// A file that is run.
    Script,
    /// The name of a tool. The words after it are read by the table of the tool.
    Tool,
    /// The first of the words that are read like those after `--`.
    Rest,
    /// There should be none.
    None,
}

/// The kinds of the operands of a program, in order.
#[derive(Debug, Default)]
pub(super) struct OperandKinds {
    /// Kinds of the first operands.
    first: Vec<OperandKind>,
    /// The kind of the operands between, if there may be any number.
    repeated: Option<OperandKind>,
    /// Kinds of the last operands.
    last: Vec<OperandKind>,
}

impl OperandKinds {
    /// Reads the kinds as tables write them. A word that is no kind stands for `none`, which is never harmless.
    pub(super) fn parse(words: &[String]) -> Self {
        let mut kinds = Self::default();
        for word in words {
            if let Some(word) = word.strip_suffix("...") {
                kinds.repeated = Some(kind(word));
            } else if kinds.repeated.is_some() {
                kinds.last.push(kind(word));
            } else {
                kinds.first.push(kind(word));
            }
        }
        kinds
    }

    /// Says whether the tables list no operands.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.repeated.is_none()
    }

    /// The kind of an operand by its place, if the tables list one.
    pub(super) fn at(&self, at: usize) -> Option<OperandKind> {
        self.first.get(at).copied().or(self.repeated)
    }

    /// Says whether the words from an operand on belong to a command that is started.
    pub(super) fn is_command(&self, at: usize) -> bool {
        self.at(at) == Some(OperandKind::Command)
    }

    /// The kinds that each operand may have. `several` says for each whether it may become several words, or vanish.
    ///
    /// The first operands have their kinds up to the first one that is several words, and the last ones back to the last such one. An operand between
    /// may have any of the kinds that remain.
    pub(super) fn assign(&self, several: &[bool], skip_first: bool) -> Vec<Vec<OperandKind>> {
        let count = several.len();
        let first = self.first.get(usize::from(skip_first)..).unwrap_or_default();
        let certain = several.iter().position(|several| *several).unwrap_or(count);
        let certain_last = several.iter().rev().position(|several| *several).unwrap_or(count);
        let rest = count.saturating_sub(first.len().min(count));
        let last = self.last.len().min(rest);
        let middle = self.repeated.unwrap_or(OperandKind::None);
        let of = |at: usize| {
            let from_end = count - at - 1;
            let ending = (from_end < last).then(|| self.last.get(self.last.len() - from_end - 1).copied()).flatten();
            if certain == count {
                return vec![first.get(at).copied().or(ending).unwrap_or(middle)];
            }
            if let Some(kind) = first.get(at).filter(|_| at < certain) {
                return vec![*kind];
            }
            if let Some(ending) = ending.filter(|_| from_end < certain_last) {
                return vec![ending];
            }
            let mut kinds: Vec<OperandKind> = first.iter().skip(certain).copied().collect();
            kinds.push(middle);
            if certain_last < self.last.len() {
                kinds.extend(&self.last);
            }
            kinds.dedup();
            kinds
        };
        (0..count).map(of).collect()
    }
}

impl OperandKind {
    /// The kind with a name. A word that is no kind stands for `none`, which is never harmless.
    pub(super) fn named(word: &str) -> Self {
        kind(word)
    }
}

fn kind(word: &str) -> OperandKind {
    match word {
        "text" => OperandKind::Text,
        "read" => OperandKind::Read,
        "write" => OperandKind::Write,
        "directory" => OperandKind::Directory,
        "address" => OperandKind::Address,
        "repository" => OperandKind::Repository,
        "remote" => OperandKind::Remote,
        "refspec" => OperandKind::Refspec,
        "revision" => OperandKind::Revision,
        "code" => OperandKind::Code,
        "command" => OperandKind::Command,
        "project" => OperandKind::Project,
        "script" => OperandKind::Script,
        "tool" => OperandKind::Tool,
        "rest" => OperandKind::Rest,
        _ => OperandKind::None,
    }
}

/// Adds the effect of an operand of one kind. `writing` says that an option makes the program write what it otherwise reads.
pub(super) fn add_operand(effects: &mut Effects, kind: OperandKind, at: usize, word: &ShellWord, writing: bool) {
    match kind {
        OperandKind::Text => {}
        OperandKind::Read if word.parts.is_empty() => {}
        // Some programs load an address in the place of a file.
        OperandKind::Read if word.prefix().contains("://") => {
            effects.add_read(word.clone());
            effects.add_contact(at, word.clone());
        }
        OperandKind::Read => {
            effects.add_read(word.clone());
            if writing {
                effects.add_write(at, word.clone());
            }
        }
        OperandKind::Write => effects.add_write(at, word.clone()),
        // `-` is the directory before, and `+1` one of a stack.
        OperandKind::Directory if word.prefix().starts_with(['-', '+']) => effects.set_directory(unknown_word(word)),
        OperandKind::Directory => effects.set_directory(word.clone()),
        OperandKind::Address => effects.add_contact(at, word.clone()),
        OperandKind::Repository | OperandKind::Remote => add_repository(effects, kind, at, word),
        OperandKind::Refspec => match word.prefix().chars().next() {
            Some('+' | ':') => effects.add_hazard(HazardKind::Writes, at),
            None if !word.parts.is_empty() => effects.add_hazard(HazardKind::Unknown, at),
            _ => {}
        },
        OperandKind::Revision => {
            let is_inside = |part: &WordPart| match part {
                WordPart::Literal(text) => !looks_outside(text),
                WordPart::Number => true,
                WordPart::Glob(_) | WordPart::Home | WordPart::Unknown { .. } => false,
            };
            if !word.parts.iter().all(is_inside) {
                add_operand(effects, OperandKind::Read, at, word, writing);
            }
        }
        OperandKind::Project => add_project(effects, at, word, writing),
        OperandKind::Script => add_script(effects, at, word.clone()),
        OperandKind::Code | OperandKind::Command | OperandKind::Tool => effects.add_hazard(HazardKind::Runs, at),
        OperandKind::Rest => {}
        OperandKind::None => effects.add_hazard(HazardKind::Unknown, at),
    }
}

/// Adds a file or directory whose code the program runs by its nature. It is an input like others if it surely lies below the working directory.
/// `writing` says that an option makes the program write it.
pub(super) fn add_project(effects: &mut Effects, at: usize, word: &ShellWord, writing: bool) {
    if word.parts.is_empty() {
        return;
    }
    // A test of pytest is named `file::test`.
    let path = match word.text().and_then(|text| text.split_once("::")) {
        Some((path, _)) => ShellWord { parts: vec![WordPart::Literal(path.to_owned())], span: word.span.clone() },
        None => word.clone(),
    };
    if writing {
        effects.add_write(at, path.clone());
    }
    if lies_below(&path) { effects.add_read(path) } else { add_script(effects, at, path) }
}

/// Adds a file that is run.
fn add_script(effects: &mut Effects, at: usize, file: ShellWord) {
    effects.add_read(file.clone());
    effects.hazards.push(Hazard { kind: HazardKind::Runs, word: at, target: Some(file) });
}

/// Says whether a path surely lies below the working directory. A pattern that begins with a dot may stand for `..`.
fn lies_below(path: &ShellWord) -> bool {
    let mut text = String::new();
    for part in &path.parts {
        match part {
            WordPart::Literal(part) => text.push_str(part),
            WordPart::Glob(part) => text.push_str(part),
            WordPart::Number => text.push('0'),
            WordPart::Home | WordPart::Unknown { .. } => return false,
        }
    }
    let has_pattern = path.parts.iter().any(|part| matches!(part, WordPart::Glob(_)));
    let leaves = |component: &str| component == ".." || (has_pattern && component.starts_with('.') && component != ".");
    text != "-" && !text.starts_with(['/', '~', '\\']) && !text.contains("://") && !text.split(['/', '\\']).any(leaves)
}

/// Adds the repository that git contacts. A part before `::` names a program, `git-remote-NAME`.
fn add_repository(effects: &mut Effects, kind: OperandKind, at: usize, word: &ShellWord) {
    let path = matches!(word.parts.first(), Some(WordPart::Home)) || word.prefix().starts_with(['/', '.']);
    match word.text() {
        Some(text) if text.contains("::") => effects.add_hazard(HazardKind::Runs, at),
        _ if path && kind == OperandKind::Repository => effects.add_read(word.clone()),
        Some(text) if kind == OperandKind::Remote && !text.contains([':', '/', '\\']) => {}
        Some(_) => effects.add_contact(at, word.clone()),
        None if word.prefix().contains("://") => effects.add_contact(at, word.clone()),
        None => effects.add_hazard(HazardKind::Unknown, at),
    }
}

/// Says whether a path is absolute or leads out of the working directory.
fn looks_outside(text: &str) -> bool {
    text.starts_with('/') || text.split('/').any(|component| component == "..")
}
