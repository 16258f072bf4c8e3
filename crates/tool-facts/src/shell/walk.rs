//! The collector: where every simple command that was found ends up.

use super::guard::refused;
use super::word::Word;
use super::{
    Assignment, Redirect, Shell, Simple, builtin, find, git, interpreter, output, packages, program, reader, runner,
    variable, wrapper,
};
use crate::Unparsed;
use crate::word_list::WordList;

/// How deep texts may hold texts, and wrappers wrap.
const DEEPEST: usize = 12;

/// How many simple commands one text may have.
const MOST: usize = 400;

/// Words that only the grammar may use; a command that begins with one was misread.
pub(super) static RESERVED: WordList = WordList::new(include_str!("../../data/shell/reserved_words.txt"));

/// Everything found so far.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) shell: Shell,
    /// Some program may write what its words do not tell.
    pub(super) writes_unknown: bool,
    /// Some program that can be told what to write has an option which is not known.
    pub(super) options_unknown: bool,
}

/// What surrounds a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    /// The wrappers, the outermost first.
    pub(super) via: Vec<String>,
    /// It runs on another machine.
    pub(super) remote: bool,
    /// More words will be appended when it runs.
    pub(super) appended: bool,
}

/// A simple command before anybody has looked into it.
#[derive(Debug, Default)]
pub(super) struct Argv {
    pub(super) words: Vec<Word>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) stdin: Stdin,
}

/// What a command reads.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum Stdin {
    /// What its surroundings read: nobody knows here.
    #[default]
    Inherited,
    /// This text.
    Text(String),
    /// Something else.
    Other,
}

impl Around {
    pub(super) fn under(&self, wrapper: &str) -> Self {
        let mut around = self.clone();
        around.via.push(wrapper.to_owned());
        around
    }
}

impl Walk {
    /// Draws the conclusions from what was found.
    pub(super) fn settled(self, lone: bool) -> Shell {
        let mut shell = self.shell;
        if shell.dynamic {
            shell.doubt.get_or_insert_with(|| refused("a word of it is known only when it runs"));
        }
        shell.writes_known = !self.writes_unknown && shell.doubt.is_none();
        shell.plain = lone
            && shell.doubt.is_none()
            && !self.options_unknown
            && shell.writes.is_empty()
            && shell.reads.is_empty()
            && !shell.cwd_changed
            && !(shell.pipes || shell.background || shell.substitutions || shell.globs || shell.dynamic)
            && match shell.commands.as_slice() {
                [only] => {
                    !only.program.is_empty()
                        && only.via.is_empty()
                        && only.assignments.is_empty()
                        && only.redirects.iter().all(Redirect::is_harmless)
                }
                _ => false,
            };
        shell
    }

    /// Reads a text that a shell would run.
    pub(super) fn text(&mut self, text: &str, around: &Around) -> Result<(), Unparsed> {
        if around.via.len() > DEEPEST {
            return Err(refused("commands are wrapped too deep"));
        }
        reader::read(self, text, around)
    }

    /// Takes one simple command, and whatever it would run in its turn.
    pub(super) fn run(&mut self, argv: Argv, around: &Around) -> Result<(), Unparsed> {
        if self.shell.commands.len() >= MOST {
            return Err(refused(format!("there are more than {MOST} commands")));
        }
        if around.via.len() > DEEPEST {
            return Err(refused("commands are wrapped too deep"));
        }
        self.notice_variables(&argv);
        let Some(first) = argv.words.first() else {
            self.list(&argv, around);
            return Ok(());
        };
        if RESERVED.contains(&first.text) {
            return Err(refused(format!("`{}` stands where a program should", first.text)));
        }
        if let Some(reason) = unknown(first) {
            self.doubt(reason);
            let at = self.list(&argv, around);
            if let Some(simple) = self.shell.commands.get_mut(at) {
                simple.program.clear();
                simple.name.clear();
            }
            return Ok(());
        }
        self.run_known(&argv, around)
    }

    fn run_known(&mut self, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
        let name = argv.words.first().map(|word| program::name(&word.text)).unwrap_or_default();
        let name = name.as_str();
        builtin::look(self, name, &argv.words);
        if wrapper::run(self, name, argv, around)?
            || interpreter::run(self, name, argv, around)?
            || find::run(self, name, argv, around)?
        {
            return Ok(());
        }
        let at = self.list(argv, around);
        if matches!(name, "export" | "readonly" | "unset" | "read" | "declare" | "typeset" | "local") {
            self.notice_named(&argv.words);
        }
        program::look(self, at, argv);
        output::look(self, name, argv);
        if name == "git" {
            git::look(self, at, argv);
        }
        packages::look(self, at, name, argv);
        runner::look(self, name, argv, around)
    }

    /// Puts a command on the list and gives its place.
    pub(super) fn list(&mut self, argv: &Argv, around: &Around) -> usize {
        let words: Vec<String> = argv.words.iter().map(|word| word.text.clone()).collect();
        let first = words.first().cloned().unwrap_or_default();
        let simple = Simple {
            program: program::program(&first),
            name: program::name(&first),
            path: if first.contains('/') { first } else { String::new() },
            args: words.iter().skip(1).cloned().collect(),
            words,
            subcommand: String::new(),
            assignments: argv.assignments.clone(),
            redirects: argv.redirects.clone(),
            cwd_changed: self.shell.cwd_changed,
            via: around.via.clone(),
            remote: around.remote,
            opaque: false,
            dynamic: around.appended || argv.words.iter().any(|word| word.dynamic),
            globs: argv.words.iter().any(|word| word.glob),
        };
        self.shell.dynamic |= simple.dynamic;
        self.shell.globs |= simple.globs;
        self.shell.remote |= simple.remote;
        self.shell.commands.push(simple);
        self.shell.commands.len() - 1
    }

    /// Marks a command as one that runs code which is not seen here.
    pub(super) fn opaque(&mut self, at: usize) {
        self.shell.opaque = true;
        self.writes_unknown = true;
        if let Some(simple) = self.shell.commands.get_mut(at) {
            simple.opaque = true;
        }
    }

    /// Notes why no allowing rule may rely on this; the first reason stays.
    pub(super) fn doubt(&mut self, reason: impl Into<String>) {
        self.shell.doubt.get_or_insert_with(|| refused(reason));
    }

    pub(super) fn notice_variable(&mut self, name: &str, value: &str) {
        if variable::steers(name, value) {
            self.doubt(format!("the variable `{name}` may change which program runs"));
        }
    }

    /// Notices the variables that a built-in command names.
    pub(super) fn notice_named(&mut self, words: &[Word]) {
        for word in words.iter().skip(1) {
            let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            self.notice_variable(name, value);
        }
    }

    fn notice_variables(&mut self, argv: &Argv) {
        for assignment in &argv.assignments {
            self.notice_variable(&assignment.name, &assignment.value);
            // Some variables are numbers, and what they are set to is evaluated: `RANDOM='a[$(x)]'` runs `x`.
            if builtin::evaluates(&assignment.value) {
                self.doubt(format!("what `{}` is set to may be run", assignment.name));
            }
        }
    }
}

/// Says why a program is not known from its word.
fn unknown(first: &Word) -> Option<String> {
    let text = &first.text;
    if first.dynamic || first.glob {
        return Some(format!("which program `{text}` is, is known only when it runs"));
    }
    if !text.is_ascii() {
        return Some(format!("the program `{text}` has characters that look like others"));
    }
    if text.is_empty() || text.starts_with(['-', '~', '%']) || text.contains('=') || text.contains(char::is_whitespace)
    {
        return Some(format!("`{text}` is no name of a program"));
    }
    None
}
