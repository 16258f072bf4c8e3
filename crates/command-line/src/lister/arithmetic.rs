//! Arithmetic, which evaluates the values of variables once more: `a[$(cmd)]` in a value runs `cmd`.

use super::facts::Facts;
use crate::syntax::tree::{Atom, RawWord};

/// Says why an expression may run a command, if it may.
pub(crate) fn find_risk(expression: &RawWord, facts: &Facts) -> Option<String> {
    let mut glued = false;
    for (at, atom) in expression.atoms.iter().enumerate() {
        let value = match atom {
            Atom::Quoted(text) => {
                if let Some(risk) = find_risk_in_text(text, facts) {
                    return Some(risk);
                }
                false
            }
            Atom::Variable { name, .. } if facts.is_numeric(name) => true,
            Atom::Variable { name, .. } => return Some(format!("the value of `{name}` is evaluated as arithmetic")),
            Atom::Number => true,
            Atom::Operation(operation) if operation.number => true,
            Atom::Expression(inner) => {
                if let Some(risk) = find_risk(inner, facts) {
                    return Some(risk);
                }
                true
            }
            Atom::Bare(_) | Atom::Unknown { .. } | Atom::Substitution(_) | Atom::Operation(_) => {
                return Some("a text that only the shell knows is evaluated as arithmetic".to_owned());
            }
        };
        let before = at.checked_sub(1).and_then(|before| expression.atoms.get(before));
        let after = expression.atoms.get(at + 1);
        let touches_before = matches!(before, Some(Atom::Quoted(text)) if text.ends_with(is_word));
        let touches_after =
            matches!(after, Some(Atom::Quoted(text)) if text.starts_with(|c| is_word(c) || c == '[' || c == '#'));
        if value && (glued || touches_before || touches_after) {
            return Some("a name in arithmetic is not certain".to_owned());
        }
        glued = value;
    }
    None
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

fn find_risk_in_text(text: &str, facts: &Facts) -> Option<String> {
    for token in text.split(|c: char| !is_word(c)).filter(|token| !token.is_empty()) {
        let hexadecimal = token.strip_prefix("0x").is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
        let number = token.chars().all(|c| c.is_ascii_digit()) || hexadecimal;
        if !number && (token.starts_with(|c: char| c.is_ascii_digit()) || !facts.is_numeric(token)) {
            return Some(format!("the value of `{token}` is evaluated as arithmetic"));
        }
    }
    let unknown = text.chars().find(|c| !is_word(*c) && !" \t\n+-*/%<>=!&|^~?:,()[];".contains(*c));
    unknown.map(|c| format!("`{c}` in arithmetic is not certain"))
}

/// The variables that an expression may set.
pub(crate) fn assigned(expression: &RawWord) -> Vec<String> {
    let mut names = Vec::new();
    let mut sets = false;
    for atom in &expression.atoms {
        if let Atom::Quoted(text) = atom {
            sets |= text.contains("++") || text.contains("--") || text.replace("==", "").contains('=');
            let tokens = text.split(|c: char| !is_word(c));
            names.extend(tokens.filter(|token| !token.is_empty() && !token.starts_with(|c: char| c.is_ascii_digit())));
        }
    }
    if sets { names.into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

/// A name in an expression.
pub(crate) struct Mention {
    /// The name.
    pub(crate) name: String,
    /// The expression sets the variable at this place, to a value in which its old value does not occur.
    pub(crate) is_given: bool,
}

/// The names in an expression, from left to right.
pub(crate) fn mentions(expression: &RawWord) -> Vec<Mention> {
    let mut found = Vec::new();
    for atom in &expression.atoms {
        match atom {
            Atom::Quoted(text) => add_mentions(text, &mut found),
            Atom::Variable { name, .. } => found.push(Mention { name: name.clone(), is_given: false }),
            Atom::Bare(_)
            | Atom::Number
            | Atom::Unknown { .. }
            | Atom::Substitution(_)
            | Atom::Expression(_)
            | Atom::Operation(_) => {}
        }
    }
    let expands = |name: &str| {
        expression.atoms.iter().any(|atom| matches!(atom, Atom::Variable { name: own, .. } if own == name))
    };
    for mention in &mut found {
        mention.is_given &= !expands(&mention.name);
    }
    found
}

fn add_mentions(text: &str, found: &mut Vec<Mention>) {
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let from = rest.get(start..).unwrap_or_default();
        let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        rest = after;
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let value = after.trim_start().strip_prefix('=').filter(|value| !value.starts_with('='));
        let is_given = value.is_some_and(|value| {
            let value = value.split([',', ';']).next().unwrap_or_default();
            !value.split(|c| !is_word(c)).any(|word| word == name)
        });
        found.push(Mention { name: name.to_owned(), is_given });
    }
}
