//! Expansions in braces: `${NAME}`, `${NAME:-word}`, `${#NAME}`.

use std::rc::Rc;

use super::parser::{Parser, ReadResult};
use super::tree::{Atom, Operation, RawWord};
use crate::ShellLanguage;

impl Parser<'_> {
    /// Reads `${…}`.
    pub(super) fn braced(&mut self, quoted: bool) -> ReadResult<Atom> {
        let start = self.at;
        self.at += 2;
        if self.is_next("#}") {
            self.at += 2;
            return Ok(Atom::Number);
        }
        let length = self.eat("#");
        let indirect = !length && self.eat("!");
        let name = self.parameter()?;
        let mut operation = Operation { name, number: length, quoted, ..Operation::default() };
        let all = self.subscript(&mut operation)?;
        if indirect {
            return self.indirect(start, operation, all.is_some());
        }
        if all == Some('@') {
            operation.quoted = false;
        }
        if self.eat("}") {
            return Ok(Self::plain(operation, length, all));
        }
        if length {
            return Err(self.fail("an expansion is not certain"));
        }
        self.operator(start, &mut operation)?;
        self.expect("}")?;
        Ok(Atom::Operation(Rc::new(operation)))
    }

    /// The name of a variable, or a sign or a number that stands for one.
    fn parameter(&mut self) -> ReadResult<String> {
        let name = self.name();
        if !name.is_empty() {
            return Ok(name);
        }
        let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
        self.at += digits.len();
        if !digits.is_empty() {
            return Ok(digits);
        }
        match self.peek() {
            Some(c @ ('@' | '*' | '?' | '$' | '!' | '-')) => {
                self.at += 1;
                Ok(c.to_string())
            }
            _ => Err(self.fail("an expansion is not certain")),
        }
    }

    /// Reads `[…]` after a name. Returns the sign if it stands for all elements.
    fn subscript(&mut self, operation: &mut Operation) -> ReadResult<Option<char>> {
        for sign in ['@', '*'] {
            if self.eat(&format!("[{sign}]")) {
                return Ok(Some(sign));
            }
        }
        if self.eat("[") {
            let expression = self.expression("]")?;
            operation.expressions.push(expression);
        }
        Ok(None)
    }

    fn plain(operation: Operation, length: bool, all: Option<char>) -> Atom {
        if operation.expressions.is_empty() && !length {
            let quoted = operation.quoted;
            return match operation.name.as_str() {
                _ if all.is_some() => Atom::Unknown { quoted },
                "@" => Atom::Unknown { quoted: false },
                "?" | "$" | "!" => Atom::Number,
                name if name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()) => {
                    Atom::Variable { name: operation.name, braced: true, quoted }
                }
                _ => Atom::Unknown { quoted },
            };
        }
        Atom::Operation(Rc::new(operation))
    }

    /// `${!NAME[@]}` are the subscripts of an array; `${!NAME}` is another variable.
    fn indirect(&mut self, start: usize, operation: Operation, all: bool) -> ReadResult<Atom> {
        let prefix = !all && (self.eat("*") || self.eat("@"));
        self.expect("}")?;
        if !(all || prefix) || self.language != ShellLanguage::Bash {
            self.doubt(start..self.at, format!("`{}` names another variable", operation.name));
        }
        Ok(Atom::Unknown { quoted: false })
    }

    fn operator(&mut self, start: usize, operation: &mut Operation) -> ReadResult<()> {
        let quoted = operation.quoted;
        if operation.name == "@" || operation.name == "*" {
            operation.quoted = false;
        }
        for sign in [":-", ":=", ":?", ":+", "-", "=", "?", "+"] {
            if self.eat(sign) {
                operation.sets = sign.ends_with('=');
                operation.words.push(self.until(&['}'], quoted)?);
                return Ok(());
            }
        }
        for sign in ["##", "#", "%%", "%"] {
            if self.eat(sign) {
                operation.words.push(self.until(&['}'], quoted)?);
                return Ok(());
            }
        }
        if self.language == ShellLanguage::Zsh && self.is_next(":") {
            return Err(self.fail("zsh has an expansion that other shells do not have"));
        }
        match self.take() {
            Some('/') => self.replacement(operation, quoted),
            Some('^' | ',') => {
                let _ = self.eat("^") || self.eat(",");
                operation.words.push(self.until(&['}'], quoted)?);
                Ok(())
            }
            Some(':') => {
                operation.expressions.push(self.offset()?);
                Ok(())
            }
            Some('@') if matches!(self.peek(), Some('Q' | 'U' | 'u' | 'L')) => {
                self.at += 1;
                Ok(())
            }
            _ => {
                self.at = start;
                Err(self.fail("an expansion is not certain"))
            }
        }
    }

    fn replacement(&mut self, operation: &mut Operation, quoted: bool) -> ReadResult<()> {
        let _ = self.eat("/");
        operation.words.push(self.until(&['}', '/'], quoted)?);
        if self.eat("/") {
            operation.words.push(self.until(&['}'], quoted)?);
        }
        Ok(())
    }

    /// Reads a word inside braces up to one of the characters.
    fn until(&mut self, ends: &[char], quoted: bool) -> ReadResult<RawWord> {
        let start = self.at;
        let mut word = RawWord::default();
        loop {
            match self.peek() {
                None => return Err(self.fail("a `}` is missing")),
                Some(c) if ends.contains(&c) => break,
                Some('\'') if quoted => return Err(self.fail("shells read a quote in a quoted expansion differently")),
                Some('\\') if self.is_next("\\\n") => return Err(self.fail("a line end divides an expansion")),
                Some('\n') if !self.pending.is_empty() => return Err(self.fail("an expansion goes over a line end")),
                Some('"') => self.nested(|parser| parser.double_quoted(&mut word.atoms))?,
                Some('{') => return Err(self.fail("an expansion is not certain")),
                Some('<' | '>') if !quoted && self.peek_second() == Some('(') => {
                    return Err(self.fail("an expansion is not certain"));
                }
                Some(_) if quoted => self.quoted_atom(&mut word.atoms, "\"\\$`}'/")?,
                Some(_) => self.atom(&mut word.atoms)?,
            }
        }
        word.span = start..self.at;
        Ok(word)
    }

    /// Reads the numbers of `${NAME:offset:length}`, without the brace that ends them.
    fn offset(&mut self) -> ReadResult<RawWord> {
        let mut word = self.expression("}")?;
        self.at -= 1;
        // The second `:` only separates the numbers.
        for atom in &mut word.atoms {
            if let Atom::Quoted(text) = atom {
                *text = text.replace(':', ",");
            }
        }
        Ok(word)
    }
}
