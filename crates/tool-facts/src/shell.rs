//! A shell command, as every simple command that could run.

use serde::Serialize;

use self::guard::refused;
use self::walk::{Argv, Around, Walk};
use self::word::Word;
use super::Unparsed;

mod agreement;
mod builtin;
mod find;
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
mod walk;
mod word;
mod wrapper;

/// The file that swallows what is written to it.
const NOWHERE: &str = "/dev/null";

/// What a shell would do with a text: every simple command that could run, in order, and what is true of the whole.
///
/// Strings that do not apply are empty, so that an expression may compare them without asking first.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Shell {
    /// Every simple command that could run, those in substitutions, functions, here-documents and wrappers too.
    pub commands: Vec<Simple>,
    /// Exactly one simple command and nothing else: no redirection (but to `/dev/null`, or of one output to the other), substitution,
    /// assignment, glob, wrapper, nothing dynamic, no other directory, not even one that the call names beside it, nothing unknown beside
    /// it, and no file that it is known to write.
    pub plain: bool,
    /// It would be plain, but something beside it in the call says where it runs, or may: compare `paths`.
    pub plain_elsewhere: bool,
    /// It would be plain, but arguments beside it in the call are not known to be harmless: a rule has to look at each of them.
    pub plain_beside: bool,
    /// Commands are joined by `|`.
    pub pipes: bool,
    /// Something is started with `&`, or as a coprocess.
    pub background: bool,
    /// There is a command or process substitution.
    pub substitutions: bool,
    /// Some word's value is known only when it runs.
    pub dynamic: bool,
    /// Some word is a pattern over file names, begins with `~` or is a number such as `$?`, and is kept as it was written.
    pub globs: bool,
    /// Some command runs code that is not a shell command, or is not in the text: `python -c`, `make`, a script.
    pub opaque: bool,
    /// Some command runs on another machine.
    pub remote: bool,
    /// Some command runs as somebody else: `sudo`, `doas`, `su`.
    pub elevated: bool,
    /// The working directory changes on the way.
    pub cwd_changed: bool,
    /// The functions that are defined.
    pub functions: Vec<String>,
    /// The files that redirections read, and those outside the repository that `git diff` is told to read.
    pub reads: Vec<String>,
    /// The files that redirections write, but for `/dev/null`, and those that known programs are told to write: `tee x`, `sort -o x`, `cp a x`.
    pub writes: Vec<String>,
    /// Every program is one whose files are all in `writes`. Most programs are not: nobody knows here what `make` writes.
    pub writes_known: bool,
    /// Why no allowing rule may rely on this, although it was read: a program known only when it runs, a command hidden in an
    /// option. Rules that ask or deny still see everything above.
    pub doubt: Option<Unparsed>,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Simple {
    /// What runs: the bare name, where it is looked up or lies in a directory of the system; else the path as written.
    pub program: String,
    /// The last part of the program's path in lower case, without `.exe`: what to forbid by.
    pub name: String,
    /// The program as written, where that was a path.
    pub path: String,
    /// What follows the program.
    pub args: Vec<String>,
    /// The program and what follows it.
    pub words: Vec<String>,
    /// The first word after the program that is neither an option nor its value; empty where that is not known.
    pub subcommand: String,
    /// The variables that are set for it.
    pub assignments: Vec<Assignment>,
    /// Where its input and output go.
    pub redirects: Vec<Redirect>,
    /// The working directory may have changed before it.
    pub cwd_changed: bool,
    /// The wrappers that it runs under, the outermost first.
    pub via: Vec<String>,
    /// It runs on another machine.
    pub remote: bool,
    /// It runs code that is not a shell command, or is not in the text.
    pub opaque: bool,
    /// Some of its words are known only when it runs; they are kept as written.
    pub dynamic: bool,
    /// Some of its words are patterns over file names, begin with `~` or are numbers such as `$?`; they are kept as written.
    pub globs: bool,
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assignment {
    /// Its name.
    pub name: String,
    /// Its value, as far as it is known.
    pub value: String,
}

/// Where input comes from or output goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redirect {
    /// `read`, `write`, `append`, `read_write`, `duplicate`, `here_document` or `here_string`.
    pub kind: &'static str,
    /// The file, the descriptor, or the text.
    pub target: String,
}

impl Redirect {
    /// Says whether it only throws output away, or sends one of the two outputs where the other goes.
    fn is_harmless(&self) -> bool {
        match self.kind {
            "write" | "append" => self.target == NOWHERE,
            "duplicate" => matches!(self.target.as_str(), "1" | "2"),
            _ => false,
        }
    }
}

impl Shell {
    /// Reads a text as Bash would, without running anything.
    pub fn parse(text: &str) -> Result<Self, Unparsed> {
        let mut walk = Walk::default();
        walk.text(text, &Around::default())?;
        let lone = strict::lone(text);
        Ok(walk.settled(lone))
    }

    /// Reads several texts that one shell after the other would run.
    pub(super) fn of_texts(texts: &[&str]) -> Result<Self, Unparsed> {
        let mut walk = Walk::default();
        let mut longest = guard::LONGEST;
        for text in texts {
            longest = longest.checked_sub(text.len()).ok_or_else(|| refused("the commands are too long"))?;
            walk.text(text, &Around::default())?;
        }
        match texts {
            [] => Err(refused("there is no command in it")),
            [only] => Ok(walk.settled(strict::lone(only))),
            _ => Ok(walk.settled(false)),
        }
    }

    /// Reads words that are already apart. No shell should look at them; where one would find other words, they are in doubt.
    pub fn of_words(words: &[&str]) -> Result<Self, Unparsed> {
        if words.is_empty() {
            return Err(refused("there is no command in it"));
        }
        let mut longest = guard::LONGEST;
        for word in words {
            guard::check(word)?;
            longest = longest.checked_sub(word.len()).ok_or_else(|| refused("the command is too long"))?;
        }
        let mut walk = Walk::default();
        // Some tools join the words and give them to a shell after all.
        if !strict::joins(words) {
            walk.doubt("a shell would read the words otherwise, were they joined");
        }
        let words = words.iter().map(|word| Word::literal(word)).collect();
        walk.run(Argv { words, ..Argv::default() }, &Around::default())?;
        Ok(walk.settled(true))
    }

    /// Reads words that are already apart, or the text that they give to a shell: `["bash", "-lc", text]`.
    pub(super) fn of_words_or_text(words: &[&str]) -> Result<Self, Unparsed> {
        match interpreter::given(words) {
            Some(text) => Self::parse(text),
            None => Self::of_words(words),
        }
    }

    /// Counts a variable that is set for the whole command from outside.
    pub(super) fn with_variable(mut self, name: &str, value: &str) -> Self {
        if variable::steers(name, value) {
            self.doubt.get_or_insert_with(|| refused(format!("the variable `{name}` may change which program runs")));
        }
        for command in &mut self.commands {
            command.assignments.push(Assignment { name: name.to_owned(), value: value.to_owned() });
        }
        self.plain = false;
        self.plain_elsewhere = false;
        self
    }

    /// Counts arguments beside the command that are not known: it may be another command, and run anywhere.
    pub(super) fn beside_strangers(&mut self) {
        self.plain_beside = std::mem::take(&mut self.plain);
        self.elsewhere();
        self.plain_elsewhere = false;
        self.writes_known = false;
    }

    /// Counts a place that the call names beside the command: it may run there.
    pub(super) fn elsewhere(&mut self) {
        self.plain_elsewhere |= std::mem::take(&mut self.plain);
        self.cwd_changed = true;
        self.commands.iter_mut().for_each(|command| command.cwd_changed = true);
    }
}
