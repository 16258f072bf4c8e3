//! Expansions that begin with `$`, backquotes, and substitutions of processes.

use std::rc::Rc;

use super::parser::{Parser, ReadResult, is_end, parse};
use super::tree::{Atom, List, RawWord, Substitution, SubstitutionKind};
use super::words::push_quoted;
use crate::ShellLanguage;

impl Parser<'_> {
    /// Reads what begins with `$`.
    pub(super) fn dollar(&mut self, quoted: bool, atoms: &mut Vec<Atom>) -> ReadResult<()> {
        let atom = match self.peek_second() {
            Some('(') if self.is_next("$((") => {
                self.at += 3;
                Atom::Expression(Rc::new(self.nested(|parser| parser.expression("))"))?))
            }
            Some('(') => self.substitution(quoted)?,
            Some('{') => self.nested(|parser| parser.braced(quoted))?,
            Some('[') if self.language != ShellLanguage::Sh || quoted => return self.plain_bracket(quoted, atoms),
            Some('\'') if !quoted => Atom::Quoted(self.escaped_quote()?),
            Some('"') if !quoted => return Err(self.fail("a text in `$\"…\"` is translated")),
            Some('\\') if self.is_next("$\\\n") => return Err(self.fail("a line end divides an expansion")),
            Some(c) if c == '_' || c.is_ascii_alphabetic() => self.named(quoted)?,
            Some(c @ ('@' | '*' | '?' | '#' | '$' | '!' | '-' | '0'..='9')) => {
                self.at += 2;
                self.check_special(c)?;
                special(c, quoted)
            }
            Some('+' | '=' | '~' | '^') if self.language == ShellLanguage::Zsh => {
                return Err(self.fail("zsh has an expansion that other shells do not have"));
            }
            _ => {
                self.at += 1;
                if quoted {
                    push_quoted(atoms, '$');
                    return Ok(());
                }
                Atom::Bare('$')
            }
        };
        atoms.push(atom);
        Ok(())
    }

    /// `$[ ]` is arithmetic in Bash. A `$` before `[` is plain only where it cannot be closed.
    fn plain_bracket(&mut self, quoted: bool, atoms: &mut Vec<Atom>) -> ReadResult<()> {
        if self.language != ShellLanguage::Sh {
            return Err(self.fail("`$[` begins arithmetic"));
        }
        self.at += 1;
        if quoted {
            push_quoted(atoms, '$');
        } else {
            atoms.push(Atom::Bare('$'));
        }
        Ok(())
    }

    fn check_special(&self, c: char) -> ReadResult<()> {
        let extends = self.peek().is_some_and(|next| {
            next == '_'
                || next == '{'
                || next == '['
                || next == ':'
                || (c == '#' && !is_end(next) && !matches!(next, '"' | '\'' | '/' | '.' | ','))
        });
        if self.language == ShellLanguage::Zsh && extends {
            return Err(self.fail("zsh has an expansion that other shells do not have"));
        }
        if self.language == ShellLanguage::Zsh && c.is_ascii_digit() && self.peek().is_some_and(|c| c.is_ascii_digit())
        {
            return Err(self.fail("zsh reads more than one digit after `$`"));
        }
        Ok(())
    }

    fn named(&mut self, quoted: bool) -> ReadResult<Atom> {
        self.at += 1;
        let name = self.name();
        if self.is_next("\\\n") {
            return Err(self.fail("a line end divides an expansion"));
        }
        let modifier =
            matches!((self.peek(), self.peek_second()), (Some(':'), Some(c)) if c.is_ascii_alphabetic() || c == '#');
        if self.language == ShellLanguage::Zsh && (modifier || self.is_next("[")) {
            return Err(self.fail("zsh has an expansion that other shells do not have"));
        }
        Ok(Atom::Variable { name, braced: false, quoted })
    }

    /// Takes a name, which may be empty.
    pub(super) fn name(&mut self) -> String {
        let name: String = self.rest().chars().take_while(|c| *c == '_' || c.is_ascii_alphanumeric()).collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return String::new();
        }
        self.at += name.len();
        name
    }

    /// Reads `$( )`.
    fn substitution(&mut self, quoted: bool) -> ReadResult<Atom> {
        self.at += 2;
        let list = self.enclosed()?;
        Ok(output(list, SubstitutionKind::Output, quoted))
    }

    /// Reads `<( )` or `>( )`.
    pub(super) fn process(&mut self) -> ReadResult<Atom> {
        let kind = if self.is_next("<") { SubstitutionKind::Input } else { SubstitutionKind::Sink };
        self.at += 2;
        let list = self.enclosed()?;
        Ok(output(list, kind, true))
    }

    /// Reads commands up to a `)`.
    fn enclosed(&mut self) -> ReadResult<List> {
        let start = self.at;
        let outer = std::mem::take(&mut self.pending);
        let list = self.nested(Parser::list)?;
        self.expect(")")?;
        self.require_documents()?;
        let lines = self.text.get(start..self.at).is_some_and(|text| text.contains('\n'));
        if lines && !outer.is_empty() {
            return Err(self.fail("a substitution goes over the beginning of a here-document"));
        }
        self.pending = outer;
        Ok(list)
    }

    /// Reads a command in backquotes, which is a text of its own.
    pub(super) fn backquoted(&mut self, quoted: bool) -> ReadResult<Atom> {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.take() {
                None => {
                    self.at = start;
                    return Err(self.fail("a backquote is not closed"));
                }
                Some('`') => break,
                Some('\\') => match self.peek() {
                    Some(c @ ('`' | '\\' | '$')) => {
                        self.at += 1;
                        inner.push(c);
                    }
                    Some('\n') => return Err(self.fail("a line end is continued in backquotes")),
                    _ => inner.push('\\'),
                },
                Some('"') if quoted => return Err(self.fail("shells read a quote in quoted backquotes differently")),
                Some(c) => inner.push(c),
            }
        }
        let span = start..self.at;
        if inner.contains('\n') && !self.pending.is_empty() {
            return Err(self.fail("a substitution goes over the beginning of a here-document"));
        }
        let parsed = self.nested(|parser| parse(parser.language, &inner, parser.depth));
        let (list, doubts) = parsed.map_err(|mut doubt| {
            doubt.span = span.clone();
            doubt
        })?;
        doubts.into_iter().for_each(|doubt| self.doubt(span.clone(), doubt.reason));
        let kind = SubstitutionKind::Output;
        Ok(Atom::Substitution(Rc::new(Substitution { list, kind, quoted, fixed: Some(span) })))
    }

    /// Reads arithmetic up to its end.
    pub(super) fn expression(&mut self, end: &str) -> ReadResult<RawWord> {
        let start = self.at;
        let mut word = RawWord::default();
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None => return Err(self.fail("arithmetic is not closed")),
                Some(_) if open == 0 && self.is_next(end) => break,
                Some('\n') if !self.pending.is_empty() => return Err(self.fail("arithmetic goes over a line end")),
                Some(c @ ('(' | ')' | '[' | ']')) => {
                    open = match c {
                        '(' | '[' => open + 1,
                        _ => open.checked_sub(1).ok_or_else(|| self.fail("arithmetic is not closed"))?,
                    };
                    self.at += 1;
                    push_quoted(&mut word.atoms, c);
                }
                Some('\'' | '"' | '\\' | '{' | '}') => return Err(self.fail("arithmetic has a quote")),
                Some(_) => self.quoted_atom(&mut word.atoms, "")?,
            }
        }
        word.span = start..self.at;
        self.at += end.len();
        Ok(word)
    }
}

fn output(list: List, kind: SubstitutionKind, quoted: bool) -> Atom {
    Atom::Substitution(Rc::new(Substitution { list, kind, quoted, fixed: None }))
}

fn special(c: char, quoted: bool) -> Atom {
    match c {
        '?' | '#' | '$' | '!' => Atom::Number,
        '@' => Atom::Unknown { quoted: false },
        '*' | '-' | '0'..='9' => Atom::Unknown { quoted },
        _ => Atom::Unknown { quoted: false },
    }
}
