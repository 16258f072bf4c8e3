//! A lexer for the quotes, names and comments of each dialect, which writes the text again in a form that has only one reading.
//!
//! Comments become blanks. Texts lose their prefix, escapes and unusual characters: no fact depends on them. A quoted name keeps its characters,
//! and one with unusual characters is refused.

use crate::word_list::WordList;
use crate::{SqlDialect, text};

/// Longest text, in bytes.
const LONGEST: usize = 32 * 1024;

/// Largest number of words and operators. The tree of a chain of operators is as deep as the chain is long, and dropping it takes stack.
const MOST: usize = 2_000;

/// Signs of which the operators of `PostgreSQL` consist.
const OPERATOR_SIGNS: &str = "+-*/<>=~!@#%^&|`?";

/// Operators of `PostgreSQL` that only compute.
static OPERATORS: WordList = WordList::new(include_str!("../../../data/sql/postgresql_operators.txt"));

/// A text that was split as its dialect does.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The text without comments and with plain quotes.
    pub(super) text: String,
    /// The words outside of quotes, in capitals.
    pub(super) words: Vec<String>,
    /// For each word, whether it begins a statement: it is the first, or stands after a semicolon.
    pub(super) begins: Vec<bool>,
}

/// Splits a text. `Err` names a part that is refused.
pub(super) fn scan(dialect: SqlDialect, text: &str) -> Result<Scanned, String> {
    let text = text.replace("\r\n", "\n");
    check(dialect, &text)?;
    let mut scanner = Scanner {
        dialect,
        rest: &text,
        scanned: Scanned::default(),
        tokens: 0,
        begins: true,
        touches: false,
        pragma: false,
    };
    while let Some(c) = scanner.rest.chars().next() {
        scanner.take(c)?;
    }
    if scanner.tokens > MOST {
        return Err(format!("it has more than {MOST} words"));
    }
    Ok(scanner.scanned)
}

fn check(dialect: SqlDialect, text: &str) -> Result<(), String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    if let Some(c) = text::find_invisible(text) {
        return Err(format!("{} is in it", text::describe(c)));
    }
    if dialect == SqlDialect::Tsql {
        // Clients act on these in texts and comments too.
        if text.contains("$(") {
            return Err("`$(`, which clients replace by a variable".to_owned());
        }
        let batch = |line: &str| {
            let mut words = line.split_whitespace();
            words.next().is_some_and(|word| word.trim_end_matches(';').eq_ignore_ascii_case("go"))
        };
        if text.lines().any(batch) {
            return Err("`GO`, at which clients split the text".to_owned());
        }
    }
    Ok(())
}

struct Scanner<'a> {
    dialect: SqlDialect,
    rest: &'a str,
    scanned: Scanned,
    tokens: usize,
    /// The next word begins a statement.
    begins: bool,
    /// The next character touches a quote or a number, and may not be a part of a word.
    touches: bool,
    /// The statement is a pragma.
    pragma: bool,
}

