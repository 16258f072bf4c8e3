//! One word of a command, as far as the text tells its value.

use std::ops::Range;

/// A word after the shell has removed the quotes. Brace expansion is done: `{a,b}` is two words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellWord {
    /// The parts, in order. Adjacent literals are one part. An empty word (`""`) has no part.
    pub parts: Vec<WordPart>,
    /// The bytes of the text in which the word stands.
    pub span: Range<usize>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPart {
    /// Text that is known.
    Literal(String),
    /// An unquoted pattern over file names (`*`, `?`, `[a-z]`, `*.{rs,toml}` after brace expansion). It stands for characters other than `/`, except
    /// for `**`, which also stands for `/`. The word becomes the names that match, at least one.
    Glob(String),
    /// The home directory (`~` at the beginning of a word).
    Home,
    /// Digits that only the shell knows, such as `$?` and `$#`.
    Number,
    /// Text that only the shell knows, such as `$X` and `$(cmd)`.
    Unknown {
        /// A quoted part is a part of one word. An unquoted part is any number of words, none included.
        quoted: bool,
    },
}

impl ShellWord {
    /// A word of known text that no shell reads.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        let parts = if text.is_empty() { Vec::new() } else { vec![WordPart::Literal(text.to_owned())] };
        Self { parts, span: 0..0 }
    }

    /// The text, if all of it is known.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [WordPart::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The word with a text before it.
    pub(crate) fn after(mut self, text: &str) -> Self {
        if let Some(WordPart::Literal(first)) = self.parts.first_mut() {
            first.insert_str(0, text);
        } else {
            self.parts.insert(0, WordPart::Literal(text.to_owned()));
        }
        self
    }

    /// The known text at the beginning, which may be empty.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(WordPart::Literal(text)) => text,
            _ => "",
        }
    }

    /// Says whether the shell makes exactly one word of it. A pattern and an unquoted unknown part may become several words.
    #[must_use]
    pub fn is_one(&self) -> bool {
        !self.parts.iter().any(|part| matches!(part, WordPart::Glob(_) | WordPart::Unknown { quoted: false }))
    }

    /// Says whether a word that the shell makes of it may begin with `-`.
    #[must_use]
    pub fn may_be_option(&self) -> bool {
        if self.parts.iter().any(|part| matches!(part, WordPart::Unknown { quoted: false })) {
            return true;
        }
        match self.parts.first() {
            Some(WordPart::Literal(text)) => text.starts_with('-'),
            Some(WordPart::Glob(_) | WordPart::Unknown { .. }) => true,
            Some(WordPart::Home | WordPart::Number) | None => false,
        }
    }
}
