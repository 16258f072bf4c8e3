//! Checks of texts from agents and users, before they are shown to people.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::Problem;

/// Largest number of characters of a title, a label or a name.
pub const LINE: usize = 300;
/// Largest number of characters of a message, a description or a reason.
pub const PARAGRAPHS: usize = 20_000;
/// Largest number of characters of a name that is used in files and addresses.
pub const NAME: usize = 64;
/// Deepest nesting of a JSON value.
pub const DEPTH: usize = 64;

/// Checks a single line: it must not be blank, and must not contain control characters or characters that change the reading order.
pub fn check_line(pointer: &str, text: &str, problems: &mut Vec<Problem>) {
    if text.chars().all(|c| c.is_whitespace() || is_invisible(c)) {
        problems.push(Problem::new(pointer, "must not be empty"));
    }
    check_length(pointer, text, LINE, problems);
    if let Some(found) = text.chars().find(|c| c.is_control() || is_reordering(*c)) {
        problems.push(Problem::new(pointer, format!("contains U+{:04X}, which could disguise it", found as u32)));
    }
}

/// Converts a text to one line that [`check_line`] would accept, with a space in place of every character that could disguise it.
#[must_use]
pub fn undisguised(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_reordering(c) || is_invisible(c) { ' ' } else { c }).collect()
}

/// Checks that a name contains no invisible characters, so that people can tell it from others.
pub fn check_visible(pointer: &str, text: &str, problems: &mut Vec<Problem>) {
    if let Some(found) = text.chars().find(|c| is_invisible(*c)) {
        problems.push(Problem::new(pointer, format!("contains U+{:04X}, which cannot be seen", found as u32)));
    }
}

/// Checks the name of a tool: letters and digits of any script, ASCII punctuation, and inner spaces. Rules compare the name and people read
/// it, so it must not contain invisible characters, spaces at its ends, or look-alikes of other characters (`ｒｍ`, `𝐫𝐦`).
pub fn check_tool_name(pointer: &str, name: &str, problems: &mut Vec<Problem>) {
    // Characters that `check_line` also refuses are reported only once, by `check_line`.
    let odd = |c: &char| !is_plain(*c) && !c.is_control() && !is_reordering(*c);
    if let Some(found) = name.chars().find(odd) {
        let message =
            format!("contains U+{:04X}; a tool's name has letters, digits, ASCII punctuation and spaces", found as u32);
        problems.push(Problem::new(pointer, message));
    } else if !name.is_ascii() && !name.nfkc().eq(name.chars()) {
        problems
            .push(Problem::new(pointer, "is not in NFKC form: it contains a variant form of an ordinary character"));
    }
    // Other white space is refused in any position.
    if name.starts_with(' ') || name.ends_with(' ') {
        problems.push(Problem::new(pointer, "begins or ends with a space"));
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_graphic() || c == ' ' || (c.is_alphanumeric() && !is_invisible(c))
}

/// Checks a longer text: line breaks and tabs are allowed, NUL and other control characters are not.
pub fn check_paragraphs(pointer: &str, text: &str, problems: &mut Vec<Problem>) {
    check_length(pointer, text, PARAGRAPHS, problems);
    if let Some(found) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        problems.push(Problem::new(pointer, format!("contains the control character U+{:04X}", found as u32)));
    }
}

/// Converts a text to one that [`check_paragraphs`] would accept: control characters become U+FFFD, and a text that is too long is cut.
#[must_use]
pub fn sayable(text: &str) -> String {
    let shown = |c: char| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { '\u{FFFD}' } else { c };
    if text.chars().count() <= PARAGRAPHS {
        return text.chars().map(shown).collect();
    }
    text.chars().take(PARAGRAPHS - 1).map(shown).chain(['…']).collect()
}

/// Checks an identifier: 1 to 128 printable ASCII characters without spaces.
pub fn check_identifier(pointer: &str, text: &str, problems: &mut Vec<Problem>) {
    if !is_identifier(text) {
        problems.push(Problem::new(pointer, "must be 1 to 128 printable ASCII characters without spaces"));
    }
}

