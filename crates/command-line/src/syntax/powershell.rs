//! A plain part of the PowerShell language: simple commands of plain words, separated by `;`, line ends or `|`.

use std::ops::Range;

use super::parser::is_unseen;
use crate::{Doubt, Line, ProgramRun, Redirection, RedirectionKind, RunPosition, ShellWord, Stdin, WordPart};

/// Characters that are allowed outside quotes, besides letters and digits.
const BARE: &str = "_-./\\:=+";

/// Words that have a meaning where a command begins.
const RESERVED: &[&str] = &[
    "begin",
    "break",
    "catch",
    "class",
    "clean",
    "configuration",
    "continue",
    "data",
    "define",
    "do",
    "dynamicparam",
    "else",
    "elseif",
    "end",
    "enum",
    "exit",
    "filter",
    "finally",
    "for",
    "foreach",
    "from",
    "function",
    "hidden",
    "if",
    "in",
    "inlinescript",
    "interface",
    "module",
    "namespace",
    "parallel",
    "param",
    "private",
    "process",
    "public",
    "return",
    "sequence",
    "static",
    "switch",
    "throw",
    "trap",
    "try",
    "type",
    "until",
    "using",
    "var",
    "while",
    "workflow",
];

struct PowerShellReader<'t> {
    text: &'t str,
    at: usize,
    line: Line,
}

/// Reads a text. An error if any part of it is not plain.
pub(super) fn parse(text: &str) -> Result<Line, Doubt> {
    let mut reader = PowerShellReader { text, at: 0, line: Line::default() };
    let mut piped = false;
    loop {
        reader.blanks();
        let Some(c) = reader.peek() else { break };
        if matches!(c, ';' | '\n') && !piped {
            reader.at += 1;
            continue;
        }
        reader.command(piped)?;
        piped = reader.peek() == Some('|');
        if piped {
            reader.at += 1;
            reader.line.runs.iter_mut().last().into_iter().for_each(|run| run.position = vec![RunPosition::Pipe]);
        }
    }
    if piped {
        return Err(reader.fail("a command is missing here"));
    }
    if reader.line.runs.len() > 256 {
        return Err(reader.fail("there are too many commands"));
    }
    Ok(reader.line)
}

impl PowerShellReader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fail(&self, reason: &str) -> Doubt {
        Doubt { span: self.at.min(self.text.len())..self.text.len(), reason: reason.to_owned() }
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn command(&mut self, piped: bool) -> Result<(), Doubt> {
        let start = self.at;
        let mut run =
            ProgramRun { position: if piped { vec![RunPosition::Pipe] } else { Vec::new() }, ..ProgramRun::default() };
        if piped {
            run.stdin = Stdin::Pipe;
        }
        let mut end = start;
        loop {
            self.blanks();
            match self.peek() {
                None | Some(';' | '\n' | '|') => break,
                Some('>') => {
                    let redirect = self.redirect()?;
                    run.redirects.push(redirect);
                }
                Some(_) => {
                    let word = self.word(run.words.is_empty())?;
                    run.words.push(word);
                }
            }
            end = self.at;
        }
        if run.words.is_empty() || self.rest().starts_with("||") {
            return Err(self.fail("a command cannot begin here"));
        }
        run.span = start..end;
        self.line.runs.push(run);
        Ok(())
    }

    fn redirect(&mut self) -> Result<Redirection, Doubt> {
        let start = self.at;
        self.at += 1;
        let kind = if self.rest().starts_with('>') { RedirectionKind::Append } else { RedirectionKind::Write };
        self.at += usize::from(kind == RedirectionKind::Append);
        self.blanks();
        let target = self.word(false)?;
        Ok(Redirection { kind, target, span: start..self.at })
    }

    /// Reads a word. It is one piece: plain characters, or one quoted text.
    fn word(&mut self, is_program: bool) -> Result<ShellWord, Doubt> {
        let start = self.at;
        let text = match self.peek() {
            Some(_) if is_program => self.program()?,
            Some('\'') => self.single_quoted()?,
            Some('"') => self.double_quoted()?,
            _ => self.bare()?,
        };
        if self.peek().is_some_and(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '|')) {
            return Err(self.fail("a word is not plain"));
        }
        let parts = if text.is_empty() { Vec::new() } else { vec![WordPart::Literal(text)] };
        Ok(ShellWord { parts, span: start..self.at })
    }

    fn program(&mut self) -> Result<String, Doubt> {
        let start = self.at;
        let text = self.bare()?;
        let number = text.starts_with(|c: char| !(c.is_ascii_alphabetic() || c == '.'));
        if number || text.contains('=') || RESERVED.contains(&text.to_lowercase().as_str()) {
            self.at = start;
            return Err(self.fail("a command cannot begin here"));
        }
        // `.` alone runs a script in the same scope.
        if text == "." {
            return Err(self.fail("a script is read into the session"));
        }
        Ok(text)
    }

    fn bare(&mut self) -> Result<String, Doubt> {
        let plain = |c: &char| c.is_ascii_alphanumeric() || BARE.contains(*c);
        let text: String = self.rest().chars().take_while(plain).collect();
        // `-a.b` and `-a:b` are two words for some programs.
        let divided = text.starts_with('-') && text.contains(['.', ':']);
        if text.is_empty() || divided {
            return Err(self.fail("a character has a special meaning"));
        }
        // `2>` is a redirection, and `-a:` takes the next word.
        let mut digits = text.chars();
        self.at += text.len();
        if digits.all(|c| c.is_ascii_digit()) && self.peek() == Some('>') {
            return Err(self.fail("a redirection is not plain"));
        }
        Ok(text)
    }

    fn single_quoted(&mut self) -> Result<String, Doubt> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some((before, _)) = self.rest().split_once('\'') else {
                self.at = start;
                return Err(self.fail("a quote is not closed"));
            };
            text.push_str(before);
            self.at += before.len() + 1;
            if !self.rest().starts_with('\'') {
                return Self::quoted(start..self.at, text);
            }
            text.push('\'');
            self.at += 1;
        }
    }

    fn double_quoted(&mut self) -> Result<String, Doubt> {
        let start = self.at;
        let after = self.text.get(start + 1..).unwrap_or_default();
        let Some((text, _)) = after.split_once('"') else { return Err(self.fail("a quote is not closed")) };
        if text.contains(['$', '`']) {
            return Err(self.fail("a quoted text has an expansion"));
        }
        let text = text.to_owned();
        self.at += text.len() + 2;
        Self::quoted(start..self.at, text)
    }

    /// PowerShell takes curly quotes for quotes.
    fn quoted(span: Range<usize>, text: String) -> Result<String, Doubt> {
        let curly = |c: char| matches!(c, '\u{2018}'..='\u{201f}');
        if text.contains(|c: char| curly(c) || is_unseen(c)) {
            return Err(Doubt { span, reason: "a quoted text has a sign that may end it".to_owned() });
        }
        Ok(text)
    }
}
