//! The parts of a call: runs, files that they write, variables, directories, addresses and doubts.

use std::ops::Range;

use command_line::{
    Directory, Effects, HazardKind, Line, ProgramRun, Redirection, RedirectionKind, ShellWord, WordPart,
};
use tool_facts::{CallFacts, Unparsed};

use crate::{
    host_pattern::Host,
    listed,
    location::Location,
    why::{PartKind, excerpt},
};

/// Largest number of parts of a call. A call with more is in doubt.
const MOST: usize = 500;
/// Longest word that is taken for a subcommand of a program that is not in the tables.
const LONGEST_SUBCOMMAND: usize = 16;
/// Files of the shell to which writing changes nothing.
const NOWHERE: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];
/// Variables in lower case that steer programs: proxies everywhere, and the tied arrays of Zsh.
const STEERING: [&str; 14] = [
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "path",
    "fpath",
    "cdpath",
    "manpath",
    "module_path",
    "psvar",
    "prompt",
    "fignore",
    "mailpath",
];

/// The parts of a call, in the order of its text.
pub(crate) struct Parts<'a> {
    /// The root of the session, where relative patterns start.
    pub(crate) session: Location,
    /// The runs of the command of the call.
    pub(crate) runs: Vec<RunFacts<'a>>,
    /// The parts; at least one.
    pub(crate) list: Vec<CallPart>,
    /// The call has a command.
    pub(crate) has_command: bool,
}

/// One part of a call, which is ruled on by itself.
#[derive(Debug, Clone)]
pub(crate) struct CallPart {
    /// The kind of the part.
    pub(crate) kind: PartKind,
    /// Index of its run. Zero for a part without a run.
    pub(crate) run: usize,
    /// Index of the file, variable or address in its run.
    pub(crate) item: usize,
    /// The bytes of the command text.
    pub(crate) span: Option<Range<usize>>,
    /// The text of the part, for people.
    pub(crate) text: String,
}

/// A run with the facts about what it does.
pub(crate) struct RunFacts<'a> {
    pub(crate) run: &'a ProgramRun,
    /// The text of the line.
    text: &'a str,
    /// The command in a few words.
    shown: String,
    pub(crate) effects: Effects,
    /// The directory in which it happens. `None` if it is not known.
    pub(crate) directory: Option<Location>,
    /// It happens in the root of the session.
    pub(crate) at_root: bool,
    pub(crate) writes: Vec<FileTarget>,
    pub(crate) reads: Vec<FileTarget>,
    /// Words of a program that is not in the tables, each of which may be a path.
    pub(crate) perhaps: Vec<FileTarget>,
    pub(crate) contacts: Vec<Contact>,
}

/// A file that a run reads or writes.
#[derive(Debug, Clone)]
pub(crate) struct FileTarget {
    /// Where it is. `None` if that is not known.
    pub(crate) location: Option<Location>,
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// An address that a run contacts.
#[derive(Debug, Clone)]
pub(crate) struct Contact {
    /// The host. `None` if it is not known.
    pub(crate) host: Option<Host>,
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

impl<'a> Parts<'a> {
    /// Finds the parts of a call.
    pub(crate) fn of(facts: &'a CallFacts, root: Option<&str>) -> Self {
        let session = Location::of_root(root);
        let text = facts.line_text.as_str();
        match &facts.line {
            None => match &facts.shell {
                None => Self::whole(session),
                Some(_) => Self::doubtful(session, text, "its command was not read"),
            },
            Some(Err(Unparsed { reason, .. })) => Self::doubtful(session, text, reason),
            Some(Ok(line)) => {
                let start = start(facts, &session);
                Self::of_line(line, text, session, start.as_ref())
            }
        }
    }

    /// Finds the parts of a line that starts in a directory.
    fn of_line(line: &'a Line, text: &'a str, session: Location, start: Option<&Location>) -> Self {
        let runs = line.runs.iter().take(MOST).map(|run| (run, listed::own_effects(run, &line.runs)));
        let runs: Vec<RunFacts<'a>> =
            runs.map(|(run, effects)| RunFacts::new((run, text), effects, &session, start)).collect();
        let mut parts = Self { session, runs, list: Vec::new(), has_command: true };
        for (number, facts) in parts.runs.iter().enumerate() {
            facts.add_parts(number, &mut parts.list);
        }
        for doubt in &line.doubts {
            parts.list.push(CallPart::of_doubt(doubt.span.clone(), &doubt.reason));
        }
        if line.runs.len() > MOST || parts.list.len() > MOST {
            parts.list.truncate(MOST);
            parts.list.push(CallPart::of_doubt(0..text.len(), "the command has too many parts"));
        }
        if parts.list.is_empty() {
            parts.list.push(CallPart::of_call());
        }
        parts
    }