/// Whether [`check_identifier`] would accept the text.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether two names identify one person, key or agent. Case is ignored: `Alice` is `alice`.
#[must_use]
pub fn is_same_name(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other) || (!one.is_ascii() && one.to_lowercase() == other.to_lowercase())
}

/// Checks a name for files, addresses and templates: letters, digits, `-` and `_`, and after the first character also the characters of
/// `more`.
pub fn check_name(pointer: &str, text: &str, more: &str, problems: &mut Vec<Problem>) {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if text.len() > NAME || !begins || !text.chars().all(|c| plain(c) || more.contains(c)) {
        let also: String = more.chars().map(|c| format!(", `{c}`")).collect();
        let message =
            format!("must be 1 to {NAME} ASCII letters, digits, `-`, `_`{also}, beginning with a letter or a digit");
        problems.push(Problem::new(pointer, message));
    }
}

/// JSON Pointer to a field, with the key escaped.
#[must_use]
pub fn field(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Key that a token of a JSON Pointer names.
#[must_use]
pub fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Checks the nesting depth of a JSON value.
pub fn check_depth(pointer: &str, value: &Value, problems: &mut Vec<Problem>) {
    if !is_shallower(value, DEPTH) {
        problems.push(Problem::new(pointer, format!("is nested deeper than {DEPTH} levels")));
    }
}

fn is_shallower(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left > 0 && items.iter().all(|item| is_shallower(item, left - 1)),
        Value::Object(fields) => left > 0 && fields.values().all(|field| is_shallower(field, left - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn check_length(pointer: &str, text: &str, most: usize, problems: &mut Vec<Problem>) {
    if text.len() > most && text.chars().count() > most {
        problems.push(Problem::new(pointer, format!("is longer than {most} characters")));
    }
}

/// Whether a character is invisible: zero-width marks and spaces, line separators, Hangul fillers (which count as letters), the blank
/// braille pattern, and tags.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
        || matches!(c, '\u{115F}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{FFA0}' | '\u{E0000}'..='\u{E007F}')
}

/// Whether a character changes the reading order: embeddings, overrides and isolates.
fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Rewrites an error message of the JSON reader for the author of the JSON. Names of Rust types are replaced.
#[must_use]
pub fn misread(said: &str) -> String {
    const WORDS: [(&str, &str); 9] = [
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected an object"),
        ("type: sequence", "type: a list"),
        ("type: map", "type: an object"),
        ("type: floating point", "type: the number"),
        ("type: integer", "type: the number"),
        ("value: integer", "value: the number"),
        ("unknown variant", "unknown word"),
    ];
    let mut said = WORDS.iter().fold(said.to_owned(), |said, (theirs, ours)| said.replace(theirs, ours));
    for number in ["usize", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"] {
        said = said.replace(&format!("expected {number}"), "expected a whole number");
    }
    for kind in ["struct", "enum", "tuple struct", "internally tagged enum"] {
        let begin = format!("expected {kind} ");
        if let Some(at) = said.find(&begin) {
            let name =
                said[at + begin.len()..].find(|c: char| !c.is_alphanumeric()).unwrap_or(said.len() - at - begin.len());
            said.replace_range(at..at + begin.len() + name, "expected an object");
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, fine_as_line: bool, fine_as_paragraphs: bool) {
        let (mut of_line, mut of_paragraphs) = (Vec::new(), Vec::new());
        check_line("/title", text, &mut of_line);
        check_paragraphs("/message", text, &mut of_paragraphs);
        assert_eq!((of_line.is_empty(), of_paragraphs.is_empty()), (fine_as_line, fine_as_paragraphs), "{text:?}");
    }

    #[test]
    fn text_that_could_mislead_a_reader_is_refused() {
        check("Deploy to production?", true, true);
        check("Удалить файл? 删除文件?", true, true);
        check("שלום\u{200F} عالم", true, true);
        check("two\nlines", false, true);
        check("nul\0byte", false, false);
        check("escape\u{1b}[31m", false, false);
        check("safe\u{202E}gpj.exe", false, true);
        check("isolate\u{2066}x\u{2069}", false, true);
        check("   ", false, true);
        check("\u{200B}\u{FEFF}", false, true);
        check(&"я".repeat(LINE), true, true);
        check(&"я".repeat(LINE + 1), false, true);
        check(&"я".repeat(PARAGRAPHS + 1), false, false);
    }

    #[test]
    fn name_with_an_invisible_character_is_refused() {
        let check = |name: &str, good: bool| {
            let mut problems = Vec::new();
            check_visible("/display", name, &mut problems);
            assert_eq!(problems.is_empty(), good, "{name:?} {problems:?}");
        };
        for good in ["release bot", "Ольга", "小明", "한국", "❤\u{FE0F}"] {
            check(good, true);
        }
        for bad in ["a\u{2028}b", "a\u{2029}b", "a\u{3164}b", "a\u{115F}b", "a\u{2800}b", "a\u{200B}b", "a\u{E0041}"] {
            check(bad, false);
        }
    }

    #[test]
    fn names_are_compared_without_regard_to_case() {
        let check = |one: &str, other: &str, same: bool| {
            assert_eq!((is_same_name(one, other), is_same_name(other, one)), (same, same), "{one} and {other}");
        };
        check("alice", "alice", true);
        check("alice", "ALICE", true);
        check("Olga@Example.org", "olga@example.ORG", true);
        check("алиса", "АЛИСА", true);
        check("alice", "alicf", false);
        check("alice", "alice2", false);
        check("", "alice", false);
    }

    #[test]
    fn sanitised_text_is_accepted_as_paragraphs() {
        assert_eq!(sayable("a\tb\n"), "a\tb\n");
        assert_eq!(sayable("nul\0byte\u{1b}"), "nul\u{FFFD}byte\u{FFFD}");
        for long in [PARAGRAPHS, PARAGRAPHS + 1, PARAGRAPHS * 2] {
            let mut problems = Vec::new();
            check_paragraphs("/message", &sayable(&"я".repeat(long)), &mut problems);
            assert_eq!(problems, []);
        }
    }

    #[test]
    fn tool_name_with_a_misleading_character_is_refused() {
        let check = |name: &str, good: bool| {
            let mut problems = Vec::new();
            check_tool_name("/tool", name, &mut problems);
            assert_eq!(problems.is_empty(), good, "{name:?} {problems:?}");
        };
        for good in ["read_file", "github.create-issue", "Run Query", "mcp__x__y", "выполнить", "读取文件"]
        {
            check(good, true);
        }
        for bad in ["a\u{2028}b", "a\u{3164}b", "a\u{E0041}", "a\u{2800}b", "a\u{00A0}b", "a\u{200B}b", "a\u{FE0F}"] {
            check(bad, false);
        }
        for bad in ["ｒｍ", "𝐫𝐦", "ﬁle", "ⅼs", "ⓡm", "№1", "file²"] {
            check(bad, false);
        }
        for bad in [" read", "read ", "\u{3000}read", "read\u{2003}", "\u{1680}read", " "] {
            check(bad, false);
        }
    }

    #[test]
    fn value_beyond_the_depth_limit_is_refused() {
        let nested = |n: usize| (0..n).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let mut problems = Vec::new();
        check_depth("/context", &nested(DEPTH), &mut problems);
        assert_eq!(problems, []);
        check_depth("/context", &nested(DEPTH + 1), &mut problems);
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn serde_errors_are_reworded_without_names_of_rust() {
        let check = |said: &str, expected: &str| assert_eq!(misread(said), expected);
        check("invalid type: string, expected struct Script", "invalid type: string, expected an object");
        check("invalid type: map, expected a sequence", "invalid type: an object, expected a list");
        check("invalid value: integer `-5`, expected u64", "invalid value: the number `-5`, expected a whole number");
        check(
            "invalid type: string, expected internally tagged enum Way with more",
            "invalid type: string, expected an object with more",
        );
        check("unknown variant, expected one of `a`, `b`", "unknown word, expected one of `a`, `b`");
        check("missing field `label`", "missing field `label`");
    }
}
