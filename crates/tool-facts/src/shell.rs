//! Shell commands: every simple command that a text could run.
//!
//! A text is parsed twice. `reader.rs` walks the syntax tree of tree-sitter and gives every simple command to
//! `collector.rs`, which looks into programs that run other commands: `wrapper.rs` (`sudo`), `interpreter.rs` (`bash
//! -c`), `runner.rs` (`docker run`), `find.rs`. `strict.rs` is an independent lexer for the small part of the language
//! that all POSIX shells read alike. `agreement.rs` compares both: a text is in doubt unless they find the same
//! commands. Nothing here runs a command or reads a file.

use command_line::ShellLanguage;
use serde::Serialize;

use self::collector::{Argv, Collector, CommandContext};
use self::guard::refused;
use self::word::Word;
use super::Unparsed;

mod agreement;
mod builtin;
mod collector;
mod find;
mod from_line;
mod git;
mod guard;
mod interpreter;
mod output;
mod packages;
mod piece;
mod program;
mod reader;
mod redirect;
mod runner;
mod strict;
mod unread;
mod variable;
mod word;
mod wrapper;

pub use self::variable::may_steer as may_steer_variable;

/// The file that discards all output.
const NOWHERE: &str = "/dev/null";

/// Facts about a shell command: every simple command that could run, in order, and properties of the whole.
///
/// Strings that do not apply are empty, so that an expression can compare them without a check.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Shell {
    /// Every simple command that could run, also in substitutions, functions, here-documents and wrappers.
    pub commands: Vec<Simple>,
    /// The text is exactly one simple command: no redirection (except to `/dev/null`, or of one output to the other), substitution,
    /// assignment, glob, wrapper or dynamic word, no other working directory (also none that the call names beside the command), no unknown
    /// argument beside the command, and no file that it is known to write.
    pub plain: bool,
    /// The command would be plain, but another argument says or may say where it runs: compare `paths`.
    pub plain_elsewhere: bool,
    /// The command would be plain, but arguments beside it are not known to be harmless: a rule has to examine each of them.
    pub plain_beside: bool,
    /// Commands are joined by `|`.
    pub pipes: bool,
    /// A command is started with `&`, or as a coprocess.
    pub background: bool,
    /// There is a command or process substitution.
    pub substitutions: bool,
    /// The value of some word is known only when the command runs.
    pub dynamic: bool,
    /// Some word is a pattern over file names, begins with `~` or is a number such as `$?`; it is kept as written.
    pub globs: bool,
    /// Some command runs code that is not a shell command, or is not in the text: `python -c`, `make`, a script.
    pub opaque: bool,
    /// Some command runs on another machine.
    pub remote: bool,
    /// Some command runs as another user: `sudo`, `doas`, `su`.
    pub elevated: bool,
    /// The working directory changes on the way.
    pub cwd_changed: bool,
    /// Names of the functions that the text defines.
    pub functions: Vec<String>,
    /// Files that redirections read, and files outside the repository that `git diff` reads.
    pub reads: Vec<String>,
    /// Files that redirections write, except `/dev/null`, and files that the arguments of known programs name as
    /// output: `tee x`, `sort -o x`, `cp a x`.
    pub writes: Vec<String>,
    /// All files that the programs write are in `writes`. For most programs, such as `make`, the files are not known.
    pub writes_known: bool,
    /// The reason why no allowing rule may rely on these facts, although the text was parsed: a program whose name is known only when it runs, or a
    /// command hidden in an option. Rules that ask or deny still see all other fields.
    pub doubt: Option<Unparsed>,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Simple {
    /// The program: its bare name if the shell looks it up or it lies in a system directory, else the path as written.
    pub program: String,
    /// The last component of the program's path in lower case, without `.exe`. Rules that deny compare this name.
    pub name: String,
    /// The program as written, if that is a path.
    pub path: String,
    /// The words after the program.
    pub args: Vec<String>,
    /// The program and the words after it.
    pub words: Vec<String>,
    /// The first word after the program that is neither an option nor its value; empty if that is not known.
    pub subcommand: String,
    /// Variables that are set for this command.
    pub assignments: Vec<Assignment>,
    /// Redirections of its input and output.
    pub redirects: Vec<Redirect>,
    /// The working directory may have changed before this command.
    pub cwd_changed: bool,
    /// The wrappers around this command, the outermost first.
    pub via: Vec<String>,
    /// The command runs on another machine.
    pub remote: bool,
    /// The command runs code that is not a shell command, or is not in the text.
    pub opaque: bool,
    /// Some words are known only when the command runs; they are kept as written.
    pub dynamic: bool,
    /// Some words are patterns over file names, begin with `~` or are numbers such as `$?`; they are kept as written.
    pub globs: bool,
}

