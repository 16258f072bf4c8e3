//! Patterns with `*` and `?` that match whole names, such as the tools of a rule.

use std::fmt;

use wildmatch::WildMatch;

/// A name in which `*` stands for any characters and `?` for exactly one. It matches whole names, case-sensitively.
#[derive(Clone, PartialEq)]
pub struct Pattern {
    text: String,
    matcher: WildMatch,
}

impl Pattern {
    /// Longest pattern, in characters.
    pub const LONGEST: usize = 128;

    /// Reads a pattern, or gives the reason why the text is not one.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("is empty, so that it matches nothing".into());
        }
        if text.chars().count() > Self::LONGEST {
            return Err(format!("is longer than {} characters", Self::LONGEST));
        }
        if let Some(found) = text.chars().find(|c| c.is_control() || c.is_whitespace()) {
            return Err(format!("contains U+{:04X}, which no name has", found as u32));
        }
        Ok(Self { text: text.to_owned(), matcher: WildMatch::new(text) })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Says whether the pattern matches a whole name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.matcher.matches(name)
    }

    /// Says whether the pattern has no wildcard.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.text.contains(['*', '?'])
    }

    /// Says whether the pattern matches every name.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.text.bytes().all(|b| b == b'*')
    }

    /// The text before the first wildcard.
    pub(crate) fn prefix(&self) -> &str {
        self.text.split(['*', '?']).next().unwrap_or_default()
    }

    /// The text after the last wildcard.
    pub(crate) fn suffix(&self) -> &str {
        self.text.rsplit(['*', '?']).next().unwrap_or_default()
    }

    /// Says whether this pattern matches every name that the other one matches.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        covers(&normal(&self.text), &normal(&other.text))
    }
}

/// An equivalent pattern in which each run of wildcards has its `?` first, then one `*`.
fn normal(text: &str) -> Vec<char> {
    let mut chars = Vec::with_capacity(text.len());
    let mut star = false;
    for c in text.chars() {
        match c {
            '*' => star = true,
            '?' => chars.push('?'),
            _ => {
                if std::mem::take(&mut star) {
                    chars.push('*');
                }
                chars.push(c);
            }
        }
    }
    if star {
        chars.push('*');
    }
    chars
}

/// Matches one pattern against the characters of another: a `*` of the other needs a `*` here, a `?` needs a `?` or a `*`.
fn covers(wide: &[char], narrow: &[char]) -> bool {
    let (mut w, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < narrow.len() {
        match wide.get(w) {
            Some('*') => {
                retry = Some((w + 1, n));
                w += 1;
            }
            Some(&sign) if narrow[n] != '*' && (sign == '?' || sign == narrow[n]) => {
                w += 1;
                n += 1;
            }
            _ => {
                let Some((after, taken)) = retry else { return false };
                retry = Some((after, taken + 1));
                (w, n) = (after, taken + 1);
            }
        }
    }
    wide[w..].iter().all(|sign| *sign == '*')
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl serde::Serialize for Pattern {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str, expected: bool) {
        assert_eq!(Pattern::new(pattern).unwrap().matches(name), expected, "{pattern} on {name}");
    }

    fn wider(wide: &str, narrow: &str, expected: bool) {
        let covers = Pattern::new(wide).unwrap().covers(&Pattern::new(narrow).unwrap());
        assert_eq!(covers, expected, "{wide} covers {narrow}");
    }

    #[test]
    fn pattern_matches_only_the_whole_name() {
        matches("write_file", "write_file", true);
        matches("write_file", "write_file_unsafe", false);
        matches("write_file", "my_write_file", false);
        matches("write_file", "Write_File", false);
        matches("write_*", "write_file", true);
        matches("write_*", "write_", true);
        matches("write_*", "overwrite_file", false);
        matches("write_?", "write_a", true);
        matches("write_?", "write_", false);
        matches("write_?", "write_ab", false);
        matches("write_?", "write_é", true);
        matches("*", "", true);
        matches("*_file", "write_file", true);
        matches("*_file", "write_file2", false);
        matches("a*b*c", "aXbYbZc", true);
        matches("write_file", "wrіte_file", false);
        matches("write.file", "writeXfile", false);
        matches("[a-z]*", "b", false);
    }

    #[test]
    fn pattern_covers_narrower_patterns() {
        wider("*", "write_*", true);
        wider("write_*", "*", false);
        wider("write_*", "write_file", true);
        wider("write_*", "write_*_x", true);
        wider("write_?", "write_*", false);
        wider("write_*", "write_?", true);
        wider("*?", "?*", true);
        wider("?*", "*?", true);
        wider("?*", "*", false);
        wider("*a*", "*aa*", true);
        wider("*ab*", "*b*", false);
        wider("a*a", "a", false);
        wider("write_file", "write_file", true);
        wider("write_file", "write_fil?", false);
        wider("*_file", "read_*_file", true);
        wider("**", "*", true);
    }

    #[test]
    fn invalid_patterns_are_refused() {
        assert!(Pattern::new("").is_err());
        assert!(Pattern::new("a b").is_err());
        assert!(Pattern::new("a\u{0}").is_err());
        assert!(Pattern::new(&"a".repeat(129)).is_err());
        assert!(Pattern::new(&"é".repeat(128)).is_ok());
    }
}
