//! A lexer for the words and operators of SQL that every database splits alike.

use crate::text;

/// A word or an operator; brackets, commas, periods and semicolons count as operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word without quotes, in capitals.
    Word(String),
    /// A name in double quotes.
    Quoted(String),
    /// A text in single quotes, as it is written between them.
    Text(String),
    Number(String),
    /// `?`, `$1` or `:name`.
    Parameter(String),
    Operator(&'static str),
}

impl Token {
    /// Says whether this is the word, given in capitals.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }
}

/// Runs of operator characters, and the operators of which each consists. A minus may follow a comparison.
const OPERATORS: &[(&str, &[&str])] = &[
    ("=", &["="]),
    ("<>", &["<>"]),
    ("!=", &["<>"]),
    ("<", &["<"]),
    (">", &[">"]),
    ("<=", &["<="]),
    (">=", &[">="]),
    ("+", &["+"]),
    ("-", &["-"]),
    ("*", &["*"]),
    ("/", &["/"]),
    ("%", &["%"]),
    ("||", &["||"]),
    ("->", &["->"]),
    ("->>", &["->>"]),
    ("=-", &["=", "-"]),
    (">-", &[">", "-"]),
    ("<-", &["<", "-"]),
];

/// Splits a text into tokens. `Err` names a part that some database may read in another way than others.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut reader = Reader { rest: text, before: ' ', found: Vec::new() };
    while let Some(c) = reader.rest.chars().next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => reader.pass(1),
            'a'..='z' | 'A'..='Z' | '_' => reader.word()?,
            '0'..='9' => reader.number()?,
            '\'' => reader.text()?,
            '"' => reader.quoted()?,
            '?' | '$' | ':' => reader.parameter()?,
            '(' => reader.push_operator(1, "("),
            ')' => reader.push_operator(1, ")"),
            ',' => reader.push_operator(1, ","),
            ';' => reader.push_operator(1, ";"),
            '.' => reader.period()?,
            '=' | '<' | '>' | '!' | '+' | '-' | '*' | '/' | '%' | '|' => reader.operator()?,
            other => return Err(format!("`{}`, which databases read differently", other.escape_default())),
        }
    }
    Ok(reader.found)
}

struct Reader<'a> {
    rest: &'a str,
    /// The character before the rest.
    before: char,
    found: Vec<Token>,
}

impl Reader<'_> {
    /// Skips a number of bytes.
    fn pass(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.before = passed.chars().next_back().unwrap_or(' ');
        self.rest = rest;
    }

    fn push_operator(&mut self, bytes: usize, operator: &'static str) {
        self.pass(bytes);
        self.found.push(Token::Operator(operator));
    }

    fn next(&self) -> char {
        self.rest.chars().next().unwrap_or(' ')
    }

    /// Length in bytes of the run of such characters at the current position.
    fn run(&self, sort: impl Fn(char) -> bool) -> usize {
        self.rest.find(|c| !sort(c)).unwrap_or(self.rest.len())
    }

    fn word(&mut self) -> Result<(), String> {
        let length = self.run(in_word);
        self.found.push(Token::Word(self.rest.get(..length).unwrap_or_default().to_ascii_uppercase()));
        self.pass(length);
        match self.next() {
            '\'' | '"' => Err("a word that touches a quote".to_owned()),
            '$' => Err("a `$` in a word".to_owned()),
            _ => Ok(()),
        }
    }

    fn number(&mut self) -> Result<(), String> {
        let digit = |c: char| c.is_ascii_digit();
        let start = self.rest;
        self.pass(self.run(digit));
        if self.next() == '.' {
            self.pass(1);
            if !digit(self.next()) {
                return Err("a number that ends with a decimal point".to_owned());
            }
            self.pass(self.run(digit));
        }
        if matches!(self.next(), '.' | '$' | '\'' | '"') || in_word(self.next()) {
            return Err("a number that touches a word".to_owned());
        }
        let length = start.len() - self.rest.len();
        self.found.push(Token::Number(start.get(..length).unwrap_or_default().to_owned()));
        Ok(())
    }

    fn text(&mut self) -> Result<(), String> {
        let start = self.rest.get(1..).unwrap_or_default();
        let mut end = 0;
        loop {
            end += start.get(end..).and_then(|rest| rest.find('\'')).ok_or("a quote without an end")?;
            if !start.get(end + 1..).is_some_and(|rest| rest.starts_with('\'')) {
                break;
            }
            end += 2;
        }
        let inner = start.get(..end).unwrap_or_default();
        if inner.contains('\\') {
            return Err("a backslash in quotes, which some databases ignore".to_owned());
        }
        if let Some(c) = inner.chars().find(|c| text::is_like_punctuation(*c)) {
            return Err(format!("{}, which some databases may turn into a quote or another sign", text::describe(c)));
        }
        self.found.push(Token::Text(inner.to_owned()));
        self.pass(end + 2);
        match self.next() {
            c if in_word(c) || matches!(c, '"' | '$') => Err("a quote that touches a word".to_owned()),
            _ => Ok(()),
        }
    }

    fn quoted(&mut self) -> Result<(), String> {
        let start = self.rest.get(1..).unwrap_or_default();
        let end = start.find('"').ok_or("a quote without an end")?;
        let inner = start.get(..end).unwrap_or_default();
        let plain = |c: char| in_word(c) || matches!(c, ' ' | '-' | '.' | '/' | ':' | '*');
        if inner.trim() != inner || inner.is_empty() || !inner.chars().all(plain) {
            return Err("a quoted name with unusual characters".to_owned());
        }
        self.found.push(Token::Quoted(inner.to_owned()));
        self.pass(end + 2);
        match self.next() {
            c if in_word(c) || matches!(c, '"' | '\'' | '$') => Err("a quote that touches a word".to_owned()),
            _ => Ok(()),
        }
    }

    /// Takes `?`, `$1`, `:name`, or `::` before a type.
    fn parameter(&mut self) -> Result<(), String> {
        if in_word(self.before) && !self.rest.starts_with("::") {
            return Err("a parameter that touches a word".to_owned());
        }
        if let Some(rest) = self.rest.strip_prefix("::") {
            if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) || self.before == ':' {
                return Err("`::` without a known type after it".to_owned());
            }
            self.push_operator(2, "::");
            return Ok(());
        }
        let name = self.rest.get(1..).unwrap_or_default();
        let length = name.find(|c| !in_word(c)).unwrap_or(name.len());
        let named = name.get(..length).unwrap_or_default();
        let good = match self.next() {
            '?' => named.is_empty(),
            '$' => !named.is_empty() && named.bytes().all(|c| c.is_ascii_digit()),
            _ => named.starts_with(|c: char| c.is_ascii_alphabetic()),
        };
        // SQLite reads brackets after the name as a part of it.
        let after = name.get(length..).unwrap_or_default();
        let ends = after.is_empty() || after.starts_with([' ', '\t', '\r', '\n', ')', ',', ';']);
        if !good || !(ends || (self.next() == '$' && cast(after))) {
            return Err("a parameter that databases read differently".to_owned());
        }
        self.found.push(Token::Parameter(self.rest.get(..=length).unwrap_or_default().to_owned()));
        self.pass(length + 1);
        Ok(())
    }

    /// Takes a period, which may stand only between the parts of a name, without blanks.
    fn period(&mut self) -> Result<(), String> {
        let after = self.rest.chars().nth(1).unwrap_or(' ');
        let good = (in_word(self.before) || self.before == '"')
            && (after.is_ascii_alphabetic() || matches!(after, '_' | '"' | '*'))
            && !matches!(self.found.last(), Some(Token::Number(_)));
        if !good {
            return Err("a period that is not within a name".to_owned());
        }
        self.push_operator(1, ".");
        Ok(())
    }

    fn operator(&mut self) -> Result<(), String> {
        let length = self.run(|c| "=<>!+-*/%|&^~#@".contains(c));
        let run = self.rest.get(..length).unwrap_or_default();
        let (_, operators) = OPERATORS
            .iter()
            .find(|(written, _)| *written == run)
            .ok_or_else(|| format!("`{}`, a comment or an operator of some databases only", run.escape_default()))?;
        self.found.extend(operators.iter().map(|operator| Token::Operator(operator)));
        self.pass(length);
        Ok(())
    }
}

