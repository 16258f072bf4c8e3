//! Lists, pipelines and simple commands.

use super::parser::{Parser, ReadResult, is_end};
use super::tree::{
    Atom, CommandNode, Item, Joint, Kind, Link, List, Pipeline, RawAssignment, RawRedirect, RawTarget, RawValue,
    RawWord, Simple,
};
use crate::{RedirectionKind, ShellLanguage};

/// Words that have a meaning where a command begins.
const RESERVED: &[&str] = &[
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while",
];

/// Words that only zsh reserves.
const ZSH_RESERVED: &[&str] = &["-", "always", "end", "foreach", "nocorrect", "noglob", "repeat"];

/// Largest number of redirections of one command.
const MOST_REDIRECTS: usize = 32;

/// Words that end a list.
const CLOSING: &[&str] = &["do", "done", "elif", "else", "esac", "fi", "then", "}"];

impl Parser<'_> {
    /// Reads commands up to a word or an operator that ends them, which is left.
    pub(super) fn list(&mut self) -> ReadResult<List> {
        let mut list = List::default();
        loop {
            self.lines()?;
            if self.is_list_end() {
                return Ok(list);
            }
            let links = self.chain()?;
            self.skip_blanks()?;
            let background = self.is_next("&") && !self.is_next("&&");
            let separated = match self.peek() {
                Some('&') if background => self.eat("&"),
                Some(';') if !self.is_next(";;") && !self.is_next(";&") && !self.is_next(";|") => self.eat(";"),
                Some('\n') => self.line_end()?,
                _ => false,
            };
            if background && matches!(self.peek(), Some('|' | '!' | '&' | ';')) {
                return Err(self.fail("a command cannot begin here"));
            }
            list.items.push(Item { links, background });
            if !separated {
                return Ok(list);
            }
        }
    }

    /// Reads commands that must be there.
    pub(super) fn commands(&mut self) -> ReadResult<List> {
        let list = self.nested(Self::list)?;
        if list.items.is_empty() { Err(self.fail("a command is missing here")) } else { Ok(list) }
    }

    fn is_list_end(&self) -> bool {
        match self.peek() {
            None | Some(')') => true,
            Some(';') => self.is_next(";;") || self.is_next(";&") || self.is_next(";|"),
            Some(_) => CLOSING.iter().any(|word| self.is_word_next(word)),
        }
    }

    /// Says whether this word outside quotes comes next.
    pub(super) fn is_word_next(&self, word: &str) -> bool {
        self.rest().strip_prefix(word).is_some_and(|after| after.chars().next().is_none_or(is_end))
    }

    /// Takes a reserved word, or fails.
    pub(super) fn expect_word(&mut self, word: &str) -> ReadResult<()> {
        self.lines()?;
        if self.is_word_next(word) && self.eat(word) { Ok(()) } else { Err(self.fail(&format!("`{word}` is missing"))) }
    }

    fn chain(&mut self) -> ReadResult<Vec<Link>> {
        let mut links = vec![Link { joint: Joint::First, pipeline: self.pipeline()? }];
        loop {
            self.skip_blanks()?;
            let joint = if self.eat("&&") {
                Joint::And
            } else if self.is_next("||") && self.eat("||") {
                Joint::Or
            } else {
                return Ok(links);
            };
            self.lines()?;
            links.push(Link { joint, pipeline: self.pipeline()? });
        }
    }

    fn pipeline(&mut self) -> ReadResult<Pipeline> {
        let (mut negated, mut timed) = (false, false);
        loop {
            self.skip_blanks()?;
            if self.is_word_next("!") && !self.is_next("!(") {
                if negated {
                    return Err(self.fail("`!` stands twice"));
                }
                negated = self.eat("!");
            } else if !timed && self.is_timing() {
                timed = self.eat("time");
                self.skip_blanks()?;
                let _ = self.is_word_next("-p") && self.eat("-p");
            } else {
                break;
            }
        }
        let mut commands = vec![self.command()?];
        loop {
            self.skip_blanks()?;
            let start = self.at;
            if self.is_next("||") || !self.eat("|") {
                return Ok(Pipeline { negated, timed, commands });
            }
            if self.eat("&") {
                self.is_extension(start, "`|&`");
                let descriptor = RawWord { atoms: vec![Atom::Bare('1')], span: start..self.at, continued: false };
                let target = RawTarget::Word(descriptor);
                let redirect =
                    RawRedirect { kind: RedirectionKind::Duplicate, descriptor: Some(2), target, span: start..self.at };
                if let Some(left) = commands.last_mut() {
                    left.redirects.push(redirect);
                }
            }
            self.lines()?;
            commands.push(self.command()?);
        }
    }

    /// `time` before an option is the program of that name.
    fn is_timing(&self) -> bool {
        if self.language == ShellLanguage::Sh || !self.is_word_next("time") {
            return false;
        }
        let after = self.rest().get(4..).unwrap_or_default().trim_start_matches([' ', '\t']);
        let alone = after.chars().next().is_none_or(|c| matches!(c, '\n' | ';' | '&' | '|' | ')' | '<' | '>'));
        let option = after.starts_with('-') && !after.starts_with("-p ");
        !alone && !option && !after.starts_with('\\')
    }

    fn command(&mut self) -> ReadResult<CommandNode> {
        self.skip_blanks()?;
        let start = self.at;
        let mut command = if let Some(kind) = self.nested(Self::compound)? {
            CommandNode { kind, redirects: Vec::new(), span: start..self.at }
        } else {
            self.simple()?
        };
        if !matches!(command.kind, Kind::Simple(_)) {
            command.span = start..self.at;
            loop {
                self.skip_blanks()?;
                let Some(redirect) = self.redirect()? else { break };
                command.redirects.push(redirect);
                self.check_redirects(&command.redirects)?;
            }
        }
        Ok(command)
    }

    fn simple(&mut self) -> ReadResult<CommandNode> {
        let start = self.at;
        let mut end = start;
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks()?;
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                self.check_redirects(&redirects)?;
            } else if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
            } else {
                let word = self.word()?;
                if word.span.is_empty() {
                    break;
                }
                if simple.words.is_empty() {
                    self.check_first(&word)?;
                }
                simple.words.push(word);
            }
            end = self.at;
        }
        if end == start {
            return Err(self.fail("a command cannot begin here"));
        }
        if self.is_next("(") {
            return self.definition(start, simple, &redirects);
        }
        Ok(CommandNode { kind: Kind::Simple(simple), redirects, span: start..end })
    }

    fn check_redirects(&self, redirects: &[RawRedirect]) -> ReadResult<()> {
        if redirects.len() > MOST_REDIRECTS { Err(self.fail("there are too many redirections")) } else { Ok(()) }
    }

    fn definition(&mut self, start: usize, simple: Simple, redirects: &[RawRedirect]) -> ReadResult<CommandNode> {
        let name = match simple.words.as_slice() {
            [only] if simple.assignments.is_empty() && redirects.is_empty() && !only.continued => only.bare(),
            _ => None,
        };
        let plain = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c));
        let Some(name) = name.filter(plain) else { return Err(self.fail("`(` cannot stand here")) };
        self.expect("(")?;
        self.skip_blanks()?;
        self.expect(")")?;
        let kind = self.function_body(name)?;
        Ok(CommandNode { kind, redirects: Vec::new(), span: start..self.at })
    }

    /// Fails if the first word is a reserved word at a place where it is none, or a word that a shell could read differently.
    fn check_first(&self, word: &RawWord) -> ReadResult<()> {
        let Some(bare) = word.bare() else {
            let assignment = word.continued && word.atoms.iter().any(|atom| matches!(atom, Atom::Bare('=')));
            return if assignment { Err(self.fail("a line end divides an assignment")) } else { Ok(()) };
        };
        let timing = bare == "time" && !word.continued;
        let zsh = self.language == ShellLanguage::Zsh;
        let reserved = (RESERVED.contains(&bare.as_str()) && !timing)
            || (zsh && (ZSH_RESERVED.contains(&bare.as_str()) || (bare.starts_with('{') && bare.len() > 1)));
        if reserved {
            return Err(self.fail_at(word, &format!("`{bare}` cannot stand here")));
        }
        if word.continued && bare.contains('=') {
            return Err(self.fail_at(word, "a line end divides an assignment"));
        }
        Ok(())
    }

    pub(super) fn fail_at(&self, word: &RawWord, reason: &str) -> crate::Doubt {
        crate::Doubt { span: word.span.start..self.text.len(), reason: reason.to_owned() }
    }

    /// Reads `NAME=value`, `NAME+=value` or `NAME[subscript]=value`.
    fn assignment(&mut self) -> ReadResult<Option<RawAssignment>> {
        let start = self.at;
        let name = self.name();
        if name.is_empty() || !matches!(self.peek(), Some('=' | '+' | '[')) {
            self.at = start;
            return Ok(None);
        }
        let mut subscript = None;
        if self.is_next("[") {
            let closed = self
                .rest()
                .split([' ', '\t', '\n'])
                .next()
                .is_some_and(|word| word.contains("]=") || word.contains("]+="));
            if !closed {
                return Err(self.fail("an assignment is not certain"));
            }
            self.at += 1;
            subscript = Some(self.expression("]")?);
            self.is_extension(start, "a subscript");
        }
        let append = self.eat("+");
        if !self.eat("=") {
            self.at = start;
            return if subscript.is_some() { Err(self.fail("an assignment is not certain")) } else { Ok(None) };
        }
        if append {
            self.is_extension(start, "`+=`");
        }
        let value = if self.is_next("(") { RawValue::Array(self.array(start)?) } else { RawValue::Word(self.word()?) };
        if let RawValue::Word(word) = &value
            && self.is_next("(")
        {
            return Err(self.fail_at(word, "`(` cannot stand here"));
        }
        Ok(Some(RawAssignment { name, subscript, value, append }))
    }

    fn array(&mut self, start: usize) -> ReadResult<Vec<RawWord>> {
        self.expect("(")?;
        self.is_extension(start, "an array");
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.eat(")") {
                return Ok(words);
            }
            let word = self.word()?;
            let subscript = matches!(word.atoms.first(), Some(Atom::Bare('[')));
            if word.span.is_empty() || subscript {
                return Err(self.fail("an array is not certain"));
            }
            words.push(word);
        }
    }
}
