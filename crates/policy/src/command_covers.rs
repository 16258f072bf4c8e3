//! Whether a pattern of an allowing rule covers a run: every value of it, and nothing that does more than the pattern shows.

use command_line::{Hazard, HazardKind, ShellWord, WordPart, WordRole};

use crate::{
    answer::MatchAnswer,
    command_pattern::{CommandPattern, WordPattern},
    host_pattern::Host,
    location::Location,
    part_patterns::PartPatterns,
    parts::RunFacts,
    why::Why,
    wildcard::{Sign, signs},
};

impl PartPatterns {
    /// Whether some pattern of `commands` covers a run.
    pub(crate) fn cover_run(&self, run: &RunFacts<'_>, session: &Location) -> MatchAnswer {
        let none = || Why::Command { command: run.shown() };
        let patterns = self.commands.iter().flatten().filter(|pattern| is_program(&pattern.program, run));
        MatchAnswer::any(patterns.map(|pattern| self.cover_by(pattern, run, session)), none)
    }

    fn cover_by(&self, pattern: &CommandPattern, run: &RunFacts<'_>, session: &Location) -> MatchAnswer {
        let direct = self.cover_words(pattern, run, 1, session);
        match subcommand_after_options(run) {
            Some(first) if direct != MatchAnswer::Yes => {
                MatchAnswer::any([self.cover_words(pattern, run, first, session), direct], || Why::NoCommand)
            }
            _ => direct,
        }
    }

    /// Whether the words from a position on are covered.
    fn cover_words(
        &self,
        pattern: &CommandPattern,
        run: &RunFacts<'_>,
        first: usize,
        session: &Location,
    ) -> MatchAnswer {
        let other = || MatchAnswer::No(Why::Command { command: run.shown() });
        let words = run.run.words.get(first..).unwrap_or_default();
        if words.len() < pattern.words.len() || (words.len() > pattern.words.len() && !pattern.open) {
            return other();
        }
        for (wanted, word) in pattern.words.iter().zip(words) {
            if covers_word(wanted, word) {
                continue;
            }
            return match word.text() {
                Some(_) => other(),
                None => MatchAnswer::No(Why::UnknownWord { word: run.shown_word(word) }),
            };
        }
        for hazard in &run.effects.hazards {
            let named = match hazard.word.checked_sub(first) {
                None => hazard.word == 0,
                Some(at) => pattern.words.get(at).is_some_and(WordPattern::is_literal),
            };
            if !named && !self.covers_target(hazard, run, session) {
                let word = run.run.words.get(hazard.word).map(|word| run.shown_word(word)).unwrap_or_default();
                // The value of an option may be a secret, and the option says enough.
                let word = if word.starts_with('-') { word.split('=').next().unwrap_or_default() } else { &word };
                return MatchAnswer::No(Why::Hazard { word: word.to_owned(), does: hazard.kind.into() });
            }
        }
        MatchAnswer::Yes
    }

    /// Says whether a list of the rule covers the file or the host that a word names.
    fn covers_target(&self, hazard: &Hazard, run: &RunFacts<'_>, session: &Location) -> bool {
        let Some(target) = &hazard.target else { return false };
        match hazard.kind {
            HazardKind::Writes => {
                let Some(file) = Location::of_word(target, run.directory.as_ref()) else { return false };
                self.writes.iter().flatten().any(|pattern| pattern.covers(&file, session, true))
            }
            HazardKind::Sends => {
                let host = Host::of_word(target).filter(|host| host.plain);
                host.is_some_and(|host| self.hosts.iter().flatten().any(|pattern| pattern.covers(&host)))
            }
            HazardKind::Runs | HazardKind::Unknown => false,
        }
    }
}

/// Says whether a pattern names the program of a run, as the shell finds it.
fn is_program(pattern: &WordPattern, run: &RunFacts<'_>) -> bool {
    let Some(program) = run.run.words.first().and_then(ShellWord::text) else { return false };
    if !pattern.is_literal() {
        return false;
    }
    if !program.contains('/') {
        return pattern.matches(program);
    }
    let bare = program.rsplit('/').next().filter(|_| run.effects.on_path);
    // A relative path names another program in another directory.
    let exactly = pattern.matches(program) && (program.starts_with('/') || run.at_root);
    bare.is_some_and(|bare| pattern.matches(bare)) || exactly
}

/// Position of the subcommand of a known program, if only harmless options stand before it.
fn subcommand_after_options(run: &RunFacts<'_>) -> Option<usize> {
    let roles = &run.effects.roles;
    let first = roles.iter().position(|role| *role == WordRole::Subcommand).filter(|first| *first > 1)?;
    let option = |at: usize| matches!(roles.get(at), Some(WordRole::Option | WordRole::Value));
    let known = |at: usize| run.run.words.get(at).is_some_and(|word| word.text().is_some());
    let harmless = |at: usize| run.effects.hazards.iter().all(|hazard| hazard.word != at);
    (run.effects.known && (1..first).all(|at| option(at) && known(at) && harmless(at))).then_some(first)
}

/// Says whether a pattern covers every value of one word.
fn covers_word(pattern: &WordPattern, word: &ShellWord) -> bool {
    match word.text() {
        Some(text) => pattern.matches(text),
        None => word.is_one() && pattern.alternatives.iter().any(|one| one.covers(&word_signs(word))),
    }
}

/// The signs of a word: what is not known is any text.
pub(crate) fn word_signs(word: &ShellWord) -> Vec<Sign> {
    let part = |part: &WordPart| match part {
        WordPart::Literal(text) => text.chars().map(Sign::Char).collect(),
        WordPart::Glob(text) if !text.contains(['[', '(', '{']) => signs(text),
        WordPart::Glob(_) | WordPart::Home | WordPart::Number | WordPart::Unknown { .. } => vec![Sign::Any],
    };
    word.parts.iter().flat_map(part).collect()
}
