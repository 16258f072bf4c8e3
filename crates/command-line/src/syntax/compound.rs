//! Compound commands: groups, conditions, loops, `case`, functions.

use super::parser::{Parser, ReadResult};
use super::tree::{Arm, CommandNode, For, Kind, RawWord};
use crate::ShellLanguage;

impl Parser<'_> {
    /// Reads a compound command, if one begins here.
    pub(super) fn compound(&mut self) -> ReadResult<Option<Kind>> {
        let start = self.at;
        if self.eat("((") {
            if self.language == ShellLanguage::Sh {
                return Err(self.fail("shells that are called `sh` read `((` differently"));
            }
            return Ok(Some(Kind::Arithmetic(self.expression("))")?)));
        }
        if self.eat("(") {
            let body = self.commands()?;
            self.expect(")")?;
            return Ok(Some(Kind::Subshell(body)));
        }
        let words = ["{", "if", "while", "until", "for", "select", "case", "function", "[["];
        let Some(word) = words.into_iter().find(|word| self.is_word_next(word)) else { return Ok(None) };
        self.at += word.len();
        let kind = match word {
            "{" => {
                let body = self.commands()?;
                self.expect_word("}")?;
                Kind::Group(body)
            }
            "if" => self.branches()?,
            "while" | "until" => {
                let condition = self.commands()?;
                Kind::While { condition, body: self.body()? }
            }
            "for" | "select" => self.iteration(start, word == "select")?,
            "case" => self.case()?,
            "function" => self.function(start)?,
            _ => {
                self.is_extension(start, "`[[`");
                self.test()?
            }
        };
        Ok(Some(kind))
    }

    fn body(&mut self) -> ReadResult<super::tree::List> {
        self.expect_word("do")?;
        let body = self.commands()?;
        self.expect_word("done")?;
        Ok(body)
    }

    fn branches(&mut self) -> ReadResult<Kind> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.commands()?;
            self.expect_word("then")?;
            branches.push((condition, self.commands()?));
            self.lines()?;
            if self.is_word_next("elif") {
                self.at += 4;
                continue;
            }
            if self.is_word_next("else") {
                self.at += 4;
                otherwise = Some(self.commands()?);
            }
            self.expect_word("fi")?;
            return Ok(Kind::If { branches, otherwise });
        }
    }

    fn iteration(&mut self, start: usize, menu: bool) -> ReadResult<Kind> {
        self.skip_blanks()?;
        if menu {
            self.is_extension(start, "`select`");
        }
        if !menu && self.eat("((") {
            self.is_extension(start, "`for ((`");
            let expression = self.expression("))")?;
            self.skip_blanks()?;
            let _ = self.eat(";");
            return Ok(Kind::Count { expression, body: self.body()? });
        }
        let named = self.at;
        let name = self.name();
        if name.is_empty() || !self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | ';')) {
            return Err(self.fail("a loop has no name"));
        }
        let span = named..self.at;
        self.lines()?;
        let mut words = None;
        if self.is_word_next("in") {
            self.at += 2;
            words = Some(self.loop_words()?);
        } else {
            let _ = self.eat(";");
        }
        Ok(Kind::For(For { name, words, body: self.body()?, menu, span }))
    }

    fn loop_words(&mut self) -> ReadResult<Vec<RawWord>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks()?;
            let word = self.word()?;
            if !word.span.is_empty() {
                words.push(word);
                continue;
            }
            return match self.peek() {
                Some(';') if !self.is_next(";;") => {
                    self.at += 1;
                    Ok(words)
                }
                Some('\n') => Ok(words),
                _ => Err(self.fail("the words of a loop have no end")),
            };
        }
    }

    fn case(&mut self) -> ReadResult<Kind> {
        self.skip_blanks()?;
        let subject = self.word()?;
        if subject.span.is_empty() {
            return Err(self.fail("`case` has no word"));
        }
        self.expect_word("in")?;
        let mut arms = Vec::new();
        loop {
            self.lines()?;
            if self.is_word_next("esac") {
                self.at += 4;
                return Ok(Kind::Case { subject, arms });
            }
            arms.push(self.arm()?);
        }
    }

    fn arm(&mut self) -> ReadResult<Arm> {
        let _ = self.eat("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks()?;
            let word = self.word()?;
            if word.span.is_empty() {
                return Err(self.fail("`case` has no pattern here"));
            }
            patterns.push(word);
            self.skip_blanks()?;
            if self.eat(")") {
                break;
            }
            self.expect("|")?;
        }
        let body = self.nested(Self::list)?;
        self.lines()?;
        let start = self.at;
        if self.eat(";;&") || self.eat(";&") || self.eat(";|") {
            self.is_extension(start, "the end of an arm of `case`");
            if self.language == ShellLanguage::Zsh || self.text.get(start..self.at) == Some(";|") {
                return Err(self.fail("shells read the end of an arm of `case` differently"));
            }
        } else if !self.eat(";;") && !self.is_word_next("esac") {
            return Err(self.fail("`;;` is missing here"));
        }
        Ok(Arm { patterns, body })
    }

    fn function(&mut self, start: usize) -> ReadResult<Kind> {
        self.is_extension(start, "`function`");
        self.skip_blanks()?;
        let word = self.word()?;
        let plain =
            |name: &String| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c));
        let Some(name) = word.bare().filter(plain).filter(|_| !word.continued) else {
            return Err(self.fail_at(&word, "the name of a function is not certain"));
        };
        self.skip_blanks()?;
        if self.eat("(") {
            self.skip_blanks()?;
            self.expect(")")?;
        }
        self.function_body(name)
    }

    /// Reads the body of a function, which must be a compound command.
    pub(super) fn function_body(&mut self, name: String) -> ReadResult<Kind> {
        self.lines()?;
        let start = self.at;
        let Some(kind) = self.nested(Self::compound)? else {
            return Err(self.fail("a function has no body"));
        };
        if matches!(kind, Kind::Function { .. }) {
            return Err(self.fail("a function has no body"));
        }
        let mut redirects = Vec::new();
        let span = start..self.at;
        loop {
            self.skip_blanks()?;
            let Some(redirect) = self.redirect()? else { break };
            redirects.push(redirect);
        }
        Ok(Kind::Function { name, body: Box::new(CommandNode { kind, redirects, span }) })
    }

    /// Reads the words of `[[ ]]`. Operators are words of their own.
    fn test(&mut self) -> ReadResult<Kind> {
        let mut words: Vec<RawWord> = Vec::new();
        let mut open = 0_usize;
        loop {
            self.lines()?;
            let start = self.at;
            if self.is_word_next("]]") {
                if open > 0 || words.is_empty() {
                    return Err(self.fail("`[[` is not certain"));
                }
                self.at += 2;
                return Ok(Kind::Test(words));
            }
            let operator = ["&&", "||", "(", ")", "<", ">"].into_iter().find(|operator| self.is_next(operator));
            let substitutes = self.is_next("<(") || self.is_next(">(");
            if let Some(operator) = operator.filter(|_| !substitutes) {
                open = match operator {
                    "(" => open + 1,
                    ")" => open.checked_sub(1).ok_or_else(|| self.fail("`[[` is not certain"))?,
                    _ => open,
                };
                self.at += operator.len();
                words.push(RawWord { atoms: Vec::new(), span: start..self.at, continued: false });
                continue;
            }
            let sign = ["==", "=~", "!=", "="].into_iter().find(|sign| self.is_word_next(sign));
            if let Some(sign) = sign.filter(|_| !words.is_empty()) {
                self.at += sign.len();
                let atoms = sign.chars().map(super::tree::Atom::Bare).collect();
                words.push(RawWord { atoms, span: start..self.at, continued: false });
                continue;
            }
            let pattern = words
                .last()
                .and_then(RawWord::bare)
                .is_some_and(|sign| matches!(sign.as_str(), "=~" | "==" | "!=" | "="));
            let word = if pattern { self.pattern()? } else { self.word()? };
            if word.span.is_empty() {
                return Err(self.fail("`[[` is not certain"));
            }
            words.push(word);
        }
    }

    /// Reads a pattern in `[[ ]]`, which may have parentheses.
    fn pattern(&mut self) -> ReadResult<RawWord> {
        let start = self.at;
        let mut word = RawWord::default();
        let mut open = 0_usize;
        while let Some(c) = self.peek() {
            match c {
                '(' | ')' if self.language == ShellLanguage::Zsh => return Err(self.fail("a pattern is not certain")),
                '(' => open += 1,
                ')' => open = open.checked_sub(1).ok_or_else(|| self.fail("a pattern is not certain"))?,
                '|' if open > 0 || self.peek_second() != Some('|') => {}
                ' ' | '\t' | '\n' if open == 0 => break,
                ' ' | '\t' | '\n' | ';' | '&' | '<' | '>' | '|' => return Err(self.fail("a pattern is not certain")),
                '\\' if self.is_next("\\\n") => return Err(self.fail("a pattern is not certain")),
                _ => {
                    self.atom(&mut word.atoms)?;
                    continue;
                }
            }
            self.at += 1;
            word.atoms.push(super::tree::Atom::Bare(c));
        }
        if open > 0 {
            return Err(self.fail("a pattern is not certain"));
        }
        word.span = start..self.at;
        Ok(word)
    }
}
