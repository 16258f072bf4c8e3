//! Checks on the characters and comments of SQL, before it is parsed.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "enums of the SQL parser have a hundred variants; most tokens are words"
)]

use sqlparser::dialect::GenericDialect;
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use super::refused;
use crate::{Unparsed, text};

/// Longest text, in bytes.
const LONGEST: usize = 32 * 1024;

/// Largest number of words and operators. The tree of a chain of operators is as deep as the chain is long, and dropping it takes stack.
const MOST: usize = 2_000;

/// Refuses a text that is too long, or has quotes or comments that databases end at different positions.
pub(super) fn check(text: &str) -> Result<(), Unparsed> {
    if text.len() > LONGEST {
        return Err(refused(format!("the SQL is longer than {LONGEST} bytes")));
    }
    if let Some(c) = text::find_invisible(&text.replace("\r\n", "\n")) {
        return Err(refused(format!("{} is in the SQL", text::describe(c))));
    }
    if text.contains("\\'") || text.contains("\\\"") || text.contains("\\`") {
        return Err(refused("a backslash before a quote, which some databases read as its end"));
    }
    if text.contains("'''") || text.contains("\"\"\"") {
        return Err(refused("three quotes in a row, which some databases read as another kind of quote"));
    }
    if ["/*!", "/*+", "/*M!"].iter().any(|open| text.contains(open)) {
        return Err(refused("a comment that some databases run"));
    }
    let tokens = Tokenizer::new(&GenericDialect {}, text)
        .tokenize()
        .map_err(|error| refused(format!("the SQL cannot be parsed: {error}")))?;
    let mut words = 0;
    for token in &tokens {
        match token {
            Token::Whitespace(blank) => comment(blank)?,
            Token::DollarQuotedString(_) => return Err(refused("`$$` quotes, which only some databases know")),
            Token::Sharp => return Err(refused("a `#`, which some databases read as a comment")),
            Token::Backslash => return Err(refused("a backslash outside of quotes")),
            _ => words += 1,
        }
    }
    if words > MOST {
        return Err(refused(format!("the SQL has more than {MOST} words")));
    }
    Ok(())
}

/// Refuses a text that continues after a query of the form `TABLE a`: the parser skips the next two words.
pub(super) fn ends_after_table(text: &str) -> Result<(), Unparsed> {
    let mut tokens = Tokenizer::new(&GenericDialect {}, text)
        .tokenize()
        .map_err(|error| refused(format!("the SQL cannot be parsed: {error}")))?;
    tokens.retain(|token| !matches!(token, Token::Whitespace(_)));
    let made = ["create", "temporary", "temp", "unlogged", "external", "drop", "alter", "truncate", "lock"];
    let mut before = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.to_string().to_ascii_lowercase();
        if word == "table" && !made.contains(&before.as_str()) {
            let rest = tokens.get(at + 1..).unwrap_or_default();
            let rest = match rest {
                [_, Token::Period, _, rest @ ..] | [_, rest @ ..] => rest,
                [] => rest,
            };
            if !matches!(rest, [] | [Token::SemiColon]) {
                return Err(refused("further words follow `TABLE` and its name"));
            }
        }
        before = word;
    }
    Ok(())
}

fn comment(blank: &Whitespace) -> Result<(), Unparsed> {
    match blank {
        Whitespace::SingleLineComment { comment, prefix } => {
            if prefix != "--" {
                return Err(refused(format!("a comment after `{prefix}`, which only some databases know")));
            }
            if !comment.is_empty() && !comment.starts_with([' ', '\t', '\n']) {
                return Err(refused("`--` without a blank after it, which some databases do not take for a comment"));
            }
        }
        Whitespace::MultiLineComment(comment) => {
            if comment.contains("/*") {
                return Err(refused("a comment in a comment, which databases end differently"));
            }
        }
        Whitespace::Space | Whitespace::Newline | Whitespace::Tab => {}
    }
    Ok(())
}