/// An assignment to a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assignment {
    /// Name of the variable.
    pub name: String,
    /// Value of the variable, as far as it is known.
    pub value: String,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redirect {
    /// `read`, `write`, `append`, `read_write`, `duplicate`, `here_document` or `here_string`.
    pub kind: &'static str,
    /// The file, the descriptor, or the text.
    pub target: String,
}

/// Refuses a text that is too long, or has characters that are invisible.
pub(super) fn check_text(text: &str) -> Result<(), Unparsed> {
    guard::check_declared(text)
}

/// The text that a shell runs in `["bash", "-lc", text]` and the like, and the language of the shell.
pub(super) fn find_shell_text<'w>(words: &[&'w str]) -> Option<(ShellLanguage, &'w str)> {
    interpreter::text_of_shell(words)
}

impl Redirect {
    /// Says whether the redirection only discards output, or sends one of the two outputs to the other.
    fn is_harmless(&self) -> bool {
        match self.kind {
            "write" | "append" => self.target == NOWHERE,
            "duplicate" => matches!(self.target.as_str(), "1" | "2"),
            _ => false,
        }
    }
}

impl Shell {
    /// Parses a text as Bash would, without running anything.
    pub fn parse(text: &str) -> Result<Self, Unparsed> {
        let mut collector = Collector::default();
        collector.text(text, &CommandContext::default())?;
        let lone = strict::is_single_command(text);
        Ok(collector.into_shell(lone))
    }

    /// Parses several texts that are run one after another, each by a shell of its own.
    pub(super) fn of_texts(texts: &[&str]) -> Result<Self, Unparsed> {
        let mut collector = Collector::default();
        let mut longest = guard::LONGEST;
        for text in texts {
            longest = longest.checked_sub(text.len()).ok_or_else(|| refused("the commands are too long"))?;
            collector.text(text, &CommandContext::default())?;
        }
        match texts {
            [] => Err(refused("the text contains no command")),
            [only] => Ok(collector.into_shell(strict::is_single_command(only))),
            _ => Ok(collector.into_shell(false)),
        }
    }

    /// Parses the words of one command. No shell reads them; they are in doubt if a shell would find other words in them.
    pub fn of_words(words: &[&str]) -> Result<Self, Unparsed> {
        if words.is_empty() {
            return Err(refused("the text contains no command"));
        }
        let mut longest = guard::LONGEST;
        for word in words {
            guard::check(word)?;
            longest = longest.checked_sub(word.len()).ok_or_else(|| refused("the command is too long"))?;
        }
        let mut collector = Collector::default();
        // Some tools join the words and give the text to a shell.
        if !strict::reads_joined_alike(words) {
            collector.add_doubt("a shell would read the joined words differently");
        }
        let words = words.iter().map(|word| Word::literal(word)).collect();
        collector.run(Argv { words, ..Argv::default() }, &CommandContext::default())?;
        Ok(collector.into_shell(true))
    }

    /// Parses the words of one command, or the text that they give to a shell: `["bash", "-lc", text]`.
    pub(super) fn of_words_or_text(words: &[&str]) -> Result<Self, Unparsed> {
        match interpreter::shell_text(words) {
            Some(text) => Self::parse(text),
            None => Self::of_words(words),
        }
    }

    /// Adds a variable that the call sets for the whole command.
    pub(super) fn with_variable(mut self, name: &str, value: &str) -> Self {
        if variable::may_steer(name, value) {
            self.doubt.get_or_insert_with(|| refused(format!("`${name}` decides what runs")));
        }
        for command in &mut self.commands {
            command.assignments.push(Assignment { name: name.to_owned(), value: value.to_owned() });
        }
        self.plain = false;
        self.plain_elsewhere = false;
        self
    }

    /// Marks that the call has unknown arguments beside the command: it may run in another directory, or be another command.
    pub(super) fn set_beside_unknown(&mut self) {
        self.plain_beside = std::mem::take(&mut self.plain);
        self.set_elsewhere();
        self.plain_elsewhere = false;
        self.writes_known = false;
    }

    /// Marks that the call names a path beside the command: the command may run there.
    pub(super) fn set_elsewhere(&mut self) {
        self.plain_elsewhere |= std::mem::take(&mut self.plain);
        self.cwd_changed = true;
        self.commands.iter_mut().for_each(|command| command.cwd_changed = true);
    }
}
