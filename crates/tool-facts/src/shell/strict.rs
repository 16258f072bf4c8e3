//! A strict lexer for the part of the shell language that Bash, dash and every other POSIX shell read alike.
//!
//! It is independent of the syntax tree. A text is relied on only if it lies in this part and both readings agree:
//! simple commands of plain words, joined by `&&`, `||`, `|`, `;`, `&`, line ends and `( )`, with the most common
//! redirections. Any other text is refused, harmless or not.

use super::collector::RESERVED;
use super::word::Word;
use super::{Assignment, NOWHERE, Redirect};

/// Characters besides letters and digits that are allowed outside quotes. The characters of patterns, and `~`, set `glob`.
const BARE: &str = "_-./:,@%+=^~*?{}#";

/// Redirections to another descriptor, and its number.
const DUPLICATES: &[(&str, &str)] = &[("2>&1", "1"), ("1>&2", "2"), (">&2", "2")];

/// Redirections to a file, and their kind; longer operators first.
const FILES: &[(&str, &str)] = &[
    ("1>>", "append"),
    ("2>>", "append"),
    (">>", "append"),
    ("1>", "write"),
    ("2>", "write"),
    (">", "write"),
    ("<", "read"),
];

/// The strict reading of a text: its simple commands, and the positions of the operators between them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StrictReading {
    pub(super) commands: Vec<StatedCommand>,
    pub(super) operators: Vec<(usize, String)>,
}

/// A simple command as written, before its program is examined.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StatedCommand {
    pub(super) assignments: Vec<Assignment>,
    /// The words, and whether each is a pattern over file names.
    pub(super) words: Vec<(String, bool)>,
    pub(super) redirects: Vec<Redirect>,
}

/// Reads a text, or says which part of it is not plain.
pub(super) fn read(text: &str) -> Result<StrictReading, String> {
    let mut lexer = Lexer {
        text,
        at: 0,
        depth: 0,
        position: Position::Free,
        stated: StatedCommand::default(),
        reading: StrictReading::default(),
    };
    while lexer.at < text.len() {
        lexer.step()?;
    }
    lexer.end_command();
    match lexer.position {
        _ if lexer.depth > 0 => Err("a `(` is not closed".to_owned()),
        Position::Required => Err("it ends where a command should follow".to_owned()),
        Position::Free | Position::Within | Position::Closed => Ok(lexer.reading),
    }
}

/// Says whether a text is one simple command and nothing else.
pub(super) fn is_single_command(text: &str) -> bool {
    read(text).is_ok_and(|reading| reading.commands.len() == 1 && reading.operators.is_empty())
}

/// Says whether a shell finds exactly these words in the text that joins them.
pub(super) fn reads_joined_alike(words: &[&str]) -> bool {
    let Ok(reading) = read(&words.join(" ")) else { return false };
    let alike = |stated: &StatedCommand| {
        stated.assignments.is_empty()
            && stated.redirects.is_empty()
            && stated
                .words
                .iter()
                .map(|(word, glob)| (word.as_str(), *glob))
                .eq(words.iter().map(|word| (*word, false)))
    };
    matches!(reading.commands.as_slice(), [only] if reading.operators.is_empty() && alike(only))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// A command may begin here, or the text may end.
    Free,
    /// A command must begin here.
    Required,
    /// Inside a simple command.
    Within,
    /// After a `)`.
    Closed,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    position: Position,
    stated: StatedCommand,
    reading: StrictReading,
}

