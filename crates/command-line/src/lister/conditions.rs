//! The conditions of `[[ ]]`.

use super::{Context, Lister, arithmetic};
use crate::ShellWord;
use crate::syntax::tree::{Atom, RawWord};

/// Operators that compare numbers, whose operands are evaluated as arithmetic.
const NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Lister<'_> {
    /// Walks the words of `[[ ]]`.
    pub(super) fn test(&mut self, words: &[RawWord], context: &Context) {
        for (at, raw) in words.iter().enumerate() {
            let value = self.value(raw, context);
            let before = at.checked_sub(1).and_then(|before| words.get(before)).and_then(RawWord::bare);
            let after = words.get(at + 1).and_then(RawWord::bare);
            let is_number = |sign: &Option<String>| sign.as_deref().is_some_and(|sign| NUMBERS.contains(&sign));
            if is_number(&before) || is_number(&after) {
                self.number(raw);
            }
            let variable = matches!(before.as_deref(), Some("-v" | "-R"));
            if variable && ShellWord::text(&value).is_none_or(|text| text.contains('[')) {
                self.doubt(&raw.span, "`-v` may evaluate a word once more");
            }
        }
    }

    /// A word that is evaluated as arithmetic.
    fn number(&mut self, raw: &RawWord) {
        let mut expression = RawWord { span: raw.span.clone(), ..RawWord::default() };
        for atom in &raw.atoms {
            match (atom, expression.atoms.last_mut()) {
                (Atom::Bare(c), Some(Atom::Quoted(text))) => text.push(*c),
                (Atom::Bare(c), _) => expression.atoms.push(Atom::Quoted(c.to_string())),
                (Atom::Quoted(more), Some(Atom::Quoted(text))) => text.push_str(more),
                (atom, _) => expression.atoms.push(atom.clone()),
            }
        }
        if let Some(risk) = arithmetic::find_risk(&expression, &self.facts) {
            self.doubt(&raw.span, risk);
        }
        if !arithmetic::assigned(&expression).is_empty() {
            self.doubt(&raw.span, "a condition sets a variable");
        }
    }
}
