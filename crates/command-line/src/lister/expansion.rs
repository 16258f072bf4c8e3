//! Expands words: braces, variables whose values are known, patterns, substitutions.

use std::ops::Range;

use super::{Context, Lister, braces};
use crate::syntax::tree::{Atom, Operation, RawWord, Substitution, SubstitutionKind};
use crate::{RunPosition, ShellLanguage, ShellWord, Stdin, WordPart};

/// Variables that a shell sets itself, or that have a meaning for it.
const SPECIAL: &[&str] = &[
    "_",
    "ARGC",
    "CDPATH",
    "COLUMNS",
    "COMP_CWORD",
    "COMP_KEY",
    "COMP_LINE",
    "COMP_POINT",
    "COMP_TYPE",
    "COMP_WORDBREAKS",
    "COMP_WORDS",
    "COMPREPLY",
    "DIRSTACK",
    "EGID",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "ERRNO",
    "EUID",
    "FUNCNAME",
    "FUNCNEST",
    "GID",
    "GROUPS",
    "HISTCMD",
    "HISTSIZE",
    "HOME",
    "IFS",
    "KEYTIMEOUT",
    "LINENO",
    "LINES",
    "LISTMAX",
    "MAILCHECK",
    "OLDPWD",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "PATH",
    "PPID",
    "PWD",
    "RANDOM",
    "REPLY",
    "SAVEHIST",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "TMOUT",
    "TTYIDLE",
    "UID",
    "USERNAME",
    "argv",
    "aliases",
    "cdpath",
    "commands",
    "dirstack",
    "fignore",
    "fpath",
    "functions",
    "histchars",
    "history",
    "jobstates",
    "mailpath",
    "manpath",
    "module_path",
    "nameddirs",
    "options",
    "parameters",
    "path",
    "pipestatus",
    "prompt",
    "psvar",
    "signals",
    "status",
    "termcap",
    "terminfo",
    "userdirs",
    "watch",
    "widgets",
    "zsh_eval_context",
];

/// Variables that evaluate what is assigned to them.
const INTEGERS: &[&str] = &[
    "ARGC",
    "BASHPID",
    "COLUMNS",
    "EGID",
    "ERRNO",
    "EUID",
    "FUNCNEST",
    "GID",
    "HISTCMD",
    "HISTSIZE",
    "KEYTIMEOUT",
    "LINENO",
    "LINES",
    "LISTMAX",
    "MAILCHECK",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SAVEHIST",
    "SECONDS",
    "SHLVL",
    "TMOUT",
    "TTYIDLE",
    "UID",
    "status",
];

/// Longest word in which patterns are looked at.
const LONGEST: usize = 256;

/// How a word is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Split into words, with patterns over file names.
    Split,
    /// One text.
    Value,
}

/// Says whether a shell sets or reads a variable itself.
pub(super) fn is_special(name: &str) -> bool {
    name.starts_with("BASH") || SPECIAL.contains(&name)
}

/// Says whether what is assigned to a variable is evaluated as arithmetic.
pub(super) fn is_integer(name: &str) -> bool {
    INTEGERS.contains(&name)
}