impl Lexer<'_> {
    fn step(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(' ' | '\t') => self.at += 1,
            Some('\n') => {
                self.at += 1;
                self.end_command();
                if self.position != Position::Required {
                    self.position = Position::Free;
                }
            }
            Some(';' | '&' | '|' | '(' | ')') => self.take_operator()?,
            _ if self.position == Position::Closed => return Err("something follows a `)`".to_owned()),
            _ => {
                if !self.add_redirect()? {
                    self.add_word()?;
                }
                self.position = Position::Within;
            }
        }
        Ok(())
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn end_command(&mut self) {
        if self.position == Position::Within {
            self.reading.commands.push(std::mem::take(&mut self.stated));
            self.position = Position::Free;
        }
    }

    fn take_operator(&mut self) -> Result<(), String> {
        let all = ["&&", "||", "((", ";", "&", "|", "(", ")"];
        let operator = all.into_iter().find(|operator| self.rest().starts_with(operator)).unwrap_or_default();
        let before = self.position;
        if before == Position::Within && self.take_silencing() {
            return Ok(());
        }
        self.end_command();
        let fits = match operator {
            "(" => matches!(before, Position::Free | Position::Required),
            ")" => before != Position::Required && self.depth > 0,
            "((" => false,
            _ => matches!(before, Position::Within | Position::Closed),
        };
        self.reading.operators.push((self.at, operator.to_owned()));
        self.at += operator.len();
        // Bash reads `&>` as one operator and dash as two; `&>/dev/null` at the end of the text writes nothing in either.
        if !fits || (operator == "&" && self.peek() == Some('>')) {
            return Err(format!("shells may read `{operator}` differently at this place"));
        }
        match operator {
            "(" => self.depth += 1,
            ")" => self.depth -= 1,
            _ => {}
        }
        self.position = match operator {
            "&&" | "||" | "|" | "(" => Position::Required,
            ")" => Position::Closed,
            _ => Position::Free,
        };
        Ok(())
    }

    /// Reads a `&>/dev/null` at the end of the text. Returns `false` if there is none.
    fn take_silencing(&mut self) -> bool {
        let apart = self.text.get(..self.at).is_some_and(|before| before.ends_with([' ', '\t']));
        let target = self.rest().strip_prefix("&>").map(|target| target.trim_matches([' ', '\t']));
        let silenced = apart && self.depth == 0 && target == Some(NOWHERE);
        if silenced {
            self.stated.redirects.push(Redirect { kind: "write", target: NOWHERE.to_owned() });
            self.at = self.text.len();
        }
        silenced
    }

    fn add_redirect(&mut self) -> Result<bool, String> {
        if let Some((operator, target)) = DUPLICATES.iter().find(|(operator, _)| self.rest().starts_with(operator)) {
            self.at += operator.len();
            self.stated.redirects.push(Redirect { kind: "duplicate", target: (*target).to_owned() });
            return if self.at_end_of_word() { Ok(true) } else { Err(format!("a character touches `{operator}`")) };
        }
        let Some((operator, kind)) = FILES.iter().find(|(operator, _)| self.rest().starts_with(operator)) else {
            return Ok(false);
        };
        self.at += operator.len();
        if self.rest().starts_with(['<', '>', '&', '|', '(']) {
            return Err("a redirection is one that only some shells have".to_owned());
        }
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        if self.at_end_of_word() {
            return Err(format!("no file follows `{operator}`"));
        }
        let target = self.read_plain_word()?;
        if target.glob || target.text.is_empty() {
            return Err(format!("the file after `{operator}` is not certain"));
        }
        self.stated.redirects.push(Redirect { kind, target: target.text });
        Ok(true)
    }

    fn add_word(&mut self) -> Result<(), String> {
        let start = self.at;
        let word = self.read_plain_word()?;
        let raw = self.text.get(start..self.at).unwrap_or_default();
        if !self.stated.words.is_empty() {
            self.stated.words.push((word.text, word.glob));
            return Ok(());
        }
        if let Some((name, value)) = raw.split_once('=') {
            let value = word.text.get(name.len() + 1..).filter(|_| is_name(name) && !value.is_empty());
            let value = value.ok_or_else(|| format!("`{raw}` is not a plain assignment"))?.to_owned();
            self.stated.assignments.push(Assignment { name: name.to_owned(), value });
            return Ok(());
        }
        if RESERVED.contains(raw) {
            return Err(format!("`{raw}` begins a compound command"));
        }
        self.stated.words.push((word.text, word.glob));
        Ok(())
    }

    fn at_end_of_word(&self) -> bool {
        self.peek().is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | ')'))
    }

    fn read_plain_word(&mut self) -> Result<Word, String> {
        let mut word = Word::default();
        if self.rest().starts_with(['#', '=']) {
            return Err("a word begins with a character that only some shells treat specially".to_owned());
        }
        while !self.at_end_of_word() {
            let Some(c) = self.peek() else { break };
            self.at += c.len_utf8();
            match c {
                '\'' => {
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    let (quoted, _) = rest.split_once('\'').ok_or_else(|| "a quote is not closed".to_owned())?;
                    word.push_quoted(quoted);
                    self.at += quoted.len() + 1;
                }
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    let escaped = self.peek().filter(|c| c.is_ascii_graphic() || *c == ' ');
                    word.push_quoted(
                        escaped.ok_or_else(|| "a backslash continues a line".to_owned())?.encode_utf8(&mut [0; 4]),
                    );
                    self.at += 1;
                }
                '$' => self.take_status(&mut word)?,
                c if c.is_ascii_alphanumeric() || BARE.contains(c) => word.push_bare(c.encode_utf8(&mut [0; 4])),
                c => return Err(format!("`{c}` outside quotes has a special meaning")),
            }
        }
        let word = word.finish();
        if word.dynamic { Err("a word in braces becomes several".to_owned()) } else { Ok(word) }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), String> {
        loop {
            let c = self.peek().ok_or_else(|| "a quote is not closed".to_owned())?;
            self.at += c.len_utf8();
            match (c, self.peek()) {
                ('"', _) => return Ok(()),
                ('`', _) => return Err("a command stands between backquotes".to_owned()),
                ('\\', Some(escaped @ ('"' | '\\' | '$' | '`'))) => {
                    word.push_quoted(escaped.encode_utf8(&mut [0; 4]));
                    self.at += 1;
                }
                ('\\', Some(next)) if next.is_ascii_graphic() || next == ' ' => word.push_quoted("\\"),
                // In some old encodings the backslash is the second byte of the character.
                (c, Some('\\')) if !c.is_ascii() => return Err(format!("a backslash touches `{c}`")),
                ('\\', _) => return Err("a backslash continues a line".to_owned()),
                ('$', Some('"' | ' ' | '|' | ')')) => word.push_quoted("$"),
                ('$', _) => self.take_status(word)?,
                // An interactive shell replaces it by an earlier command.
                ('!', _) => return Err("`!` may stand for an earlier command".to_owned()),
                (c, _) => word.push_quoted(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// Reads `$?`, which is a number. The value of any other expansion is known only when the command runs.
    fn take_status(&mut self, word: &mut Word) -> Result<(), String> {
        if self.peek() != Some('?') {
            return Err("the value after `$` is known only when the command runs".to_owned());
        }
        self.at += 1;
        word.glob = true;
        word.push_quoted("$?");
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests;
