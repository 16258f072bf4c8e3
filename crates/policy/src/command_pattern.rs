//! A pattern of a command, word by word: `git log *`, `cargo {test,check} *`.

use crate::wildcard::{Sign, Wildcard};

/// Longest pattern, in bytes.
pub(crate) const LONGEST: usize = 1024;
/// Largest number of alternatives that the braces of one word stand for.
const MOST_ALTERNATIVES: usize = 64;
/// Deepest nesting of braces.
const DEEPEST_BRACES: usize = 4;

/// A pattern of one command: the program, its words, and whether further words may follow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommandPattern {
    /// The program.
    pub(crate) program: WordPattern,
    /// The words after the program.
    pub(crate) words: Vec<WordPattern>,
    /// The pattern ends in `*`: any further words may follow.
    pub(crate) open: bool,
}

/// A pattern of one word: one of several alternatives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WordPattern {
    /// The alternatives, at least one.
    pub(crate) alternatives: Vec<Wildcard>,
}

impl WordPattern {
    /// Says whether the pattern has no wildcard.
    pub(crate) fn is_literal(&self) -> bool {
        self.alternatives.iter().all(|one| one.literal().is_some())
    }

    /// Says whether a known word matches.
    pub(crate) fn matches(&self, word: &str) -> bool {
        self.alternatives.iter().any(|one| one.matches(word))
    }

    /// Says whether the pattern is about options only.
    pub(crate) fn is_option(&self) -> bool {
        self.alternatives.iter().all(|one| one.prefix().starts_with('-') && one.literal() != Some("-"))
    }
}

impl CommandPattern {
    /// Reads a pattern, or gives the reason why the text is not one.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("is empty, so that it matches nothing".into());
        }
        if text.len() > LONGEST {
            return Err(format!("is longer than {LONGEST} bytes"));
        }
        if text.chars().any(char::is_control) {
            return Err("contains a control character".into());
        }
        let mut words = Vec::new();
        for word in split(text)? {
            let mut reader = PatternReader { pieces: &word, at: 0 };
            let alternatives = reader.alternatives(0)?;
            words.push(WordPattern { alternatives: alternatives.into_iter().map(Wildcard::new).collect() });
        }
        let open =
            words.len() > 1 && words.last().is_some_and(|last| last.alternatives.iter().all(Wildcard::is_everything));
        if open {
            words.pop();
        }
        let only =
            words.len() == 1 && !open && words.iter().all(|word| word.alternatives.iter().all(Wildcard::is_everything));
        let mut words = words.into_iter();
        let program = words.next().ok_or("names no program")?;
        // `*` alone is every command.
        Ok(Self { program, words: words.collect(), open: open || only })
    }
}

/// A character of a word of the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A character that stands for itself, or a wildcard.
    Sign(Sign),
    Open,
    Comma,
    Close,
}

/// Splits a text into words as a shell does, and finds the signs that are not quoted.
fn split(text: &str) -> Result<Vec<Vec<Piece>>, String> {
    let mut words: Vec<Vec<Piece>> = Vec::new();
    let mut word: Option<Vec<Piece>> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let pieces = word.get_or_insert_default();
        match c {
            '\'' | '"' => quoted(c, &mut chars, pieces)?,
            '\\' => {
                let next = chars.next().ok_or("ends in a backslash")?;
                pieces.push(Piece::Sign(Sign::Char(next)));
            }
            '{' => pieces.push(Piece::Open),
            '}' => pieces.push(Piece::Close),
            ',' => pieces.push(Piece::Comma),
            '*' => pieces.push(Piece::Sign(Sign::Any)),
            '?' => pieces.push(Piece::Sign(Sign::One)),
            c => pieces.push(Piece::Sign(Sign::Char(c))),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Reads a quoted text up to its closing quote.
fn quoted(quote: char, chars: &mut std::str::Chars<'_>, pieces: &mut Vec<Piece>) -> Result<(), String> {
    while let Some(c) = chars.next() {
        let read = match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => chars.next().ok_or("has an open quote")?,
            c => c,
        };
        pieces.push(Piece::Sign(Sign::Char(read)));
    }
    Err("has an open quote".into())
}

/// Reads the braces of one word.
struct PatternReader<'p> {
    pieces: &'p [Piece],
    at: usize,
}

impl PatternReader<'_> {
    /// The alternatives of the text up to the end of the word or of the group.
    fn alternatives(&mut self, depth: usize) -> Result<Vec<Vec<Sign>>, String> {
        let mut all: Vec<Vec<Sign>> = vec![Vec::new()];
        while let Some(piece) = self.pieces.get(self.at).copied() {
            let more = match piece {
                Piece::Sign(sign) => vec![vec![sign]],
                Piece::Open => {
                    self.at += 1;
                    self.group(depth + 1)?
                }
                Piece::Comma if depth == 0 => vec![vec![Sign::Char(',')]],
                Piece::Close if depth == 0 => return Err("closes a brace that is not open".into()),
                Piece::Comma | Piece::Close => return Ok(all),
            };
            self.at += 1;
            if all.len().saturating_mul(more.len()) > MOST_ALTERNATIVES {
                return Err(format!("has a word with more than {MOST_ALTERNATIVES} alternatives"));
            }
            all = all.iter().flat_map(|start| more.iter().map(move |end| [start.as_slice(), end].concat())).collect();
        }
        if depth > 0 { Err("has an open brace".into()) } else { Ok(all) }
    }

    /// The alternatives of a group. The reader stands on its closing brace afterwards.
    fn group(&mut self, depth: usize) -> Result<Vec<Vec<Sign>>, String> {
        if depth > DEEPEST_BRACES {
            return Err(format!("has braces nested deeper than {DEEPEST_BRACES}"));
        }
        let mut all = Vec::new();
        let mut choices = 0;
        loop {
            all.extend(self.alternatives(depth)?);
            choices += 1;
            match self.pieces.get(self.at) {
                Some(Piece::Comma) => self.at += 1,
                _ => break,
            }
        }
        if choices > 1 {
            return Ok(all);
        }
        // A shell takes `{}` and `{a}` for text.
        let braced = |inner: Vec<Sign>| [vec![Sign::Char('{')], inner, vec![Sign::Char('}')]].concat();
        Ok(all.into_iter().map(braced).collect())
    }
}