impl Lister<'_> {
    /// Expands a word of a command, which may become several.
    pub(super) fn words(&mut self, raw: &RawWord, context: &Context) -> Vec<ShellWord> {
        if raw.atoms.is_empty() {
            return Vec::new();
        }
        if !raw.atoms.iter().any(|atom| matches!(atom, Atom::Bare('{'))) {
            return vec![self.expand(&raw.atoms, &raw.span, Mode::Split, context)];
        }
        let words = match braces::expand(&raw.atoms) {
            Ok(words) => words,
            Err(reason) => {
                self.doubt(&raw.span, reason);
                vec![raw.atoms.clone()]
            }
        };
        let changed = words.len() > 1 || words.iter().any(|word| word.len() != raw.atoms.len());
        if changed && self.language == ShellLanguage::Sh {
            self.doubt(&raw.span, "shells that are called `sh` read braces differently");
        }
        let kept = words.into_iter().filter(|atoms| !atoms.is_empty());
        let kept: Vec<Vec<Atom>> = kept.collect();
        kept.iter().map(|atoms| self.expand(atoms, &raw.span, Mode::Split, context)).collect()
    }

    /// Expands a word that stays one: the value of an assignment, a here-document.
    pub(super) fn value(&mut self, raw: &RawWord, context: &Context) -> ShellWord {
        self.expand(&raw.atoms, &raw.span, Mode::Value, context)
    }

    fn expand(&mut self, atoms: &[Atom], span: &Range<usize>, mode: Mode, context: &Context) -> ShellWord {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(atom) = atoms.get(at) {
            at += 1;
            match atom {
                // Patterns in long words are not looked at.
                Atom::Bare('~' | '[') if atoms.len() > LONGEST => {
                    parts.push(WordPart::Unknown { quoted: mode == Mode::Value });
                }
                Atom::Bare('~') if is_tilde(atoms, at - 1, mode) => {
                    let part = self.tilde(atoms, at - 1, mode);
                    if part != WordPart::Home {
                        // `~name`, `~+` or `~-`
                        at += name_length(atoms.get(at..).unwrap_or_default());
                    }
                    parts.push(part);
                }
                Atom::Bare(c @ ('*' | '?')) if mode == Mode::Split => push_glob(&mut parts, &c.to_string()),
                Atom::Bare('[') if mode == Mode::Split => {
                    if let Some(end) = bracket_end(atoms, at) {
                        let inside = atoms.get(at..end).unwrap_or_default();
                        self.bracket(inside, span, &mut parts, context);
                        at = end + 1;
                    } else {
                        push_text(&mut parts, "[");
                    }
                }
                Atom::Bare(c) => push_text(&mut parts, c.encode_utf8(&mut [0; 4])),
                Atom::Quoted(text) => push_text(&mut parts, text),
                Atom::Variable { name, quoted, .. } => {
                    let quoted = *quoted || mode == Mode::Value;
                    let first = parts.is_empty();
                    self.variable(name, quoted, first, &mut parts);
                }
                Atom::Number => parts.push(WordPart::Number),
                Atom::Unknown { quoted } => {
                    parts.push(WordPart::Unknown { quoted: *quoted || mode == Mode::Value });
                }
                Atom::Substitution(substitution) => {
                    let quoted = substitution.quoted || mode == Mode::Value;
                    self.substitution(substitution, quoted, &mut parts, context);
                }
                Atom::Expression(expression) => {
                    self.evaluate(expression, context);
                    parts.push(WordPart::Unknown { quoted: true });
                }
                Atom::Operation(operation) => {
                    self.operation(operation, span, context);
                    let quoted = operation.quoted || mode == Mode::Value;
                    parts.push(if operation.number { WordPart::Number } else { WordPart::Unknown { quoted } });
                }
            }
        }
        ShellWord { parts, span: self.span(span) }
    }

    fn tilde(&self, atoms: &[Atom], at: usize, mode: Mode) -> WordPart {
        let ends = match atoms.get(at + 1) {
            None | Some(Atom::Bare('/')) => true,
            Some(Atom::Bare(':')) => at > 0 || mode == Mode::Value,
            Some(_) => false,
        };
        // As a word that only looks like an assignment, it is replaced by some shells.
        let certain = at == 0 || mode == Mode::Value;
        let home = self.facts.is_never_set("HOME");
        if ends && certain && home { WordPart::Home } else { WordPart::Unknown { quoted: true } }
    }

    /// A pattern in brackets.
    fn bracket(&mut self, inside: &[Atom], span: &Range<usize>, parts: &mut Vec<WordPart>, context: &Context) {
        let mut text = String::from("[");
        let mut certain = true;
        for atom in inside {
            match atom {
                Atom::Bare(c) => text.push(*c),
                Atom::Quoted(quoted) => {
                    certain &= !quoted.contains(['[', ']', '-', '!', '^', '\\']);
                    text.push_str(quoted);
                }
                Atom::Variable { .. } | Atom::Number | Atom::Unknown { .. } => certain = false,
                Atom::Substitution(_) | Atom::Expression(_) | Atom::Operation(_) => {
                    self.expand(std::slice::from_ref(atom), span, Mode::Value, context);
                    certain = false;
                }
            }
        }
        text.push(']');
        if text.contains('/') {
            self.doubt(span, "a pattern with `/` in brackets is not certain");
        }
        if certain { push_glob(parts, &text) } else { parts.push(WordPart::Unknown { quoted: false }) }
    }

    fn variable(&mut self, name: &str, quoted: bool, first: bool, parts: &mut Vec<WordPart>) {
        if let Some(value) = self.value_of(name).cloned() {
            let plain = match value.as_slice() {
                [] => false,
                [WordPart::Literal(text)] => !text.contains([' ', '\t', '\n', '*', '?', '[', '\\', '~']),
                _ => false,
            };
            if quoted || plain {
                for part in value {
                    match part {
                        WordPart::Literal(text) => push_text(parts, &text),
                        WordPart::Glob(text) => push_glob(parts, &text),
                        WordPart::Home | WordPart::Number | WordPart::Unknown { .. } => parts.push(part),
                    }
                }
                return;
            }
        }
        let home = name == "HOME" && first && self.facts.is_never_set("HOME");
        parts.push(if home { WordPart::Home } else { WordPart::Unknown { quoted } });
    }

    fn substitution(
        &mut self,
        substitution: &Substitution,
        quoted: bool,
        parts: &mut Vec<WordPart>,
        context: &Context,
    ) {
        let mut inner =
            Context { position: context.position.clone(), stdin: context.stdin.clone(), ..Context::default() };
        inner.position.push(RunPosition::Substitution);
        if substitution.kind == SubstitutionKind::Sink {
            inner.stdin = Stdin::Pipe;
        }
        let outer = self.place.clone();
        // `set -e` does not reach into a substitution in Bash.
        self.place.strict = false;
        let fixed = self.fixed.clone();
        self.fixed = fixed.clone().or_else(|| substitution.fixed.clone());
        self.scoped(false, |lister| lister.list(&substitution.list, &inner));
        self.fixed = fixed;
        self.place = outer;
        if substitution.kind == SubstitutionKind::Output {
            parts.push(WordPart::Unknown { quoted });
        } else if self.language == ShellLanguage::Zsh {
            // `/dev/fd/12` or `/proc/self/fd/12`
            parts.push(WordPart::Unknown { quoted: true });
        } else {
            push_text(parts, "/dev/fd/");
            parts.push(WordPart::Number);
        }
    }

    fn operation(&mut self, operation: &Operation, span: &Range<usize>, context: &Context) {
        operation.words.iter().for_each(|word| {
            self.value(word, context);
        });
        for expression in &operation.expressions {
            self.evaluate(expression, context);
        }
        if operation.sets {
            let mut run = self.run(span, context);
            let value = ShellWord { parts: vec![WordPart::Unknown { quoted: true }], span: run.span.clone() };
            run.assignments = vec![crate::VariableAssignment { name: operation.name.clone(), value, exported: false }];
            if is_integer(&operation.name) {
                self.doubt(span, format!("the value of `{}` is evaluated as arithmetic", operation.name));
            }
            self.push(run);
        }
    }
}

