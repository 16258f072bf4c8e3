//! Reads redirections: an optional descriptor, an operator and a target.

use super::parser::{Parser, ReadResult};
use super::tree::{RawRedirect, RawTarget, RawWord};
use crate::{RedirectionKind, ShellLanguage};

/// Operators, longer ones first.
const OPERATORS: &[(&str, RedirectionKind)] = &[
    ("<<<", RedirectionKind::Text),
    ("<<-", RedirectionKind::Text),
    ("<<", RedirectionKind::Text),
    ("<&", RedirectionKind::Duplicate),
    ("<>", RedirectionKind::ReadWrite),
    ("<", RedirectionKind::Read),
    ("&>>", RedirectionKind::Append),
    ("&>", RedirectionKind::Write),
    (">>", RedirectionKind::Append),
    (">&", RedirectionKind::Duplicate),
    (">|", RedirectionKind::Write),
    (">", RedirectionKind::Write),
];

impl Parser<'_> {
    /// Reads a redirection, if one begins here.
    pub(super) fn redirect(&mut self) -> ReadResult<Option<RawRedirect>> {
        let start = self.at;
        let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
        let after = self.rest().get(digits.len()..).unwrap_or_default();
        let named = after.starts_with('{') && digits.is_empty() && is_named_descriptor(after);
        if named {
            return Err(self.fail("a descriptor in a variable is not certain"));
        }
        let both = digits.is_empty() && after.starts_with("&>");
        if !both && !after.starts_with(['<', '>']) {
            return Ok(None);
        }
        let substitutes = digits.is_empty() && (after.starts_with("<(") || after.starts_with(">("));
        if substitutes && self.language != ShellLanguage::Sh {
            return Ok(None);
        }
        let Some((operator, kind)) = OPERATORS.iter().find(|(operator, _)| after.starts_with(operator)) else {
            return Ok(None);
        };
        let input = *operator == "<&" && digits.is_empty();
        let descriptor = if input { Some(0) } else { digits.parse().ok() };
        if !digits.is_empty() && descriptor.is_none() {
            return Err(self.fail("a descriptor is too large"));
        }
        self.at += digits.len() + operator.len();
        self.check_operator(after, operator)?;
        let glued = self.is_next("\\\n");
        self.skip_blanks()?;
        if glued && self.peek().is_some_and(|c| matches!(c, '<' | '>' | '&' | '|' | '-')) {
            return Err(self.fail("a line end divides an operator"));
        }
        let word = self.word()?;
        if word.span.is_empty() {
            return Err(self.fail(&format!("no file follows `{operator}`")));
        }
        if self.is_next("(") {
            return Err(self.fail("`(` cannot stand here"));
        }
        let (kind, target) =
            self.target(start, operator, *kind, Named { word, has_descriptor: descriptor.is_some() })?;
        Ok(Some(RawRedirect { kind, descriptor, target, span: start..self.at }))
    }

    fn check_operator(&self, after: &str, operator: &str) -> ReadResult<()> {
        let rest = after.get(operator.len()..).unwrap_or_default();
        let zsh = self.language == ShellLanguage::Zsh;
        let range = operator == "<" && rest.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if zsh && (rest.starts_with(['!', '|']) || range) {
            return Err(self.fail("zsh has an operator that other shells do not have"));
        }
        if rest.starts_with('&') || (rest.starts_with('#')) {
            return Err(self.fail("a redirection is not certain"));
        }
        Ok(())
    }

    fn target(
        &mut self,
        start: usize,
        operator: &str,
        kind: RedirectionKind,
        named: Named,
    ) -> ReadResult<(RedirectionKind, RawTarget)> {
        let Named { word, has_descriptor } = named;
        match operator {
            "<<" | "<<-" => {
                let body = self.announce(&word, operator == "<<-")?;
                return Ok((kind, RawTarget::Document(body)));
            }
            "<<<" => {
                self.is_extension(start, "`<<<`");
                return Ok((kind, RawTarget::HereString(word)));
            }
            "&>" | "&>>" if !self.is_silencing(operator, &word)? => self.is_extension(start, "`&>`"),
            _ => {}
        }
        if kind != RedirectionKind::Duplicate {
            return Ok((kind, RawTarget::Word(word)));
        }
        let text = word.bare().unwrap_or_default();
        let digits = text.trim_end_matches('-');
        let is_descriptor = text == "-" || (!text.is_empty() && text.len() - digits.len() <= 1 && is_number(digits));
        if text.len() > 1 && text.starts_with('-') {
            return Err(self.fail_at(&word, "the target of a redirection is not certain"));
        }
        if is_descriptor {
            return Ok((kind, RawTarget::Word(word)));
        }
        if operator == ">&" && !has_descriptor && word.literal().is_some_and(|text| !text.is_empty()) {
            self.is_extension(start, "`>&`");
            return Ok((RedirectionKind::Write, RawTarget::Word(word)));
        }
        Err(self.fail_at(&word, "the target of a redirection is not certain"))
    }

    /// `cmd &>/dev/null` at the end of a command has the same runs in every shell.
    fn is_silencing(&mut self, operator: &str, word: &RawWord) -> ReadResult<bool> {
        self.skip_blanks()?;
        let ends = self.peek().is_none_or(|c| matches!(c, ';' | '\n' | ')' | '|') || self.is_next("&&"));
        Ok(operator == "&>" && ends && word.bare().as_deref() == Some("/dev/null"))
    }
}

/// The word after an operator, and whether a descriptor stands before it.
struct Named {
    word: RawWord,
    has_descriptor: bool,
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// `{name}>`
fn is_named_descriptor(text: &str) -> bool {
    let inside = text.get(1..).unwrap_or_default();
    let after = inside.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric());
    after.len() < inside.len() && (after.starts_with("}<") || after.starts_with("}>"))
}
