//! The collector of the simple commands that a text could run.

use super::guard::refused;
use super::word::Word;
use super::{
    Assignment, Redirect, Shell, Simple, builtin, find, git, interpreter, output, packages, program, reader, runner,
    variable, wrapper,
};
use crate::Unparsed;
use crate::word_list::WordList;

/// Deepest nesting of wrappers, and of texts within texts.
const DEEPEST: usize = 12;

/// Largest number of simple commands in one text.
const MOST: usize = 400;

/// Words that belong to the grammar of shells. A simple command that begins with one was misread.
pub(super) static RESERVED: WordList = WordList::new(include_str!("../../data/shell/reserved_words.txt"));

/// The commands found so far.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) shell: Shell,
    /// Some program may write files that its arguments do not name.
    pub(super) writes_unknown: bool,
    /// Some program that writes named files has an unknown option.
    pub(super) options_unknown: bool,
}

/// The surroundings of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct CommandContext {
    /// The wrappers around the command, the outermost first.
    pub(super) via: Vec<String>,
    /// The command runs on another machine.
    pub(super) remote: bool,
    /// More words are appended when the command runs, as by `xargs`.
    pub(super) appended: bool,
}

/// A simple command before it is examined.
#[derive(Debug, Default)]
pub(super) struct Argv {
    pub(super) words: Vec<Word>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) stdin: Stdin,
}

/// The standard input of a command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum Stdin {
    /// The standard input of the surroundings, which is not known.
    #[default]
    Inherited,
    /// A known text.
    Text(String),
    /// Another source, such as a file.
    Other,
}

impl CommandContext {
    pub(super) fn under(&self, wrapper: &str) -> Self {
        let mut context = self.clone();
        context.via.push(wrapper.to_owned());
        context
    }
}

impl Collector {
    /// Computes the properties of the whole text from the commands found. `lone` says that the text is one simple command.
    pub(super) fn into_shell(self, lone: bool) -> Shell {
        let mut shell = self.shell;
        if shell.dynamic {
            shell.doubt.get_or_insert_with(|| refused("a word is known only when the command runs"));
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

    /// Parses a text that a shell would run.
    pub(super) fn text(&mut self, text: &str, context: &CommandContext) -> Result<(), Unparsed> {
        if context.via.len() > DEEPEST {
            return Err(refused("commands are nested too deep"));
        }
        reader::read(self, text, context)
    }

    /// Adds a simple command, and the commands that it would run.
    pub(super) fn run(&mut self, argv: Argv, context: &CommandContext) -> Result<(), Unparsed> {
        if self.shell.commands.len() >= MOST {
            return Err(refused(format!("there are more than {MOST} commands")));
        }
        if context.via.len() > DEEPEST {
            return Err(refused("commands are nested too deep"));
        }
        self.check_assignments(&argv);
        let Some(first) = argv.words.first() else {
            self.add_command(&argv, context);
            return Ok(());
        };
        if RESERVED.contains(&first.text) {
            return Err(refused(format!("`{}` stands where a program is expected", first.text)));
        }
        if let Some(reason) = unknown(first) {
            self.add_doubt(reason);
            let at = self.add_command(&argv, context);
            if let Some(simple) = self.shell.commands.get_mut(at) {
                simple.program.clear();
                simple.name.clear();
            }
            return Ok(());
        }
        self.run_known(&argv, context)
    }

    fn run_known(&mut self, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
        let name = argv.words.first().map(|word| program::name(&word.text)).unwrap_or_default();
        let name = name.as_str();
        builtin::inspect(self, name, &argv.words);
        if wrapper::run(self, name, argv, context)?
            || interpreter::run(self, name, argv, context)?
            || find::run(self, name, argv, context)?
        {
            return Ok(());
        }
        self.list(name, argv, context);
        runner::inspect(self, name, argv, context)
    }

    /// Adds a simple command whose further commands are added by the caller.
    pub(super) fn run_alone(&mut self, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
        if self.shell.commands.len() >= MOST {
            return Err(refused(format!("there are more than {MOST} commands")));
        }
        self.check_assignments(argv);
        let name = argv.words.first().map(|word| program::name(&word.text)).unwrap_or_default();
        builtin::inspect(self, &name, &argv.words);
        self.list(&name, argv, context);
        Ok(())
    }

    /// Adds a command to the list, and what the tables say about it.
    fn list(&mut self, name: &str, argv: &Argv, context: &CommandContext) {
        let at = self.add_command(argv, context);
        if matches!(name, "export" | "readonly" | "unset" | "read" | "declare" | "typeset" | "local") {
            self.check_named_variables(&argv.words);
        }
        program::inspect(self, at, argv);
        output::inspect(self, name, argv);
        if name == "git" {
            git::inspect(self, at, argv);
        }
        packages::inspect(self, at, name, argv);
    }

    /// Adds a command to the list and gives its index.
    pub(super) fn add_command(&mut self, argv: &Argv, context: &CommandContext) -> usize {
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
            via: context.via.clone(),
            remote: context.remote,
            opaque: false,
            dynamic: context.appended || argv.words.iter().any(|word| word.dynamic),
            globs: argv.words.iter().any(|word| word.glob),
        };
        self.shell.dynamic |= simple.dynamic;
        self.shell.globs |= simple.globs;
        self.shell.remote |= simple.remote;
        self.shell.commands.push(simple);
        self.shell.commands.len() - 1
    }

    /// Marks a command that runs code which is not parsed.
    pub(super) fn mark_opaque(&mut self, at: usize) {
        self.shell.opaque = true;
        self.writes_unknown = true;
        if let Some(simple) = self.shell.commands.get_mut(at) {
            simple.opaque = true;
        }
    }

    /// Sets the reason why no allowing rule may rely on the facts, unless there is one already.
    pub(super) fn add_doubt(&mut self, reason: impl Into<String>) {
        self.shell.doubt.get_or_insert_with(|| refused(reason));
    }

    pub(super) fn check_variable(&mut self, name: &str, value: &str) {
        if variable::may_steer(name, value) {
            self.add_doubt(format!("`${name}` decides what runs"));
        }
    }

    /// Checks the variables that a built-in command names.
    pub(super) fn check_named_variables(&mut self, words: &[Word]) {
        for word in words.iter().skip(1) {
            let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            self.check_variable(name, value);
        }
    }

    fn check_assignments(&mut self, argv: &Argv) {
        for assignment in &argv.assignments {
            self.check_variable(&assignment.name, &assignment.value);
            // The shell evaluates the values of numeric variables: `RANDOM='a[$(x)]'` runs `x`.
            if builtin::evaluates(&assignment.value) {
                self.add_doubt(format!("the value of `{}` may be run as a program", assignment.name));
            }
        }
    }
}

/// The reason why the first word does not tell which program runs, if it does not.
fn unknown(first: &Word) -> Option<String> {
    let text = &first.text;
    if first.dynamic || first.glob {
        return Some(format!("the program `{text}` is known only when it runs"));
    }
    if !text.is_ascii() {
        return Some(format!("the program `{text}` has characters that look like others"));
    }
    if text.is_empty() || text.starts_with(['-', '~', '%']) || text.contains('=') || text.contains(char::is_whitespace)
    {
        return Some(format!("`{text}` is not the name of a program"));
    }
    None
}
