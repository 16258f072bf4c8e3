//! Scripts of `sed`. They start programs with `e`, read files with `r` and write files with `w`.

use super::ScriptEffect;

/// A script is not understood.
struct NotUnderstood;

/// The effects of a script.
///
/// In today's versions a delimiter inside brackets is a character of the regular expression; in some old ones it ends the expression. The script is
/// read in both ways. A version that cannot read it changes nothing, except that it may have opened files.
pub(in crate::programs) fn effects(script: &str) -> Vec<ScriptEffect> {
    let mut effects = read(script, true);
    effects.extend(read(script, false).into_iter().filter(|effect| *effect != ScriptEffect::Unknown));
    effects
}

fn read(script: &str, brackets: bool) -> Vec<ScriptEffect> {
    let mut reader = SedReader { rest: script, brackets, effects: Vec::new() };
    while !reader.rest.is_empty() {
        if reader.read_command().is_err() {
            reader.effects.push(ScriptEffect::Unknown);
            break;
        }
    }
    reader.effects
}

struct SedReader<'a> {
    rest: &'a str,
    /// A delimiter inside brackets does not end a regular expression.
    brackets: bool,
    effects: Vec<ScriptEffect>,
}

impl<'a> SedReader<'a> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    fn skip(&mut self, these: &[char]) {
        self.rest = self.rest.trim_start_matches(these);
    }

    /// Takes the rest of the line.
    fn take_line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        line
    }

    /// Reads one command with its addresses.
    fn read_command(&mut self) -> Result<(), NotUnderstood> {
        self.skip(&[' ', '\t', '\n', ';']);
        self.read_addresses()?;
        let Some(command) = self.next() else { return Ok(()) };
        match command {
            '{' => return Ok(()),
            '#' => {
                self.take_line();
                return Ok(());
            }
            '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
            'l' | 'L' | 'q' | 'Q' => {
                self.skip(&[' ']);
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
            }
            'a' | 'i' | 'c' => return self.read_text(),
            ':' | 'b' | 't' | 'T' => {
                self.skip(&[' ']);
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_.-".contains(c));
            }
            'r' | 'R' => {
                let file = self.read_file_name()?;
                self.effects.push(ScriptEffect::Reads(file));
                return Ok(());
            }
            'w' | 'W' => {
                let file = self.read_file_name()?;
                self.effects.push(ScriptEffect::Writes(file));
                return Ok(());
            }
            'e' => {
                self.take_line();
                self.effects.push(ScriptEffect::Runs);
                return Ok(());
            }
            's' => self.read_substitution()?,
            'y' => {
                let delimiter = self.next().filter(|c| is_delimiter(*c)).ok_or(NotUnderstood)?;
                self.read_delimited(delimiter)?;
                self.read_delimited(delimiter)?;
            }
            _ => return Err(NotUnderstood),
        }
        self.read_end()
    }

    /// Reads the end of a command.
    fn read_end(&mut self) -> Result<(), NotUnderstood> {
        self.skip(&[' ', '\t']);
        match self.rest.chars().next() {
            None | Some('\n' | ';' | '}' | '#') => Ok(()),
            Some(_) => Err(NotUnderstood),
        }
    }

    fn read_addresses(&mut self) -> Result<(), NotUnderstood> {
        if self.read_address()? {
            self.skip(&[' ', '\t']);
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
                self.skip(&[' ', '\t']);
                if let Some(rest) = self.rest.strip_prefix(['+', '~']) {
                    self.rest = rest;
                }
                if !self.read_address()? {
                    return Err(NotUnderstood);
                }
            }
        }
        self.skip(&[' ', '\t', '!']);
        Ok(())
    }

    /// Reads one address, if there is any.
    fn read_address(&mut self) -> Result<bool, NotUnderstood> {
        match self.rest.chars().next() {
            Some('$') => {
                self.next();
            }
            Some(c) if c.is_ascii_digit() => {
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
                if let Some(rest) = self.rest.strip_prefix('~') {
                    self.rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                }
            }
            Some('/') => {
                self.next();
                self.read_pattern('/')?;
                self.skip(&['I', 'M']);
            }
            Some('\\') => {
                self.next();
                let delimiter = self.next().filter(|c| is_delimiter(*c)).ok_or(NotUnderstood)?;
                self.read_pattern(delimiter)?;
                self.skip(&['I', 'M']);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read_substitution(&mut self) -> Result<(), NotUnderstood> {
        let delimiter = self.next().filter(|c| is_delimiter(*c)).ok_or(NotUnderstood)?;
        self.read_pattern(delimiter)?;
        self.read_delimited(delimiter)?;
        loop {
            match self.rest.chars().next() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.next();
                }
                Some('e') => {
                    self.next();
                    self.effects.push(ScriptEffect::Runs);
                }
                Some('w') => {
                    self.next();
                    let file = self.read_file_name()?;
                    self.effects.push(ScriptEffect::Writes(file));
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
    }

    /// Reads a regular expression.
    fn read_pattern(&mut self, delimiter: char) -> Result<(), NotUnderstood> {
        if !self.brackets {
            return self.read_delimited(delimiter);
        }
        loop {
            match self.next().ok_or(NotUnderstood)? {
                '\\' => {
                    self.next();
                }
                '[' if delimiter != '[' => {
                    let body = self.rest.strip_prefix('^').unwrap_or(self.rest);
                    let end = bracket_end(body).filter(|end| !body.get(..*end).unwrap_or_default().contains('\n'));
                    let end = end.ok_or(NotUnderstood)?;
                    self.rest = body.get(end..).unwrap_or_default();
                }
                '\n' => return Err(NotUnderstood),
                c if c == delimiter => return Ok(()),
                _ => {}
            }
        }
    }

    /// Skips the text up to a delimiter that no backslash precedes.
    fn read_delimited(&mut self, delimiter: char) -> Result<(), NotUnderstood> {
        loop {
            match self.next().ok_or(NotUnderstood)? {
                '\\' => {
                    self.next();
                }
                '\n' => return Err(NotUnderstood),
                c if c == delimiter => return Ok(()),
                _ => {}
            }
        }
    }

    /// Reads the text of `a`, `i` and `c`. A backslash before a line end continues it.
    fn read_text(&mut self) -> Result<(), NotUnderstood> {
        self.skip(&[' ', '\t']);
        if let Some(rest) = self.rest.strip_prefix('\\') {
            // Versions disagree about a second backslash, and about blanks between the backslash and the line end.
            if rest.starts_with('\\')
                || (rest.starts_with([' ', '\t']) && rest.trim_start_matches([' ', '\t']).starts_with('\n'))
            {
                return Err(NotUnderstood);
            }
            self.rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == '\n' {
                self.rest = self.rest.get(at..).unwrap_or_default();
                return Ok(());
            }
        }
        self.rest = "";
        Ok(())
    }

    fn read_file_name(&mut self) -> Result<String, NotUnderstood> {
        self.skip(&[' ', '\t']);
        let name = self.take_line();
        if name.is_empty() { Err(NotUnderstood) } else { Ok(name.to_owned()) }
    }
}

/// Says whether a character can delimit the parts of `s` and `y`. Versions disagree about others than punctuation.
fn is_delimiter(c: char) -> bool {
    c.is_ascii_punctuation() && c != '\\'
}

/// The position after the `]` that closes a bracket expression, if there is any.
fn bracket_end(body: &str) -> Option<usize> {
    let mut at = usize::from(body.starts_with(']'));
    while let Some(c) = body.get(at..)?.chars().next() {
        let rest = body.get(at..)?;
        let class =
            [":", ".", "="].into_iter().find(|sign| rest.strip_prefix('[').is_some_and(|rest| rest.starts_with(sign)));
        if let Some(sign) = class {
            at += 2 + rest.get(2..)?.find(&format!("{sign}]"))? + 2;
        } else if c == ']' {
            return Some(at + 1);
        } else {
            at += c.len_utf8();
        }
    }
    None
}
