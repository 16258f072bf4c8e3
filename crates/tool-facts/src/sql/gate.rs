//! The check that every database reads a text alike.
//!
//! The parser has one grammar, and accepts much that another database reads in another way: an unknown word becomes an alias, words
//! after `END` are skipped. So a text is relied on only if it has one statement, only operators that mean the same everywhere, no keyword of any
//! database as a name, and no part that the parser dropped. Every other text is in doubt.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{Ident, Query, Statement as Tree, TableFactor, Visit, Visitor};

use super::token::{Token, tokens};
use super::{Statement, words};

/// The reason why a text cannot be relied on, if there is one.
pub(super) fn find_doubt(text: &str, trees: &[Tree], read: &[Statement]) -> Option<String> {
    check(text, trees, read).err()
}

fn check(text: &str, trees: &[Tree], read: &[Statement]) -> Result<(), String> {
    let mut found = tokens(text)?;
    if found.last() == Some(&Token::Operator(";")) {
        found.pop();
    }
    let ([tree], [read]) = (trees, read) else {
        return Err("more than one statement".to_owned());
    };
    if found.contains(&Token::Operator(";")) {
        return Err("a `;` within a statement".to_owned());
    }
    let mut names = Names::default();
    let _: ControlFlow<()> = tree.visit(&mut names);
    check_adjacent(&found)?;
    names.check(&found)?;
    names.check_targets(read)?;
    check_all_parts_read(&found, tree)
}

/// Checks that every word and operator of the text occurs again when the parsed statement is printed.
fn check_all_parts_read(found: &[Token], tree: &Tree) -> Result<(), String> {
    let written = tokens(&tree.to_string()).map_err(|_| "a part that cannot be printed as it was parsed".to_owned())?;
    let (mut found, mut written) = (found.iter().filter_map(essence), written.iter().filter_map(essence));
    loop {
        match (found.next(), written.next()) {
            (None, None) => return Ok(()),
            (one, other) if one == other => {}
            (Some(one), _) => return Err(format!("a part that was not understood, at `{one}`")),
            (None, Some(_)) => return Err("a parsed part that is not in the text".to_owned()),
        }
    }
}

/// A word or operator in the form in which it is compared. `AS`, `INNER` and `OUTER` are optional and never names, so they are left out.
fn essence(token: &Token) -> Option<String> {
    Some(match token {
        Token::Word(word) if matches!(word.as_str(), "AS" | "INNER" | "OUTER") => return None,
        Token::Word(word) if word == "NEXT" => "FIRST".to_owned(),
        Token::Word(word) | Token::Number(word) | Token::Parameter(word) => word.clone(),
        Token::Quoted(name) => format!("\"{name}\""),
        Token::Text(text) => format!("'{text}'"),
        Token::Operator(operator) => (*operator).to_owned(),
    })
}

/// Refuses adjacent words and quotes that are an alias in one database and something else in another.
fn check_adjacent(found: &[Token]) -> Result<(), String> {
    let mut before: Option<&Token> = None;
    for (at, token) in found.iter().enumerate() {
        let after = found.get(at + 1);
        match token {
            Token::Word(word) if word == "IN" && after != Some(&Token::Operator("(")) => {
                return Err("`IN` without a bracket".to_owned());
            }
            Token::Word(word) if !words::is_reserved(word) => check_alias(found, at, word)?,
            Token::Text(_) if !before_text(before) => {
                return Err("a text in quotes that may be an alias or a name".to_owned());
            }
            Token::Quoted(_) if touches(before) => {
                return Err("a quoted name that may be an alias or a text".to_owned());
            }
            Token::Number(_) | Token::Parameter(_) if touches(before) => {
                return Err("a value where none is expected".to_owned());
            }
            Token::Word(_)
            | Token::Quoted(_)
            | Token::Text(_)
            | Token::Number(_)
            | Token::Parameter(_)
            | Token::Operator(_) => {}
        }
        before = Some(token);
    }
    Ok(())
}

fn before_text(before: Option<&Token>) -> bool {
    match before {
        Some(Token::Operator(operator)) => !matches!(*operator, ")" | "." | "::"),
        Some(Token::Word(word)) => words::may_precede_text(word),
        _ => false,
    }
}

/// Says whether the token before is a value or a name, so that the next token cannot be a value.
fn touches(before: Option<&Token>) -> bool {
    match before {
        Some(Token::Word(word)) => !words::is_keyword(word),
        Some(Token::Operator(operator)) => *operator == ")",
        Some(_) => true,
        None => false,
    }
}

