//! Programs of `awk`. They start programs with `system` and `|`, read with `getline` and write with `>`.

use super::ScriptEffect;

/// The effects of a program.
pub(in crate::programs) fn effects(program: &str) -> Vec<ScriptEffect> {
    // Words are looked for in the whole text: where a text or a regular expression ends is not always certain.
    let mut effects = Vec::new();
    if ["system", "@", "extension"].iter().any(|word| program.contains(word)) {
        effects.push(ScriptEffect::Runs);
    }
    if ["getline", "ARGV", "ARGC"].iter().any(|word| program.contains(word)) {
        effects.push(ScriptEffect::Unknown);
    }
    let mut reader = AwkReader { rest: program, before: Before::Operator, depth: 0, print: None, effects };
    while reader.read_token() {}
    reader.effects
}

/// The token before a slash, which says whether it divides or begins a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An operator, a separator or an opening bracket: a regular expression follows.
    Operator,
    /// A name, a number or `]`: a division follows.
    Operand,
    /// A text, `)`, `++` or `--`: both may follow.
    Either,
}

struct AwkReader<'a> {
    rest: &'a str,
    before: Before,
    /// How many round brackets are open.
    depth: usize,
    /// How many were open at the `print` whose words are read.
    print: Option<usize>,
    effects: Vec<ScriptEffect>,
}

impl<'a> AwkReader<'a> {
    /// Takes the next `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Reads one token. False at the end.
    fn read_token(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else { return false };
        match c {
            '"' => return self.read_text(),
            '/' => return self.read_slash(),
            '#' => {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
                return true;
            }
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => {
                self.read_name();
                return true;
            }
            '\\' if self.rest.starts_with("\\\n") => {
                self.take(2);
                return true;
            }
            '|' if self.rest.starts_with("||") => {
                self.take(1);
            }
            '|' => self.effects.push(ScriptEffect::Runs),
            '>' if self.print.is_some_and(|depth| depth == self.depth) => return self.read_output(),
            '(' => self.depth += 1,
            ')' => self.depth = self.depth.saturating_sub(1),
            ';' | '}' => self.print = None,
            // After a comma or an operator, the statement goes on in the next line.
            '\n' if self.before != Before::Operator => self.print = None,
            _ => {}
        }
        let double = self.rest.starts_with("++") || self.rest.starts_with("--");
        self.take(if double { 2 } else { c.len_utf8() });
        self.before = match c {
            ' ' | '\t' | '\r' | '\\' => self.before,
            ')' => Before::Either,
            ']' => Before::Operand,
            _ if double => Before::Either,
            _ => Before::Operator,
        };
        true
    }

    fn read_name(&mut self) {
        let end =
            self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(self.rest.len());
        let name = self.take(end);
        if matches!(name, "print" | "printf") {
            self.print = Some(self.depth);
        }
        self.before = match name {
            "print" | "printf" | "return" | "in" | "else" | "do" | "case" | "exit" | "BEGIN" | "END" => {
                Before::Operator
            }
            "length" | "next" | "nextfile" | "break" | "continue" => Before::Either,
            _ => Before::Operand,
        };
    }

    /// Reads a text in quotes. A text that does not end makes the rest unknown.
    fn read_text(&mut self) -> bool {
        self.take(1);
        self.before = Before::Either;
        match end_of(self.rest, '"') {
            Some(end) => {
                self.take(end + 1);
                true
            }
            None => self.give_up(),
        }
    }

    /// Reads a division or a regular expression.
    fn read_slash(&mut self) -> bool {
        match self.before {
            Before::Operand => {
                self.take(1);
                self.before = Before::Operator;
                true
            }
            // It does not matter which one it is if nothing dangerous follows in any reading.
            Before::Either if self.rest.contains(['|', '>']) => self.give_up(),
            Before::Either => {
                self.rest = "";
                false
            }
            Before::Operator => {
                self.take(1);
                let end = end_of(self.rest, '/');
                let Some(pattern) = end.and_then(|end| self.rest.get(..end)) else { return self.give_up() };
                // Versions disagree whether a slash inside brackets ends the expression.
                let open =
                    pattern.rfind('[').is_some_and(|at| !pattern.get(at + 1..).unwrap_or_default().contains(']'));
                if open {
                    return self.give_up();
                }
                self.take(pattern.len() + 1);
                self.before = Before::Operand;
                true
            }
        }
    }

    /// Reads the file of `print > "file"`. The file is known if it is one text and nothing follows.
    fn read_output(&mut self) -> bool {
        self.rest = self.rest.trim_start_matches(['>', ' ', '\t']);
        let text = self.rest.strip_prefix('"').and_then(|rest| rest.get(..end_of(rest, '"')?));
        let after = text.and_then(|text| self.rest.get(text.len() + 2..)).unwrap_or_default();
        let ends = after.trim_start_matches([' ', '\t']).chars().next().is_none_or(|c| ";}\n".contains(c));
        match text.filter(|text| ends && !text.contains('\\')) {
            Some(text) => {
                self.effects.push(ScriptEffect::Writes(text.to_owned()));
                self.rest = after;
                true
            }
            None => self.give_up(),
        }
    }

    fn give_up(&mut self) -> bool {
        self.effects.push(ScriptEffect::Unknown);
        false
    }
}

/// The position of a delimiter that no backslash precedes, on the same line.
fn end_of(text: &str, delimiter: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            c if c == delimiter => return Some(at),
            _ => {}
        }
    }
    None
}
