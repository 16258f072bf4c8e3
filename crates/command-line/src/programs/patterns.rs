//! Patterns over the values of options and over operands, in which `*` stands for any text.

use crate::{ShellWord, WordPart};

/// Says whether a text matches a pattern.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match text.find(piece) {
            Some(at) => text = text.get(at + piece.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    text.len() >= last.len() && text.ends_with(last)
}

/// Says whether a list of exceptions holds for a word: the first pattern that matches decides, and `!` before a pattern says that it is none.
pub(super) fn is_exception(patterns: &[String], word: &ShellWord) -> bool {
    match word.text() {
        Some(text) => {
            let decides = patterns.iter().find(|pattern| matches(pattern.strip_prefix('!').unwrap_or(pattern), text));
            decides.is_some_and(|pattern| !pattern.starts_with('!'))
        }
        None => patterns.iter().any(|pattern| !pattern.starts_with('!') && may_match(pattern, word)),
    }
}

/// Says whether a word that is not wholly known may match a pattern. Digits that only the shell knows match nothing but `*`.
fn may_match(pattern: &str, word: &ShellWord) -> bool {
    let start = pattern.split('*').next().unwrap_or_default();
    if word.parts.iter().all(|part| matches!(part, WordPart::Literal(_) | WordPart::Number)) {
        let text: String =
            word.parts.iter().map(|part| if let WordPart::Literal(text) = part { text } else { "0" }).collect();
        return matches(pattern, &text);
    }
    let known = word.prefix();
    start.starts_with(known) || known.starts_with(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "abc", true),
            ("a*", "abc", true),
            ("a*", "ba", false),
            ("*c", "abc", true),
            ("*=*", "a=b", true),
            ("*=*", "ab", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*ab*ab", "ab", false),
            ("*ab*ab", "abab", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn the_first_pattern_decides() {
        let patterns: Vec<String> = ["*:*", "*/*/*", "!@*/*", "*/*"].map(str::to_owned).to_vec();
        for (text, expected) in [
            ("lodash", false),
            ("@types/node", false),
            ("user/repository", true),
            ("@a/b@user/repository", true),
            ("file:x", true),
        ] {
            assert_eq!(is_exception(&patterns, &ShellWord::literal(text)), expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_word_may_be_an_exception() {
        let unknown = |start: &str| ShellWord {
            parts: vec![WordPart::Literal(start.to_owned()), WordPart::Unknown { quoted: true }],
            span: 0..0,
        };
        let files = ["@*".to_owned()];
        assert!(!is_exception(&files, &unknown("src/")));
        assert!(is_exception(&files, &unknown("@")));
        assert!(is_exception(&["*=*".to_owned()], &unknown("test")));
        assert!(is_exception(&files, &ShellWord { parts: vec![WordPart::Unknown { quoted: true }], span: 0..0 }));
    }
}