/// Says whether a text begins with `::int` and no bracket after it.
fn cast(text: &str) -> bool {
    text.strip_prefix("::").is_some_and(|kind| {
        kind.starts_with(|c: char| c.is_ascii_alphabetic()) && !kind.trim_start_matches(in_word).starts_with(['(', ':'])
    })
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> Option<usize> {
        tokens(text).ok().map(|found| found.len())
    }

    #[test]
    fn text_that_all_databases_tokenise_alike_is_accepted() {
        for (text, expected) in [
            ("select a.b, 'it''s', \"C d\", 1.5 from t", 12),
            ("a<>1 and b!=-1", 0),
            ("a <> 1 and b = -1;", 9),
            ("a=-1", 4),
            ("f(?, $1, :name)", 8),
            ("a::int", 3),
            ("$1::int", 3),
            ("o.*", 3),
            ("x->>'a'", 3),
            ("'Zürich'", 1),
            ("'東京 Ελλάδα Москва'", 1),
        ] {
            assert_eq!(count(text).unwrap_or(0), expected, "{text}");
        }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    fn text_that_some_database_tokenises_differently_is_refused() {
        for text in [
            "a -- b",
            "a --",
            "a # b",
            "a #> b",
            "#t",
            "a#b",
            "/* a */",
            "[a]",
            "`a`",
            "@a",
            "{a}",
            "$$a$$",
            "$a$",
            "a \\ b",
            "'a\\'",
            "'a",
            "\"a",
            "\"\"",
            "\"a\"\"b\"",
            "\" a\"",
            "E'a'",
            "n'a'",
            "x'41'",
            "_utf8'a'",
            "U&'a'",
            "1a",
            "1e3",
            "0x1",
            "1.",
            ".5",
            "1.a",
            "a .b",
            "a. b",
            "a.1",
            "a?b",
            "a ?| b",
            "?1",
            ":a(b)",
            ":a::b",
            "$1(b)",
            "$1::a(b)",
            "$1a",
            "a:b",
            "a$b",
            "a == b",
            "a & b",
            "a ^ b",
            "~a",
            "a *= b",
            "a =* b",
            "*/",
            "a | b",
            "!a",
            "'a'b",
            "'a'\"b\"",
            "\"a\"b",
            "'O\u{2019}Brien'",
            "'\u{2C8}'",
            "'\u{2B9}'",
            "'\u{2BA}'",
            "'\u{2CB}'",
            "'\u{2032}'",
            "'\u{2035}'",
            "'\u{FF07}'",
            "'\u{37E}'",
            "'\u{A5}'",
            "'\u{20A9}'",
            "'e\u{300}'",
            "'\u{A78C}'",
            "'\u{7F4}'",
            "'\u{5F3}'",
            "é",
            "a\u{a0}b",
            "a::'b'",
            "a:::b",
            "1_000",
        ] {
            assert!(tokens(text).is_err(), "{text} was read: {:?}", tokens(text));
        }
    }
}
