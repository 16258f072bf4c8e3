//! Declarations: what the arguments of a tool are, and in which language.

use std::collections::BTreeMap;
use std::fmt;

use command_line::ShellLanguage;

/// What the arguments of a tool are. A declared argument is read by its declared use alone; the others are found by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declaration {
    /// The language of the tool's shell commands. Without it, a command has to be one that every shell reads alike.
    pub shell: Option<ShellLanguage>,
    /// The dialect of the tool's SQL. Without it, SQL has to be a text that every database reads alike.
    pub sql: Option<SqlDialect>,
    /// The use of each argument. `a.b` is a field of an object, and `edits[].path` a field of every item of a list.
    pub arguments: BTreeMap<String, ArgumentUse>,
    /// What the tool does, if that is known. It is information for presets; no fact depends on it.
    pub effect: Option<ToolEffect>,
}

impl Declaration {
    /// Checks that the parts of the declaration fit together. The error is a sentence for the person who wrote it.
    pub fn check(&self) -> Result<(), String> {
        for name in self.arguments.keys() {
            check_argument_name(name)?;
        }
        let has = |wanted: ArgumentUse| self.arguments.values().any(|kind| *kind == wanted);
        if self.shell.is_some() && !has(ArgumentUse::Shell) && !has(ArgumentUse::Words) {
            return Err("a shell language is given, but no argument is `shell` or `words`".to_owned());
        }
        if self.sql.is_some() && !has(ArgumentUse::Sql) {
            return Err("a dialect of SQL is given, but no argument is `sql`".to_owned());
        }
        for outer in self.arguments.keys() {
            let inner =
                |inner: &&String| inner.strip_prefix(outer.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']));
            if let Some(inner) = self.arguments.keys().find(inner) {
                return Err(format!("`{inner}` is a part of `{outer}`, which is declared as a whole"));
            }
        }
        Ok(())
    }
}

/// Checks the name of a declared argument: fields with periods between them, and `[]` after a list. The error is a sentence for the person who
/// wrote it.
pub fn check_argument_name(name: &str) -> Result<(), String> {
    let good = |part: &str| {
        let field = part.trim_end_matches("[]");
        !field.is_empty() && !field.contains(['[', ']']) && field.trim() == field
    };
    if name.split('.').all(good) {
        Ok(())
    } else {
        Err(format!(
            "`{}` is not the name of an argument; write `path`, `request.url` or `edits[].path`",
            name.escape_debug()
        ))
    }
}

/// The use of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArgumentUse {
    /// A shell command: a text. A list is not understood, because a tool may join it to a text.
    Shell,
    /// The words of one command as a list, which no shell reads. A text is read as a shell command.
    Words,
    /// A path that is read or written, which is not known.
    Path,
    /// A path that is only read.
    ReadPath,
    /// A path that is written, created, moved or deleted.
    WritePath,
    /// A patch, which names the files that it writes.
    Patch,
    /// An address that is requested.
    Url,
    /// SQL.
    Sql,
    /// Data that is never parsed and steers nothing.
    Text,
    /// The directory in which the command of the call happens.
    Cwd,
}

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SqlDialect {
    /// PostgreSQL.
    Postgresql,
    /// `MySQL` and `MariaDB` with their default modes.
    Mysql,
    /// SQLite.
    Sqlite,
    /// The SQL of `BigQuery`.
    Bigquery,
    /// Transact-SQL of SQL Server.
    Tsql,
}

/// What a tool does, as far as its declaration tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ToolEffect {
    /// It reads files or state of the workspace, and changes nothing.
    Reads,
    /// It writes files or other state.
    Writes,
    /// It runs programs.
    Runs,
    /// It requests addresses of the network.
    Fetches,
    /// It has no effect outside the agent, such as a list of things to do.
    None,
}

/// A name that a declaration may not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of the name, with its article: `a shell language`.
    pub kind: &'static str,
    /// The name as it was given.
    pub name: String,
    /// The names that exist.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}; use one of {}", self.name.escape_debug(), self.kind, self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// The shell languages by their names.
const SHELLS: &[(&str, ShellLanguage)] = &[
    ("bash", ShellLanguage::Bash),
    ("sh", ShellLanguage::Sh),
    ("zsh", ShellLanguage::Zsh),
    ("powershell", ShellLanguage::PowerShell),
];

/// The names of the shell languages that a declaration may give.
#[must_use]
pub fn shell_names() -> Vec<&'static str> {
    names(SHELLS)
}

/// Returns the shell language of a name, such as `bash`.
pub fn parse_shell(name: &str) -> Result<ShellLanguage, UnknownName> {
    find(SHELLS, "a shell language", name)
}

impl ArgumentUse {
    const ALL: &[(&str, Self)] = &[
        ("shell", Self::Shell),
        ("path", Self::Path),
        ("read_path", Self::ReadPath),
        ("write_path", Self::WritePath),
        ("words", Self::Words),
        ("patch", Self::Patch),
        ("url", Self::Url),
        ("sql", Self::Sql),
        ("text", Self::Text),
        ("cwd", Self::Cwd),
    ];

    /// The names of all uses.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        names(Self::ALL)
    }

    /// Returns the use of a name, such as `read_path`.
    pub fn parse(name: &str) -> Result<Self, UnknownName> {
        find(Self::ALL, "a use of an argument", name)
    }

    /// The name of the use.
    #[must_use]
    pub fn name(self) -> &'static str {
        name_of(Self::ALL, self)
    }

    /// Says whether the argument is a command.
    #[must_use]
    pub fn is_command(self) -> bool {
        matches!(self, Self::Shell | Self::Words)
    }

    /// Says whether the argument names a file or a directory that the call reads or writes.
    #[must_use]
    pub fn is_path(self) -> bool {
        matches!(self, Self::Path | Self::ReadPath | Self::WritePath | Self::Patch)
    }
}

impl SqlDialect {
    const ALL: &[(&str, Self)] = &[
        ("postgresql", Self::Postgresql),
        ("mysql", Self::Mysql),
        ("sqlite", Self::Sqlite),
        ("bigquery", Self::Bigquery),
        ("tsql", Self::Tsql),
    ];

    /// The names of all dialects.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        names(Self::ALL)
    }

    /// Returns the dialect of a name, such as `postgresql`.
    pub fn parse(name: &str) -> Result<Self, UnknownName> {
        find(Self::ALL, "a dialect of SQL", name)
    }

    /// The name of the dialect.
    #[must_use]
    pub fn name(self) -> &'static str {
        name_of(Self::ALL, self)
    }
}

impl ToolEffect {
    const ALL: &[(&str, Self)] = &[
        ("reads", Self::Reads),
        ("writes", Self::Writes),
        ("runs", Self::Runs),
        ("fetches", Self::Fetches),
        ("none", Self::None),
    ];

    /// The names of all effects.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        names(Self::ALL)
    }

    /// Returns the effect of a name, such as `reads`.
    pub fn parse(name: &str) -> Result<Self, UnknownName> {
        find(Self::ALL, "an effect of a tool", name)
    }
}

fn names<T>(all: &[(&'static str, T)]) -> Vec<&'static str> {
    all.iter().map(|(name, _)| *name).collect()
}

fn find<T: Copy>(all: &[(&'static str, T)], kind: &'static str, name: &str) -> Result<T, UnknownName> {
    let found = all.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
    found.ok_or_else(|| UnknownName { kind, name: name.to_owned(), known: names(all) })
}

fn name_of<T: Copy + PartialEq>(all: &[(&'static str, T)], value: T) -> &'static str {
    all.iter().find(|(_, own)| *own == value).map_or("", |(name, _)| *name)
}