fn push_text(parts: &mut Vec<WordPart>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(WordPart::Literal(before)) = parts.last_mut() {
        before.push_str(text);
    } else {
        parts.push(WordPart::Literal(text.to_owned()));
    }
}

fn push_glob(parts: &mut Vec<WordPart>, text: &str) {
    if let Some(WordPart::Glob(before)) = parts.last_mut() {
        before.push_str(text);
    } else {
        parts.push(WordPart::Glob(text.to_owned()));
    }
}

/// The index of the `]` that closes a bracket whose content begins at `at`.
fn bracket_end(atoms: &[Atom], at: usize) -> Option<usize> {
    let bare = |at: usize| if let Some(Atom::Bare(c)) = atoms.get(at) { Some(*c) } else { None };
    let mut at = at;
    if matches!(bare(at), Some('!' | '^')) {
        at += 1;
    }
    if bare(at) == Some(']') {
        at += 1;
    }
    while at < atoms.len() {
        match (bare(at), bare(at + 1)) {
            (Some(']'), _) => return Some(at),
            (Some('['), Some(sign @ (':' | '.' | '='))) => {
                let close = (at + 2..atoms.len()).find(|at| bare(*at) == Some(sign) && bare(at + 1) == Some(']'));
                at = close.map_or(at + 1, |close| close + 2);
            }
            _ => at += 1,
        }
    }
    None
}

/// Says whether the shell replaces a `~`: at the beginning of a word, or of a part of an assignment.
fn is_tilde(atoms: &[Atom], at: usize, mode: Mode) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let before = atoms.get(before);
    let sign = matches!(before, Some(Atom::Bare('=' | ':')));
    if mode == Mode::Value {
        return matches!(before, Some(Atom::Bare(':')));
    }
    let prefix: Option<String> = atoms
        .get(..at)
        .map(|atoms| atoms.iter().map_while(|atom| if let Atom::Bare(c) = atom { Some(*c) } else { None }).collect());
    sign && prefix.is_some_and(|prefix| {
        prefix.split_once('=').is_some_and(|(name, _)| {
            let name = name.strip_suffix('+').unwrap_or(name);
            !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        })
    })
}

/// The number of characters of the name after a `~`.
fn name_length(atoms: &[Atom]) -> usize {
    atoms
        .iter()
        .take_while(|atom| matches!(atom, Atom::Bare(c) if c.is_ascii_alphanumeric() || "_-+.".contains(*c)))
        .count()
}
