//! The result of reading a command line: its runs and its doubts.

use std::ops::Range;

use crate::ShellWord;

/// A shell language in which a tool declares its commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShellLanguage {
    /// The language of Bash, without options that change how words are read.
    Bash,
    /// A POSIX shell such as dash.
    Sh,
    /// Zsh with its default options.
    Zsh,
    /// PowerShell 7.
    PowerShell,
}

/// A command line: every run in it, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    /// Everything that the line can start, also in substitutions, loops, functions, here-documents, `sh -c`, `xargs` and wrappers.
    pub runs: Vec<ProgramRun>,
    /// Parts of the text that cannot be judged. A line with a doubt is never allowed by a pattern.
    pub doubts: Vec<Doubt>,
}

/// A part of the text that cannot be judged, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The bytes of the text.
    pub span: Range<usize>,
    /// The reason, in words for people: a full clause without a period.
    pub reason: String,
}

/// One simple command: a program with its words, or assignments alone (`X=1`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramRun {
    /// The program and its arguments. Empty if the command only sets variables or redirects.
    pub words: Vec<ShellWord>,
    /// Variables that are set for this command, or for the rest of the line if there are no words. Also what `export`, `read`, `for` and
    /// `declare` set.
    pub assignments: Vec<VariableAssignment>,
    /// Redirections, those of a surrounding group or loop included.
    pub redirects: Vec<Redirection>,
    /// Where the run stands, the outermost position first.
    pub position: Vec<RunPosition>,
    /// The standard input.
    pub stdin: Stdin,
    /// The directory in which it happens.
    pub directory: Directory,
    /// The bytes of the text in which the run stands. A run inside `sh -c '…'` has the span of the word that contains it.
    pub span: Range<usize>,
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableAssignment {
    /// Name of the variable.
    pub name: String,
    /// Its value.
    pub value: ShellWord,
    /// Programs that are started see it: `X=1 cmd`, `export X=1`. A plain `X=1` is not exported.
    pub exported: bool,
}

/// A redirection of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The kind.
    pub kind: RedirectionKind,
    /// The file, or the descriptor of `Duplicate`. Empty for here-documents and here-strings: their text is the standard input.
    pub target: ShellWord,
    /// The bytes of the text.
    pub span: Range<usize>,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `< file`
    Read,
    /// `> file`, `>| file`, `&> file`
    Write,
    /// `>> file`, `&>> file`
    Append,
    /// `<> file`
    ReadWrite,
    /// `2>&1`, `<&3`, `>&-`
    Duplicate,
    /// A here-document or a here-string.
    Text,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunPosition {
    /// Part of a pipeline of several commands.
    Pipe,
    /// Part of a list: `;`, `&&`, `||`, a line end.
    List,
    /// Started with `&`, or as a coprocess.
    Background,
    /// Inside `( )`.
    Subshell,
    /// Body of a loop.
    Loop,
    /// Condition or branch of `if`, `while`, `case`, or after `!`.
    Condition,
    /// Inside `$( )`, backticks, `<( )` or `>( )`.
    Substitution,
    /// Inside an unquoted here-document.
    HereDocument,
    /// Body of a function with this name.
    Function(String),
    /// Started by `xargs` or `find -exec`.
    Arguments(String),
    /// The text of `sh -c`, `eval` or `trap`.
    Text(String),
    /// Started by a wrapper, such as `timeout` or `sudo`.
    Wrapper(String),
}

/// The standard input of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stdin {
    /// That of the tool, which is not known.
    #[default]
    Inherited,
    /// The output of another run.
    Pipe,
    /// A text that is known: a quoted here-document, a here-string without expansions.
    Text(String),
    /// A text with parts that only the shell knows.
    UnknownText,
    /// A file.
    File,
}

/// The directory in which a run happens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Directory {
    /// The directory in which the line starts.
    #[default]
    Start,
    /// This path, relative to the directory in which the line starts or absolute; `.` and `..` are not resolved.
    At(String),
    /// It is not known.
    Unknown,
}
