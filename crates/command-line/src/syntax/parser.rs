//! The position in the text, and what surrounds the grammar: blanks, comments, line ends and limits.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::tree::{List, RawWord};
use crate::{Doubt, ShellLanguage};

/// Deepest nesting of commands and expansions.
const DEEPEST: usize = 50;

/// A result of the parser.
pub(crate) type ReadResult<T> = Result<T, Doubt>;

/// A parser for one text.
pub(crate) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) language: ShellLanguage,
    pub(super) depth: usize,
    pub(super) pending: Vec<Pending>,
    pub(super) doubts: Vec<Doubt>,
}

/// A here-document whose body has not been reached.
pub(super) struct Pending {
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strips_tabs: bool,
    pub(super) body: Rc<OnceCell<RawWord>>,
}

/// Parses a whole text. The doubts are about parts that were read in one of several ways.
pub(crate) fn parse(language: ShellLanguage, text: &str, depth: usize) -> ReadResult<(List, Vec<Doubt>)> {
    let mut parser = Parser { text, at: 0, language, depth, pending: Vec::new(), doubts: Vec::new() };
    let list = parser.nested(Parser::list)?;
    if parser.at < text.len() {
        return Err(parser.fail("a command cannot begin here"));
    }
    parser.require_documents()?;
    Ok((list, parser.doubts))
}

impl<'t> Parser<'t> {
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn is_next(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Takes a text if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let next = self.is_next(text);
        if next {
            self.at += text.len();
        }
        next
    }

    pub(super) fn expect(&mut self, text: &str) -> ReadResult<()> {
        if self.eat(text) { Ok(()) } else { Err(self.fail(&format!("`{text}` is missing here"))) }
    }

    /// An error at the present position.
    pub(super) fn fail(&self, reason: &str) -> Doubt {
        let end = self.text.len();
        Doubt { span: self.at.min(end)..end, reason: reason.to_owned() }
    }

    pub(super) fn doubt(&mut self, span: Range<usize>, reason: impl Into<String>) {
        self.doubts.push(Doubt { span, reason: reason.into() });
    }

    /// Parses something one level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> ReadResult<T>) -> ReadResult<T> {
        if self.depth >= DEEPEST {
            return Err(self.fail("the commands are nested too deeply"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Passes blanks, continued lines, and a comment.
    pub(super) fn skip_blanks(&mut self) -> ReadResult<()> {
        let before = self.text.get(..self.at).and_then(|before| before.chars().next_back());
        let continued = self.is_next("\\\n");
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' => self.at += 1,
                '\\' if self.is_next("\\\n") => self.at += 2,
                _ => break,
            }
        }
        let glued = self.text.get(..self.at).is_some_and(|before| before.ends_with("\\\n"));
        if continued && glued && self.peek().is_some_and(is_operator) && before.is_some_and(is_operator) {
            return Err(self.fail("a line end divides an operator"));
        }
        if self.peek() == Some('#') {
            if glued {
                return Err(self.fail("a line end stands before `#`"));
            }
            self.comment();
        }
        Ok(())
    }

    fn comment(&mut self) {
        let start = self.at;
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.at += length;
        let unseen = self.text.get(start..self.at).is_some_and(|comment| comment.contains(is_unseen));
        if unseen {
            self.doubt(start..self.at, "a comment has characters that are not visible");
        }
    }

    /// Takes a line end, and the here-documents that begin after it.
    pub(super) fn line_end(&mut self) -> ReadResult<bool> {
        if !self.eat("\n") {
            return Ok(false);
        }
        self.documents()?;
        Ok(true)
    }

    /// Passes blanks, comments and line ends.
    pub(super) fn lines(&mut self) -> ReadResult<()> {
        loop {
            self.skip_blanks()?;
            if !self.line_end()? {
                return Ok(());
            }
        }
    }

    /// Notes a construct that only some shells that are called `sh` have.
    pub(super) fn is_extension(&mut self, start: usize, what: &str) {
        if self.language == ShellLanguage::Sh {
            let span = start..self.at.max(start);
            self.doubt(span, format!("shells that are called `sh` read {what} differently"));
        }
    }
}

/// Says whether a character is a part of an operator.
pub(super) fn is_operator(c: char) -> bool {
    matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// Says whether a character ends a word.
pub(super) fn is_end(c: char) -> bool {
    is_operator(c) || matches!(c, ' ' | '\t' | '\n')
}

/// Says whether a person cannot see a character, or takes it for a blank.
pub(crate) fn is_unseen(c: char) -> bool {
    let invisible = matches!(u32::from(c),
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xE000..=0xF8FF
        | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF | 0xF_0000..=0x10_FFFF);
    invisible || (c.is_control() && c != '\n' && c != '\t') || (c.is_whitespace() && !c.is_ascii())
}
