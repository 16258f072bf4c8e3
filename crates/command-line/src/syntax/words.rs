//! Words and quotes.

use super::parser::{Parser, ReadResult, is_end, is_unseen};
use super::tree::{Atom, RawWord};
use crate::ShellLanguage;

impl Parser<'_> {
    /// Reads a word. It is empty if no word begins here.
    pub(super) fn word(&mut self) -> ReadResult<RawWord> {
        let start = self.at;
        let mut word = RawWord::default();
        while let Some(c) = self.peek() {
            if matches!(c, '<' | '>') && self.peek_second() == Some('(') && self.may_substitute(&word) {
                let atom = self.process()?;
                word.atoms.push(atom);
            } else if is_end(c) {
                break;
            } else if self.is_next("\\\n") {
                self.at += 2;
                word.continued = true;
            } else {
                self.atom(&mut word.atoms)?;
            }
        }
        self.check_continued(&word)?;
        if self.language == ShellLanguage::Zsh {
            self.check_zsh(&word)?;
        }
        word.span = start..self.at;
        Ok(word)
    }

    /// `<(` within a word is a substitution in Bash only.
    fn may_substitute(&self, word: &RawWord) -> bool {
        match self.language {
            ShellLanguage::Bash => true,
            ShellLanguage::Zsh => word.atoms.is_empty(),
            ShellLanguage::Sh | ShellLanguage::PowerShell => false,
        }
    }

    fn check_continued(&self, word: &RawWord) -> ReadResult<()> {
        let digits = word.bare().is_some_and(|bare| bare.chars().all(|c| c.is_ascii_digit()));
        if word.continued && digits && matches!(self.peek(), Some('<' | '>')) {
            return Err(self.fail("a line end divides a redirection"));
        }
        Ok(())
    }

    /// Refuses what only zsh gives a meaning.
    fn check_zsh(&mut self, word: &RawWord) -> ReadResult<()> {
        let count = |sign: char| word.atoms.iter().filter(|atom| matches!(atom, Atom::Bare(c) if *c == sign)).count();
        let named = word.bare().is_some_and(|bare| {
            let name = bare.strip_prefix('{').and_then(|bare| bare.strip_suffix('}'));
            name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()))
        });
        if named || count('{') != count('}') {
            return Err(self.fail("zsh reads braces differently"));
        }
        let known =
            |atom: &Atom| matches!(atom, Atom::Bare(_)) || matches!(atom, Atom::Quoted(text) if !text.is_empty());
        let first = word.atoms.iter().position(known);
        if first.is_some_and(|at| at > 0 && matches!(word.atoms.get(at), Some(Atom::Bare('~' | '=')))) {
            return Err(self.fail("zsh replaces a word that may begin with `~` or `=`"));
        }
        match word.atoms.first() {
            Some(Atom::Bare('=')) if word.atoms.len() > 1 => Err(self.fail("zsh replaces a word that begins with `=`")),
            Some(Atom::Bare('}')) => Err(self.fail("zsh ends a group at `}`")),
            _ => Ok(()),
        }
    }

    /// Reads one piece of a word outside quotes.
    pub(super) fn atom(&mut self, atoms: &mut Vec<Atom>) -> ReadResult<()> {
        let start = self.at;
        match self.peek() {
            None => Ok(()),
            Some('\'') => {
                let text = self.single_quoted()?;
                atoms.push(Atom::Quoted(text));
                Ok(())
            }
            Some('"') => self.double_quoted(atoms),
            Some('\\') => self.escaped(atoms),
            Some('$') => self.dollar(false, atoms),
            Some('`') => {
                let atom = self.backquoted(false)?;
                atoms.push(atom);
                Ok(())
            }
            Some(c) => {
                self.at += c.len_utf8();
                self.check_seen(c, start);
                atoms.push(Atom::Bare(c));
                Ok(())
            }
        }
    }

    pub(super) fn check_seen(&mut self, c: char, start: usize) {
        if is_unseen(c) {
            self.doubt(start..self.at, format!("the character U+{:04X} is not visible", u32::from(c)));
        }
    }

    fn escaped(&mut self, atoms: &mut Vec<Atom>) -> ReadResult<()> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.take() else { return Err(self.fail("nothing follows `\\`")) };
        if c != '\n' {
            self.check_seen(c, start);
            atoms.push(Atom::Quoted(c.to_string()));
        }
        Ok(())
    }

    fn check_quote(&self, quoted: &str) -> ReadResult<()> {
        if quoted.contains('\0') {
            return Err(self.fail("the text has the character U+0000"));
        }
        if quoted.contains('\n') && !self.pending.is_empty() {
            return Err(self.fail("a quote goes over the beginning of a here-document"));
        }
        Ok(())
    }

    fn single_quoted(&mut self) -> ReadResult<String> {
        let rest = self.rest().get(1..).unwrap_or_default();
        let Some((quoted, _)) = rest.split_once('\'') else { return Err(self.fail("a quote is not closed")) };
        self.check_quote(quoted)?;
        self.at += quoted.len() + 2;
        Ok(quoted.to_owned())
    }

    pub(super) fn double_quoted(&mut self, atoms: &mut Vec<Atom>) -> ReadResult<()> {
        let start = self.at;
        self.at += 1;
        atoms.push(Atom::Quoted(String::new()));
        loop {
            match self.peek() {
                None => {
                    self.at = start;
                    return Err(self.fail("a quote is not closed"));
                }
                Some('"') => {
                    self.at += 1;
                    let text = self.text.get(start..self.at).unwrap_or_default();
                    return self.check_quote(text);
                }
                Some(_) => self.quoted_atom(atoms, "\"\\$`")?,
            }
        }
    }

    /// Reads one piece inside double quotes or a here-document. A `\` stands for itself unless one of `escapes` follows.
    pub(super) fn quoted_atom(&mut self, atoms: &mut Vec<Atom>, escapes: &str) -> ReadResult<()> {
        match self.peek() {
            Some('\\') => {
                self.at += 1;
                match self.peek() {
                    Some('\n') => self.at += 1,
                    Some(c) if escapes.contains(c) => {
                        self.at += 1;
                        push_quoted(atoms, c);
                    }
                    _ => push_quoted(atoms, '\\'),
                }
                Ok(())
            }
            Some('$') => self.dollar(true, atoms),
            Some('`') => {
                let atom = self.backquoted(true)?;
                atoms.push(atom);
                Ok(())
            }
            Some('\0') => Err(self.fail("the text has the character U+0000")),
            Some(c) => {
                self.at += c.len_utf8();
                push_quoted(atoms, c);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Reads `$'…'`.
    pub(super) fn escaped_quote(&mut self) -> ReadResult<String> {
        if self.language == ShellLanguage::Sh {
            return Err(self.fail("shells that are called `sh` read `$'` differently"));
        }
        self.at += 2;
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err(self.fail("a quote is not closed")),
                Some('\'') => {
                    self.check_quote(&text)?;
                    return Ok(text);
                }
                Some('\\') => {
                    let c = self.escape()?;
                    text.push(c);
                }
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> ReadResult<char> {
        let unknown = "an escape in `$'…'` is not certain";
        let Some(c) = self.take() else { return Err(self.fail("a quote is not closed")) };
        Ok(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => c,
            'x' => self.code(16, 2, 0x7f)?,
            'u' => self.code(16, 4, u32::MAX)?,
            'U' => self.code(16, 8, u32::MAX)?,
            '0'..='7' => {
                self.at -= 1;
                self.code(8, 3, 0x7f)?
            }
            _ => return Err(self.fail(unknown)),
        })
    }

    fn code(&mut self, radix: u32, longest: usize, largest: u32) -> ReadResult<char> {
        let digits: String = self.rest().chars().take(longest).take_while(|c| c.is_digit(radix)).collect();
        self.at += digits.len();
        u32::from_str_radix(&digits, radix)
            .ok()
            .filter(|code| *code != 0 && *code <= largest)
            .and_then(char::from_u32)
            .ok_or_else(|| self.fail("an escape in `$'…'` is not certain"))
    }
}

/// Adds a character to the quoted text at the end.
pub(super) fn push_quoted(atoms: &mut Vec<Atom>, c: char) {
    if let Some(Atom::Quoted(text)) = atoms.last_mut() {
        text.push(c);
    } else {
        atoms.push(Atom::Quoted(c.to_string()));
    }
}