/// Checks an alias without `AS`: it must be used as a qualifier or have at most two letters, and a clause must follow it.
fn check_alias(found: &[Token], at: usize, word: &str) -> Result<(), String> {
    let back = |steps: usize| at.checked_sub(steps).and_then(|at| found.get(at));
    let (before, after) = (back(1), found.get(at + 1));
    let refused = || Err(format!("`{}` without `AS`, which may be an alias or something else", word.to_lowercase()));
    let ends = match after {
        None => true,
        Some(Token::Operator(operator)) => matches!(*operator, "," | ")"),
        Some(Token::Word(next)) => words::may_follow_alias(next),
        Some(_) => false,
    };
    match before {
        Some(Token::Word(first))
            if words::is_reserved(first) || (words::is_keyword(first) && words::is_keyword(word)) =>
        {
            Ok(())
        }
        Some(Token::Word(_) | Token::Quoted(_)) => {
            let used = |pair: &[Token]| matches!(pair, [name, Token::Operator(".")] if name.is(word));
            if ends && (word.len() <= 2 || found.windows(2).any(used)) { Ok(()) } else { refused() }
        }
        Some(Token::Operator(")")) => {
            let listed = after.is_some_and(|next| next.is("FROM"));
            if ends || listed { Ok(()) } else { refused() }
        }
        Some(Token::Number(_) | Token::Text(_)) if words::is_time_unit(word) => Ok(()),
        Some(Token::Number(_)) if back(2).is_some_and(|token| token.is("TOP")) => Ok(()),
        Some(Token::Number(_) | Token::Text(_) | Token::Parameter(_)) => refused(),
        _ => Ok(()),
    }
}

/// The names in a statement.
#[derive(Default)]
struct Names {
    /// Names without quotes, in capitals, and how often each is there.
    plain: HashMap<String, usize>,
    /// A name stands in quotes other than double quotes.
    odd: bool,
    /// Names that stand for a table within the statement, in lower case.
    aliases: Vec<String>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_ident(&mut self, ident: &Ident) -> ControlFlow<()> {
        match ident.quote_style {
            None => *self.plain.entry(ident.value.to_ascii_uppercase()).or_default() += 1,
            Some('"') => {}
            Some(_) => self.odd = true,
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let common = query.with.iter().flat_map(|with| &with.cte_tables);
        self.aliases.extend(common.map(|table| table.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a statement with another kind of table is not a read")]
    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        let alias = match factor {
            TableFactor::Table { alias, .. }
            | TableFactor::Derived { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
            _ => None,
        };
        self.aliases.extend(alias.map(|alias| alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }
}

impl Names {
    /// Checks that no name is a keyword of any database, and that every other word is a keyword of all of them.
    fn check(&self, found: &[Token]) -> Result<(), String> {
        if self.odd {
            return Err("a name in quotes that only some databases know".to_owned());
        }
        let mut there: HashMap<&str, usize> = HashMap::new();
        for token in found {
            if let Token::Word(word) = token {
                *there.entry(word).or_default() += 1;
            }
        }
        for (name, times) in &self.plain {
            if words::is_never_name(name) && !(words::is_function_word(name) && *times == called(found, name)) {
                return Err(format!("`{}`, a keyword of some database, is used as a name", name.to_lowercase()));
            }
        }
        for (word, times) in there {
            if self.plain.get(word).copied().unwrap_or_default() < times && !words::is_keyword(word) {
                return Err(format!("`{}`, which only some databases know", word.to_lowercase()));
            }
        }
        Ok(())
    }

    /// Checks that no written table has the name of an alias: some databases then write to the table that the alias stands for.
    fn check_targets(&self, read: &Statement) -> Result<(), String> {
        let aliased = |table: &&String| self.aliases.contains(&table.to_lowercase());
        match read.writes.iter().find(aliased) {
            Some(table) => Err(format!("`{table}` is both a written table and an alias")),
            None => Ok(()),
        }
    }
}

/// Counts the calls of a word as a function, at positions where a value may stand.
fn called(found: &[Token], word: &str) -> usize {
    let call = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| found.get(before));
        found.get(at).is_some_and(|token| token.is(word))
            && found.get(at + 1) == Some(&Token::Operator("("))
            && match before {
                Some(Token::Word(word)) => words::is_reserved(word),
                Some(Token::Operator(operator)) => !matches!(*operator, ")" | "."),
                _ => false,
            }
    };
    (0..found.len()).filter(|at| call(*at)).count()
}