impl Scanner<'_> {
    fn take(&mut self, c: char) -> Result<(), String> {
        let touches = std::mem::take(&mut self.touches);
        if touches && (is_word(c) || matches!(c, '\'' | '"' | '`' | '$')) {
            return Err("a quote or a number that touches a word".to_owned());
        }
        if c.is_whitespace() {
            return self.copy(c.len_utf8());
        }
        if self.is_comment()? {
            return Ok(());
        }
        self.tokens += 1;
        match c {
            '\'' => self.text(false),
            '"' if self.has_double_quoted_texts() => self.text(false),
            '"' => self.name('"'),
            '`' if matches!(self.dialect, SqlDialect::Mysql | SqlDialect::Sqlite | SqlDialect::Bigquery) => {
                self.name('`')
            }
            '[' if matches!(self.dialect, SqlDialect::Tsql | SqlDialect::Sqlite) => self.name(']'),
            c if c.is_ascii_digit() => self.number(),
            c if is_word(c) => self.word(),
            '$' => self.dollar(),
            ';' => {
                self.begins = true;
                self.copy(1)
            }
            _ => self.operator(c),
        }
    }

    /// Copies a number of bytes.
    fn copy(&mut self, bytes: usize) -> Result<(), String> {
        let (copied, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.scanned.text.push_str(copied);
        self.rest = rest;
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn has_double_quoted_texts(&self) -> bool {
        matches!(self.dialect, SqlDialect::Mysql | SqlDialect::Bigquery)
    }

    /// Skips a comment, if the rest begins with one.
    fn is_comment(&mut self) -> Result<bool, String> {
        let hash = matches!(self.dialect, SqlDialect::Mysql | SqlDialect::Bigquery);
        if self.rest.starts_with("--") || (hash && self.rest.starts_with('#')) {
            if self.dialect == SqlDialect::Mysql
                && self
                    .rest
                    .strip_prefix("--")
                    .is_some_and(|rest| !rest.is_empty() && !rest.starts_with([' ', '\t', '\n']))
            {
                return Err("`--` without a blank after it, which is not a comment".to_owned());
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.skip(end);
        } else if self.rest.starts_with("/*") {
            self.long_comment()?;
        } else if self.rest.starts_with("*/") {
            return Err("`*/` without a comment before it".to_owned());
        } else {
            return Ok(false);
        }
        self.scanned.text.push(' ');
        Ok(true)
    }

    fn long_comment(&mut self) -> Result<(), String> {
        let runs = ["/*!", "/*+", "/*M!"].iter().any(|open| self.rest.starts_with(open));
        if self.dialect == SqlDialect::Mysql && runs {
            return Err("a comment that the database runs".to_owned());
        }
        let nests = matches!(self.dialect, SqlDialect::Postgresql | SqlDialect::Tsql);
        let mut depth = 0_usize;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                if depth > 1 && !nests {
                    return Err("a comment in a comment".to_owned());
                }
                self.skip(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.skip(2);
                if depth == 0 {
                    return Ok(());
                }
            } else {
                let next = self.rest.chars().next().ok_or("a comment without an end")?;
                self.skip(next.len_utf8());
            }
        }
    }

    /// Takes a text in quotes. The rest begins with the opening quote.
    fn text(&mut self, escapes: bool) -> Result<(), String> {
        let quote = if self.rest.starts_with('"') { '"' } else { '\'' };
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let bigquery = self.dialect == SqlDialect::Bigquery;
        let close = if bigquery && self.rest.starts_with(&triple) { triple } else { quote.to_string() };
        let escapes = escapes || bigquery || self.dialect == SqlDialect::Mysql;
        let doubles = !bigquery;
        self.skip(close.len());
        let mut content = String::new();
        loop {
            if self.rest.starts_with(&close) {
                self.skip(close.len());
                if doubles && self.rest.starts_with(quote) {
                    self.skip(1);
                    content.push('_');
                    continue;
                }
                break;
            }
            let next = self.rest.chars().next().ok_or("a quote without an end")?;
            self.skip(next.len_utf8());
            if next == '\n' && bigquery && close.len() == 1 {
                return Err("a text that ends with its line".to_owned());
            }
            if next == '\\' && escapes {
                let escaped = self.rest.chars().next().ok_or("a quote without an end")?;
                self.skip(escaped.len_utf8());
            }
            let plain = next.is_ascii_alphanumeric() || " _.,:%*@+/-".contains(next);
            content.push(if plain { next } else { '_' });
        }
        self.scanned.text.push('\'');
        self.scanned.text.push_str(&content);
        self.scanned.text.push('\'');
        self.touches = true;
        Ok(())
    }

    /// Takes a quoted name. The rest begins with the opening quote.
    fn name(&mut self, close: char) -> Result<(), String> {
        let start = self.rest.get(1..).unwrap_or_default();
        let end = start.find(close).ok_or("a quoted name without an end")?;
        let content = start.get(..end).unwrap_or_default();
        let plain = |c: char| is_word(c) || matches!(c, ' ' | '-' | '.' | '/' | ':' | '*' | '$' | '#' | '@' | '%');
        if content.trim() != content || content.is_empty() || !content.chars().all(plain) {
            return Err("a quoted name with unusual characters".to_owned());
        }
        self.skip(end + 2);
        let (open, shut) = match self.dialect {
            SqlDialect::Postgresql | SqlDialect::Sqlite => ('"', '"'),
            SqlDialect::Mysql | SqlDialect::Bigquery => ('`', '`'),
            SqlDialect::Tsql => ('[', ']'),
        };
        self.scanned.text.push(open);
        self.scanned.text.push_str(content);
        self.scanned.text.push(shut);
        self.touches = true;
        if self.rest.starts_with(close) {
            return Err("a quoted name with a quote in it".to_owned());
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut length = digits(self.rest);
        let after = |at: usize| self.rest.get(at..).unwrap_or_default();
        if after(0).starts_with("0x") && length == 1 {
            length = 2 + after(2).bytes().take_while(u8::is_ascii_hexdigit).count();
            self.scanned.text.push('1');
            self.skip(length);
            self.touches = true;
            return Ok(());
        }
        if after(length).starts_with('.') {
            length += 1 + digits(after(length + 1));
        }
        if after(length).starts_with(['e', 'E']) {
            let sign = usize::from(after(length + 1).starts_with(['+', '-']));
            let exponent = digits(after(length + 1 + sign));
            length += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        self.touches = true;
        self.copy(length)
    }

    fn word(&mut self) -> Result<(), String> {
        let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let word = self.rest.get(..length).unwrap_or_default().to_owned();
        let next = self.rest.get(length..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
        let quote = next == '\'' || (next == '"' && self.has_double_quoted_texts());
        if matches!(next, '$' | '\\') || (matches!(next, '"' | '`') && !quote) {
            return Err("a word that touches a quote or a `$`".to_owned());
        }
        let lower = word.to_lowercase();
        let after = self.rest.get(length..).unwrap_or_default().trim_start();
        let names_operator = lower == "operator" && ["(", "--", "/*"].iter().any(|open| after.starts_with(open));
        if self.dialect == SqlDialect::Postgresql && names_operator {
            return Err("an operator that is named by its schema".to_owned());
        }
        if quote && self.is_prefix(&lower) {
            self.skip(length);
            return self.text(self.dialect == SqlDialect::Postgresql && lower == "e");
        }
        let first = std::mem::take(&mut self.begins);
        if first {
            self.pragma = self.dialect == SqlDialect::Sqlite && lower == "pragma";
        }
        if self.pragma && self.scanned.text.trim_end().ends_with(['(', '=']) {
            // The parser wants a quoted value.
            self.skip(length);
            self.scanned.text.push_str(&format!("'{word}'"));
            return Ok(());
        }
        self.scanned.words.push(word.to_uppercase());
        self.scanned.begins.push(first);
        self.copy(length)?;
        if quote {
            self.scanned.text.push(' ');
        }
        Ok(())
    }

    /// Says whether a word before a quote belongs to the text in it.
    fn is_prefix(&self, word: &str) -> bool {
        match self.dialect {
            SqlDialect::Postgresql => matches!(word, "e" | "n" | "b" | "x"),
            SqlDialect::Mysql => matches!(word, "n" | "b" | "x") || word.starts_with('_'),
            SqlDialect::Sqlite => word == "x",
            SqlDialect::Bigquery => matches!(word, "r" | "b" | "rb" | "br"),
            SqlDialect::Tsql => word == "n",
        }
    }

    /// Takes a text in dollar quotes, or a parameter.
    fn dollar(&mut self) -> Result<(), String> {
        let rest = self.rest.get(1..).unwrap_or_default();
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let tag = rest.get(..length).unwrap_or_default();
        let number = !tag.is_empty() && tag.bytes().all(|c| c.is_ascii_digit());
        let quote = rest.get(length..).is_some_and(|rest| rest.starts_with('$'));
        match self.dialect {
            SqlDialect::Postgresql if number && !quote => self.copy(1 + length),
            SqlDialect::Postgresql if quote && !tag.starts_with(|c: char| c.is_ascii_digit()) => {
                let delimiter = format!("${tag}$");
                self.skip(delimiter.len());
                let end = self.rest.find(&delimiter).ok_or("a dollar quote without an end")?;
                self.skip(end + delimiter.len());
                self.scanned.text.push_str("'_'");
                self.touches = true;
                Ok(())
            }
            SqlDialect::Sqlite if length > 0 && !quote => {
                self.skip(1 + length);
                self.scanned.text.push('?');
                self.touches = true;
                Ok(())
            }
            SqlDialect::Postgresql
            | SqlDialect::Mysql
            | SqlDialect::Sqlite
            | SqlDialect::Bigquery
            | SqlDialect::Tsql => Err("a `$`, whose meaning depends on the client".to_owned()),
        }
    }

    fn operator(&mut self, c: char) -> Result<(), String> {
        if self.dialect == SqlDialect::Postgresql && OPERATOR_SIGNS.contains(c) {
            let length = operator_length(self.rest);
            let operator = self.rest.get(..length).unwrap_or_default();
            if !OPERATORS.contains(operator) {
                return Err(format!("`{operator}`, which is no operator of the database itself"));
            }
            return self.copy(length);
        }
        let next = self.rest.chars().nth(1).unwrap_or(' ');
        let good = match c {
            '(' | ')' | ',' | '.' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '~' | '^' | '&' | '|' | '?' => true,
            '!' if self.dialect == SqlDialect::Tsql => matches!(next, '=' | '<' | '>'),
            '!' => next != '!',
            '[' | ']' => matches!(self.dialect, SqlDialect::Postgresql | SqlDialect::Bigquery),
            '@' => true,
            '#' => matches!(self.dialect, SqlDialect::Postgresql | SqlDialect::Tsql),
            ':' if self.dialect == SqlDialect::Tsql => next == ':',
            ':' => !matches!(next, '\'' | '"' | '`'),
            _ => false,
        };
        if !good {
            return Err(format!("`{}`, whose meaning depends on the client", c.escape_debug()));
        }
        let length = if c == ':' && next == ':' { 2 } else { 1 };
        self.copy(length)
    }
}

/// The length of the operator of `PostgreSQL` at the beginning of a text: as many signs as possible, up to a comment. One that ends with a sign
/// of a number ends before it, unless it has a sign that no number and no comparison has.
fn operator_length(text: &str) -> usize {
    let signs = text.find(|c| !OPERATOR_SIGNS.contains(c)).unwrap_or(text.len());
    let text = text.get(..signs).unwrap_or_default();
    let comment = ["--", "/*"].iter().filter_map(|open| text.find(open)).min();
    let operator = text.get(..comment.unwrap_or(text.len())).unwrap_or_default();
    if operator.contains(|c| "~!@#%^&|`?".contains(c)) {
        return operator.len();
    }
    operator.trim_end_matches(['+', '-']).len().max(1)
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric() || (c.is_alphanumeric() && !text::is_like_punctuation(c))
}
