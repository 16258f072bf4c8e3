//! The tree of a text in a shell language.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use crate::RedirectionKind;

/// Commands that are separated by `;`, `&` or line ends.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Item>,
}

/// Pipelines that are joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) links: Vec<Link>,
    pub(crate) background: bool,
}

/// A pipeline, and what joins it to the one before it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) joint: Joint,
    pub(crate) pipeline: Pipeline,
}

/// What stands before a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    First,
    And,
    Or,
}

/// Commands that are joined by `|`.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) negated: bool,
    pub(crate) timed: bool,
    pub(crate) commands: Vec<CommandNode>,
}

/// A command with its redirections.
#[derive(Debug)]
pub(crate) struct CommandNode {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<RawRedirect>,
    pub(crate) span: Range<usize>,
}

/// The kinds of commands.
#[derive(Debug)]
pub(crate) enum Kind {
    Simple(Simple),
    Group(List),
    Subshell(List),
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    While {
        condition: List,
        body: List,
    },
    For(For),
    /// `for (( … ))`
    Count {
        expression: RawWord,
        body: List,
    },
    Case {
        subject: RawWord,
        arms: Vec<Arm>,
    },
    Function {
        name: String,
        body: Box<CommandNode>,
    },
    Test(Vec<RawWord>),
    Arithmetic(RawWord),
}

/// A simple command.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<RawAssignment>,
    pub(crate) words: Vec<RawWord>,
}

/// A loop over words, or a menu.
#[derive(Debug)]
pub(crate) struct For {
    pub(crate) name: String,
    /// Without words, the loop is over the arguments of the script.
    pub(crate) words: Option<Vec<RawWord>>,
    pub(crate) body: List,
    pub(crate) menu: bool,
    pub(crate) span: Range<usize>,
}

/// An arm of `case`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<RawWord>,
    pub(crate) body: List,
}

/// An assignment as written.
#[derive(Debug)]
pub(crate) struct RawAssignment {
    pub(crate) name: String,
    pub(crate) subscript: Option<RawWord>,
    pub(crate) value: RawValue,
    pub(crate) append: bool,
}

/// The value of an assignment.
#[derive(Debug)]
pub(crate) enum RawValue {
    Word(RawWord),
    Array(Vec<RawWord>),
}

/// A redirection as written.
#[derive(Debug)]
pub(crate) struct RawRedirect {
    pub(crate) kind: RedirectionKind,
    pub(crate) descriptor: Option<u32>,
    pub(crate) target: RawTarget,
    pub(crate) span: Range<usize>,
}

/// What follows the operator of a redirection.
#[derive(Debug)]
pub(crate) enum RawTarget {
    Word(RawWord),
    /// `<<<`
    HereString(RawWord),
    /// `<<`; the body is set when the parser has reached it.
    Document(Rc<OnceCell<RawWord>>),
}

/// A word as written.
#[derive(Debug, Default, Clone)]
pub(crate) struct RawWord {
    pub(crate) atoms: Vec<Atom>,
    pub(crate) span: Range<usize>,
    /// A `\` at a line end stands inside it.
    pub(crate) continued: bool,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub(crate) enum Atom {
    /// A character outside quotes.
    Bare(char),
    /// Text in quotes, or an escaped character.
    Quoted(String),
    /// `$NAME`, or `${NAME}` with `braced`.
    Variable { name: String, braced: bool, quoted: bool },
    /// Digits that only the shell knows.
    Number,
    /// A text that only the shell knows.
    Unknown { quoted: bool },
    /// `$( )`, backquotes, `<( )` or `>( )`.
    Substitution(Rc<Substitution>),
    /// `$(( ))`
    Expression(Rc<RawWord>),
    /// `${NAME…}` with an operator or a subscript.
    Operation(Rc<Operation>),
}

/// A command that stands inside a word.
#[derive(Debug)]
pub(crate) struct Substitution {
    pub(crate) list: List,
    pub(crate) kind: SubstitutionKind,
    pub(crate) quoted: bool,
    /// The span of all runs, if the list was parsed from another text.
    pub(crate) fixed: Option<Range<usize>>,
}

/// The kinds of substitutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubstitutionKind {
    /// `$( )` or backquotes
    Output,
    /// `<( )`
    Input,
    /// `>( )`
    Sink,
}

/// An expansion with an operator.
#[derive(Debug, Default)]
pub(crate) struct Operation {
    pub(crate) name: String,
    /// Words that the shell expands.
    pub(crate) words: Vec<RawWord>,
    /// Words that the shell evaluates as arithmetic.
    pub(crate) expressions: Vec<RawWord>,
    /// The variable is set if it is not set.
    pub(crate) sets: bool,
    /// Always digits.
    pub(crate) number: bool,
    pub(crate) quoted: bool,
}

impl RawWord {
    /// The text outside quotes, if the word has nothing else.
    pub(crate) fn bare(&self) -> Option<String> {
        self.atoms.iter().map(|atom| if let Atom::Bare(c) = atom { Some(*c) } else { None }).collect()
    }

    /// Divides `NAME=value` after the sign, if its braces are plain.
    pub(crate) fn divide(&self) -> Option<(String, Self)> {
        let braces = self.atoms.iter().any(|atom| matches!(atom, Atom::Bare('{')));
        let end = self.atoms.iter().position(|atom| matches!(atom, Atom::Bare('=')))? + 1;
        let atoms = self.atoms.get(end..)?.to_vec();
        let name = Self { atoms: self.atoms.get(..end)?.to_vec(), ..Self::default() }.bare()?;
        let plain = name.trim_end_matches('=').chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        (plain && !braces).then(|| (name, Self { atoms, span: self.span.clone(), continued: self.continued }))
    }

    /// The text, if the word has no expansion.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut text = String::new();
        for atom in &self.atoms {
            match atom {
                Atom::Bare(c) => text.push(*c),
                Atom::Quoted(quoted) => text.push_str(quoted),
                Atom::Variable { .. }
                | Atom::Number
                | Atom::Unknown { .. }
                | Atom::Substitution(_)
                | Atom::Expression(_)
                | Atom::Operation(_) => return None,
            }
        }
        Some(text)
    }
}
