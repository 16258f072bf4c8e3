//! Loops over words.

use super::place::Ends;
use super::{Context, Lister, expansion, facts::Facts};
use crate::syntax::tree::For;
use crate::{RunPosition, ShellWord, VariableAssignment, WordPart};

/// Largest number of words of a loop whose body is listed once for each.
const MOST_ROUNDS: usize = 16;

impl Lister<'_> {
    /// Walks a loop over words. If the words are known, its body is walked once for each.
    pub(super) fn iteration(&mut self, iteration: &For, context: &Context) -> Ends {
        let raw = iteration.words.as_deref().unwrap_or_default();
        let words: Vec<ShellWord> = raw.iter().flat_map(|word| self.words(word, context)).collect();
        let name = iteration.name.as_str();
        self.note_loop(iteration, &words, context);
        if expansion::is_integer(name)
            && words.iter().any(|word| word.text().is_none_or(|text| text.parse::<u32>().is_err()))
        {
            self.doubt(&iteration.span, format!("the value of `{name}` is evaluated as arithmetic"));
        }
        let inside = Facts::of(&iteration.body);
        let certain = !iteration.menu
            && iteration.words.is_some()
            && inside.is_never_set(name)
            && self.facts.is_safe_in_loop(name)
            && !expansion::is_special(name)
            && !words.is_empty()
            && words.len() <= MOST_ROUNDS
            && words.iter().all(is_known);
        if !certain {
            return self.repeat(None, &iteration.body, context);
        }
        let start = self.place.clone();
        let moves = inside.moves || self.facts.function_moves;
        if moves {
            self.place = start.lost();
        }
        self.place.strict &= !inside.has_options;
        let after = self.place.clone();
        let inner = context.within(RunPosition::Loop);
        for word in words {
            self.place = after.clone();
            self.scoped(false, |lister| {
                lister.remember(name, word.parts);
                lister.list(&iteration.body, &inner);
            });
        }
        self.place = after.clone();
        Ends::same(after)
    }

    /// Lists the variable of a loop.
    fn note_loop(&mut self, iteration: &For, words: &[ShellWord], context: &Context) {
        let mut run = self.run(&iteration.span, context);
        let value = match words {
            [only] if is_known(only) && iteration.words.is_some() && !iteration.menu => only.clone(),
            _ => ShellWord { parts: vec![WordPart::Unknown { quoted: true }], span: run.span.clone() },
        };
        let assign = |name: &str, value| VariableAssignment { name: name.to_owned(), value, exported: false };
        run.assignments = vec![assign(&iteration.name, value.clone())];
        if iteration.menu {
            run.assignments.push(assign("REPLY", value));
        }
        self.push(run);
    }
}

/// Says whether a word is one of known text, or the names that match a pattern.
fn is_known(word: &ShellWord) -> bool {
    word.parts.iter().all(|part| matches!(part, WordPart::Literal(_) | WordPart::Glob(_) | WordPart::Home))
}
