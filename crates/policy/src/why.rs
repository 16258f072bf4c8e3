//! The first term of a rule that is false of a part of a call.

use std::fmt;

use serde::Serialize;

use crate::MismatchReason;

/// Longest text of a call that a reason repeats, in characters.
const LONGEST: usize = 80;

/// The reason why a rule does not match a part of a call, or may not match it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "term")]
pub enum Why {
    /// The rule does not match the call as a whole.
    Rule {
        /// The reason.
        why: MismatchReason,
    },
    /// The rule says nothing about parts of this kind.
    NotAbout {
        /// The kind of the part.
        kind: PartKind,
    },
    /// No pattern in `commands` matches the words of the command.
    Command {
        /// The command.
        command: String,
    },
    /// The call has no command, and the rule is about commands.
    NoCommand,
    /// A word is known only when the command runs.
    UnknownWord {
        /// The word as written.
        word: String,
    },
    /// A word does more than the pattern allows.
    Hazard {
        /// The word as written.
        word: String,
        /// What it does.
        does: Does,
    },
    /// A file that is written is not in `writes`.
    Write {
        /// The file.
        file: String,
    },
    /// A path is not in `paths`.
    Path {
        /// The path.
        path: String,
    },
    /// A file decides what runs later, and no pattern names it literally.
    Steers {
        /// The file.
        file: String,
    },
    /// A file or directory is not known.
    UnknownFile {
        /// The file as written.
        file: String,
    },
    /// A host is not in `hosts`.
    Host {
        /// The host.
        host: String,
    },
    /// An address is not a plain request of a known host.
    Address {
        /// The address.
        address: String,
    },
    /// A table is not in `tables`.
    Table {
        /// The table.
        table: String,
    },
    /// The SQL does more than read, or is not understood.
    SqlActs,
    /// A variable is not in `env`.
    Variable {
        /// The variable.
        name: String,
    },
    /// The directory is not one in which the rule allows commands.
    Directory {
        /// The directory.
        directory: String,
    },
    /// The directory is known only when the command runs.
    UnknownDirectory,
    /// The call names no path, address or SQL about which the rule could say something.
    Nothing {
        /// The key of the rule.
        key: &'static str,
    },
    /// The tool is not declared, so that it is not known whether it writes.
    Undeclared,
    /// An argument is not examined by the rule, and may change what the rule examines.
    Beside {
        /// The argument.
        argument: String,
    },
    /// A part of the call could not be parsed.
    Doubt {
        /// The reason.
        reason: String,
    },
}

/// The kind of a part of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// The whole call, which has no command, or no rule about its parts.
    Call,
    /// A program with its words.
    Run,
    /// A file that a run writes.
    Write,
    /// A variable that is set.
    Variable,
    /// A directory other than the start.
    Directory,
    /// An address that a run contacts.
    Address,
    /// A part of the text that cannot be judged.
    Doubt,
}

/// What a word does beyond its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Does {
    /// It writes or deletes a file.
    Writes,
    /// It starts another program, or loads code.
    Runs,
    /// It sends or loads over the network.
    Sends,
    /// It is not known what it does.
    Unknown,
}

impl From<command_line::HazardKind> for Does {
    fn from(kind: command_line::HazardKind) -> Self {
        match kind {
            command_line::HazardKind::Writes => Self::Writes,
            command_line::HazardKind::Runs => Self::Runs,
            command_line::HazardKind::Sends => Self::Sends,
            command_line::HazardKind::Unknown => Self::Unknown,
        }
    }
}

impl Why {
    /// How close the rule came to a match: the reason of the closest rule is shown to people.
    pub(crate) const fn closeness(&self) -> u8 {
        match self {
            Self::Rule { why: MismatchReason::Tool | MismatchReason::Suspended } => 0,
            Self::NotAbout { .. } | Self::NoCommand | Self::Nothing { .. } => 1,
            Self::Rule { .. } | Self::Command { .. } => 2,
            Self::Undeclared | Self::Doubt { .. } | Self::Host { .. } | Self::Table { .. } | Self::Variable { .. } => 3,
            Self::Write { .. } | Self::Path { .. } => 3,
            Self::UnknownWord { .. } | Self::UnknownFile { .. } | Self::UnknownDirectory | Self::Directory { .. } => 4,
            Self::Hazard { .. } | Self::Steers { .. } | Self::Address { .. } | Self::SqlActs | Self::Beside { .. } => 5,
        }
    }
}

/// A text of a call in one short line, without characters that could disguise it.
pub(crate) fn excerpt(text: &str) -> String {
    let start: String = text.chars().take(LONGEST).map(|c| if c == '`' { '\'' } else { c }).collect();
    let mut shown = domain::text::undisguised(&start);
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { why } => write!(f, "{why}"),
            Self::NotAbout { kind } => write!(f, "it says nothing about {kind}"),
            Self::Command { command } => write!(f, "no pattern in `commands` matches `{command}`"),
            Self::NoCommand => f.write_str("the call has no command"),
            Self::UnknownWord { word } => write!(f, "the value of `{word}` is known only when the command runs"),
            Self::Hazard { word, does } => write!(f, "`{word}` {does}"),
            Self::Write { file } => write!(f, "`{file}` is written and is not in `writes`"),
            Self::Path { path } => write!(f, "`{path}` is not in `paths`"),
            Self::Steers { file } => write!(f, "`{file}` decides what runs later, and no pattern names it literally"),
            Self::UnknownFile { file } => write!(f, "it is not known which file `{file}` is"),
            Self::Host { host } => write!(f, "`{host}` is not in `hosts`"),
            Self::Address { address } => write!(f, "`{address}` is not a plain request of a known host"),
            Self::Table { table } => write!(f, "`{table}` is not in `tables`"),
            Self::SqlActs => f.write_str("the SQL does more than read, or is not understood"),
            Self::Variable { name } => write!(f, "the variable `{name}` is not in `env`"),
            Self::Directory { directory } => write!(f, "the rule allows no command in the directory `{directory}`"),
            Self::UnknownDirectory => f.write_str("the directory is known only when the command runs"),
            Self::Nothing { key } => write!(f, "the call has nothing that `{key}` is about"),
            Self::Undeclared => f.write_str("the tool is not declared, and so it is not known whether it writes"),
            Self::Beside { argument } => {
                write!(f, "the argument `{argument}` may change what the rule examines, and the rule does not name it")
            }
            Self::Doubt { reason } => write!(f, "it is not trusted: {reason}"),
        }
    }
}

impl PartKind {
    /// The name of the kind, as the API shows it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Run => "run",
            Self::Write => "write",
            Self::Variable => "variable",
            Self::Directory => "directory",
            Self::Address => "address",
            Self::Doubt => "doubt",
        }
    }
}

impl fmt::Display for PartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Call => "the call as a whole",
            Self::Run => "commands",
            Self::Write => "files that commands write",
            Self::Variable => "variables",
            Self::Directory => "directories",
            Self::Address => "addresses",
            Self::Doubt => "a text that cannot be judged",
        })
    }
}

impl fmt::Display for Does {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Writes => "writes or deletes files",
            Self::Runs => "starts another program or loads code",
            Self::Sends => "sends or loads over the network",
            Self::Unknown => "does something that is not known",
        })
    }
}