    fn whole(session: Location) -> Self {
        Self { session, runs: Vec::new(), list: vec![CallPart::of_call()], has_command: false }
    }

    fn doubtful(session: Location, text: &str, reason: &str) -> Self {
        let list = vec![CallPart::of_doubt(0..text.len(), reason)];
        Self { session, runs: Vec::new(), list, has_command: true }
    }

    /// The run of a part.
    pub(crate) fn run_of(&self, part: &CallPart) -> Option<&RunFacts<'a>> {
        self.runs.get(part.run)
    }
}

/// The directory in which the command of a call starts. `None` if it is not known.
fn start(facts: &CallFacts, session: &Location) -> Option<Location> {
    if let Some(cwd) = &facts.cwd {
        return Location::of_text(cwd, Some(session));
    }
    // A path beside a command of an undeclared tool may be the directory in which the command runs.
    let here = |path: &tool_facts::PathFacts| !path.absolute && path.components.is_empty();
    let settled = facts.declared || facts.paths.iter().all(|one| one.path.as_ref().is_ok_and(here));
    settled.then(|| session.clone())
}

impl CallPart {
    /// The call as one part.
    pub(crate) fn of_call() -> Self {
        Self { kind: PartKind::Call, run: 0, item: 0, span: None, text: String::new() }
    }

    fn of_doubt(span: Range<usize>, reason: &str) -> Self {
        Self { kind: PartKind::Doubt, run: usize::MAX, item: 0, span: Some(span), text: excerpt(reason) }
    }
}

impl<'a> RunFacts<'a> {
    fn new(
        (run, text): (&'a ProgramRun, &'a str),
        effects: Effects,
        session: &Location,
        start: Option<&Location>,
    ) -> Self {
        let own = Location::of_directory(&run.directory, start);
        let directory = match &effects.directory {
            Some(word) => Location::of_word(word, own.as_ref()),
            None => own.clone(),
        };
        let at_root = directory
            .as_ref()
            .is_some_and(|at| !at.escapes && at.components == session.components && at.base == session.base);
        // Redirections happen in the directory of the shell, before the program changes its own.
        let mut writes: Vec<FileTarget> = Vec::new();
        let mut reads: Vec<FileTarget> = Vec::new();
        for redirect in &run.redirects {
            let target = || FileTarget::new(&redirect.target, own.as_ref(), text);
            if is_write(redirect) {
                writes.push(target());
            }
            if matches!(redirect.kind, RedirectionKind::Read | RedirectionKind::ReadWrite) && !is_pipe(&redirect.target)
            {
                reads.push(target());
            }
        }
        let hazards = effects.hazards.iter().filter(|hazard| hazard.kind == HazardKind::Writes);
        let mut written: Vec<&ShellWord> = effects.writes.iter().collect();
        written.extend(hazards.filter_map(|hazard| hazard.target.as_ref()));
        let mut seen: Vec<&ShellWord> = Vec::new();
        for word in written {
            if !seen.contains(&word) && !is_nowhere(word) {
                seen.push(word);
                writes.push(FileTarget::new(word, directory.as_ref(), text));
            }
        }
        let read = effects.reads.iter().filter(|word| !is_pipe(word));
        reads.extend(read.map(|word| FileTarget::new(word, directory.as_ref(), text)));
        let perhaps = if effects.known {
            Vec::new()
        } else {
            run.words.iter().skip(1).filter_map(|word| perhaps(word, directory.as_ref(), text)).collect()
        };
        let contacts = effects.contacts.iter().map(|word| Contact::new(word, text)).collect();
        let shown = String::new();
        let mut facts = Self { run, text, shown, effects, directory, at_root, writes, reads, perhaps, contacts };
        facts.shown = facts.describe();
        facts
    }

    /// A word of the run for people.
    pub(crate) fn shown_word(&self, word: &ShellWord) -> String {
        shown_word(word, self.text)
    }

    /// The command in a few words: the program and its subcommands.
    pub(crate) fn shown(&self) -> String {
        self.shown.clone()
    }

    fn describe(&self) -> String {
        let Some(program) = self.run.words.first() else { return "a command without a program".to_owned() };
        let mut shown = program.text().unwrap_or("a program that is not known").to_owned();
        let mut named = self.effects.subcommand.clone();
        if !self.effects.known {
            let second = self.run.words.get(1).and_then(ShellWord::text).filter(|word| is_plain_word(word));
            named.extend(second.map(str::to_owned));
        }
        for word in &named {
            shown = format!("{shown} {word}");
        }
        if self.run.words.len() > 1 + named.len() {
            shown.push_str(" …");
        }
        excerpt(&shown)
    }

