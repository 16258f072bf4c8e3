//! One word of a command, after the quotes are removed.

/// A word as the shell would see it, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    /// Text without quotes; expansions are kept as written.
    pub(super) text: String,
    /// Part of the word is known only when the command runs.
    pub(super) dynamic: bool,
    /// The word is a pattern over file names, or begins with a home directory.
    pub(super) glob: bool,
    /// The characters outside quotes, with a blank for each quoted one. Braces and patterns count only outside quotes.
    bare: String,
}

impl Word {
    /// A word that no shell reads, and that has no quotes or expansions.
    pub(super) fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// A word that was read elsewhere: its value, or the text as written if parts of it are known only when the command runs.
    pub(super) fn as_written(text: &str, dynamic: bool, glob: bool) -> Self {
        Self { text: text.to_owned(), dynamic, glob, ..Self::default() }
    }

    /// Appends text from outside quotes and removes its backslashes.
    pub(super) fn push_bare(&mut self, raw: &str) {
        let mut chars = raw.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('\n') => {}
                    Some(escaped) => self.push_quoted_char(escaped),
                    None => self.push_quoted_char('\\'),
                },
                c => {
                    self.text.push(c);
                    self.bare.push(c);
                }
            }
        }
    }

    /// Appends quoted text.
    pub(super) fn push_quoted(&mut self, text: &str) {
        text.chars().for_each(|c| self.push_quoted_char(c));
    }

    /// Appends text from between double quotes and removes its backslashes. Returns `false` if the text has an expansion: the parser
    /// missed it, so its reading of this word does not count.
    #[must_use]
    pub(super) fn push_double_quoted(&mut self, raw: &str) -> bool {
        let mut chars = raw.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next_if(|next| matches!(next, '$' | '`' | '"' | '\\' | '\n')) {
                    Some('\n') => {}
                    Some(escaped) => self.push_quoted_char(escaped),
                    None => self.push_quoted_char('\\'),
                },
                '`' => return false,
                '$' if chars.peek().is_some_and(|next| starts_expansion(*next)) => return false,
                c => self.push_quoted_char(c),
            }
        }
        true
    }

    /// Appends an expansion, as written.
    pub(super) fn push_dynamic(&mut self, raw: &str) {
        self.dynamic = true;
        self.push_quoted(raw);
    }

    /// Appends another word that touches this one.
    pub(super) fn append(&mut self, other: &Word) {
        self.text.push_str(&other.text);
        self.bare.push_str(&other.bare);
        self.dynamic |= other.dynamic;
    }

    /// Sets the flags for patterns and braces, once the word is complete.
    pub(super) fn finish(mut self) -> Self {
        let home = self.bare.starts_with('~') || self.bare.contains("=~") || self.bare.contains(":~");
        self.glob |= home || self.bare.contains(['*', '?', '[']);
        self.dynamic |= braces_expand(&self.bare);
        self
    }

    fn push_quoted_char(&mut self, c: char) {
        self.text.push(c);
        self.bare.push(' ');
    }
}

fn starts_expansion(next: char) -> bool {
    next.is_ascii_alphanumeric() || "_({@*#?$!-[".contains(next)
}

/// Says whether a word may expand to several words, as `{a,b}` and `{1..3}` do.
fn braces_expand(bare: &str) -> bool {
    let Some(open) = bare.find('{') else { return false };
    let Some(close) = bare.rfind('}') else { return false };
    bare.get(open..close).is_some_and(|inside| inside.contains(',') || inside.contains(".."))
}

/// Decodes the text of `$'…'`. `None` if it has a NUL or an unknown escape.
pub(super) fn ansi_c(raw: &str) -> Option<String> {
    let mut out: Vec<u8> = Vec::new();
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let escape = chars.next()?;
        let mut digits = |radix: u32, most: usize| {
            let mut value = None;
            for _ in 0..most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                chars.next();
                value = Some(value.unwrap_or(0) * radix + digit);
            }
            value
        };
        match escape {
            '\\' | '\'' | '"' | '?' => out.push(u8::try_from(escape).ok()?),
            'a' => out.push(7),
            'b' => out.push(8),
            'e' | 'E' => out.push(27),
            'f' => out.push(12),
            'n' => out.push(b'\n'),
            'r' => out.push(b'\r'),
            't' => out.push(b'\t'),
            'v' => out.push(11),
            'x' => out.push(u8::try_from(digits(16, 2)?).ok()?),
            'u' => push_char(&mut out, digits(16, 4)?)?,
            'U' => push_char(&mut out, digits(16, 8)?)?,
            '0'..='7' => {
                let first = escape.to_digit(8)?;
                let value = (0..2).fold(first, |value, _| match digits(8, 1) {
                    Some(digit) => value * 8 + digit,
                    None => value,
                });
                out.push(u8::try_from(value & 0xFF).ok()?);
            }
            _ => return None,
        }
    }
    // The shell ends the word at a NUL.
    String::from_utf8(out).ok().filter(|text| !text.contains('\0'))
}

fn push_char(out: &mut Vec<u8>, number: u32) -> Option<()> {
    out.extend_from_slice(char::from_u32(number)?.encode_utf8(&mut [0; 4]).as_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ansi_c_escapes_are_decoded() {
        for (raw, expected) in [
            (r"\x67it", Some("git")),
            (r"\147it", Some("git")),
            (r"git", Some("git")),
            (r"\u00e9\'", Some("é'")),
            (r"git\0x", None),
            (r"\x00", None),
            (r"\cA", None),
            (r"\xff", None),
            (r"a\", None),
        ] {
            assert_eq!(ansi_c(raw).as_deref(), expected, "{raw}");
        }
    }

    #[test]
    fn possible_brace_expansion_is_recognised() {
        for (bare, expected) in [
            ("{a,b}", true),
            ("x{1..3}y", true),
            ("{}", false),
            ("{a}", false),
            ("a,b", false),
            ("}{,", false),
            ("{a{b,c}", true),
        ] {
            assert_eq!(braces_expand(bare), expected, "{bare}");
        }
    }
}