    /// Adds the parts of the run.
    fn add_parts(&self, run: usize, list: &mut Vec<CallPart>) {
        let mut add = |kind, item, span: Range<usize>, shown: String| {
            list.push(CallPart { kind, run, item, span: Some(span), text: shown });
        };
        // A redirection without a program may still read: `$(< file)`.
        if !self.run.words.is_empty() || !self.reads.is_empty() {
            add(PartKind::Run, 0, self.run.span.clone(), self.shown());
        }
        for (item, file) in self.writes.iter().enumerate() {
            add(PartKind::Write, item, file.span.clone(), file.text.clone());
        }
        for (item, assignment) in self.run.assignments.iter().enumerate() {
            let harmless =
                assignment.value.text().is_some_and(|value| !tool_facts::may_steer_variable(&assignment.name, value));
            if !harmless && (assignment.exported || !is_plain_variable(&assignment.name)) {
                add(PartKind::Variable, item, assignment.value.span.clone(), excerpt(&assignment.name));
            }
        }
        if !self.at_root && !self.run.words.is_empty() {
            add(PartKind::Directory, 0, self.run.span.clone(), self.shown_directory());
        }
        for (item, contact) in self.contacts.iter().enumerate() {
            add(PartKind::Address, item, contact.span.clone(), contact.text.clone());
        }
    }

    /// The directory for people.
    pub(crate) fn shown_directory(&self) -> String {
        match (&self.effects.directory, &self.run.directory) {
            (Some(word), _) => self.shown_word(word),
            (None, Directory::At(path)) => excerpt(path),
            (None, Directory::Start) => "the directory that the call names".to_owned(),
            (None, Directory::Unknown) => "a directory that is not known".to_owned(),
        }
    }
}

impl FileTarget {
    fn new(word: &ShellWord, from: Option<&Location>, text: &str) -> Self {
        Self { location: Location::of_word(word, from), text: shown_word(word, text), span: word.span.clone() }
    }
}

impl Contact {
    fn new(word: &ShellWord, text: &str) -> Self {
        let host = Host::of_word(word);
        let text = host.as_ref().map_or_else(|| shown_word(word, text), Host::shown);
        Self { host, text, span: word.span.clone() }
    }
}

/// The paths that a word of a program may name that is not in the tables: the word, or the value of an option.
fn perhaps(word: &ShellWord, from: Option<&Location>, line: &str) -> Option<FileTarget> {
    let Some(text) = word.text() else { return Some(FileTarget::new(word, from, line)) };
    let text = match text.split_once('=') {
        Some((_, value)) if text.starts_with('-') => value,
        None if text.starts_with('-') => return None,
        _ => text,
    };
    // A text that is no path names none.
    let location = Location::of_text(text, from);
    let target = FileTarget { location, text: excerpt(text), span: word.span.clone() };
    (target.location.is_some() || from.is_none() || text.contains(['/', '~'])).then_some(target)
}

/// A word for people: its value, or as it is written in the text of the line.
fn shown_word(word: &ShellWord, line: &str) -> String {
    let written = || line.get(word.span.clone()).filter(|written| !written.is_empty());
    excerpt(word.text().or_else(written).unwrap_or("$…"))
}

/// Says whether a word looks like a subcommand, and not like a value that may be a secret.
fn is_plain_word(word: &str) -> bool {
    word.len() <= LONGEST_SUBCOMMAND
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|c| c.is_ascii_lowercase() || c == b'-')
}

/// Says whether a word is the pipe of a substitution of a process: `<(sort a)`. What else could be open at such a place was opened by a redirection.
fn is_pipe(word: &ShellWord) -> bool {
    matches!(word.parts.as_slice(), [WordPart::Literal(text), WordPart::Number] if text == "/dev/fd/")
}

fn is_nowhere(word: &ShellWord) -> bool {
    word.text().is_some_and(|text| NOWHERE.contains(&text))
}

/// Says whether a redirection writes a file. `>&2` writes to a descriptor, and `>&$X` perhaps to a file.
fn is_write(redirect: &Redirection) -> bool {
    match redirect.kind {
        RedirectionKind::Write | RedirectionKind::Append | RedirectionKind::ReadWrite => !is_nowhere(&redirect.target),
        RedirectionKind::Duplicate => {
            let descriptor =
                |text: &str| text == "-" || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
            !redirect.target.text().is_some_and(descriptor)
        }
        RedirectionKind::Read | RedirectionKind::Text => false,
    }
}

/// Says whether a variable in lower case is one of the shell alone.
fn is_plain_variable(name: &str) -> bool {
    let sign = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    let begins = name.bytes().next().is_some_and(|c| c.is_ascii_lowercase() || c == b'_');
    begins && name.bytes().all(sign) && !STEERING.contains(&name)
}
