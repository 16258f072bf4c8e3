//! Whether a pattern of an asking or denying rule is found in a run: in any case of letters, in any directory, with options in any place.

use command_line::{Hazard, HazardKind, ShellWord, WordRole};

use crate::{
    answer::MatchAnswer,
    command_covers::word_signs,
    command_pattern::{CommandPattern, WordPattern},
    part_patterns::PartPatterns,
    parts::RunFacts,
    why::{Why, excerpt},
    wildcard::Wildcard,
};

/// Shortest beginning of a long option that programs take for the whole option.
const SHORTEST_ABBREVIATION: usize = 3;

impl PartPatterns {
    /// Whether some pattern of `commands` is found in a run.
    pub(crate) fn find_run(&self, run: &RunFacts<'_>) -> MatchAnswer {
        let none = || Why::Command { command: run.shown() };
        let found = self.commands.iter().flatten().filter_map(|pattern| {
            // Most patterns name another program.
            let program = find_program(&pattern.program, run)?;
            Some(find(program, pattern, run))
        });
        MatchAnswer::any(found, none)
    }
}

/// Whether a pattern is found in a run, if the answer about its program is known.
fn find(program: MatchAnswer, pattern: &CommandPattern, run: &RunFacts<'_>) -> MatchAnswer {
    let options = || {
        let indexed = run.run.words.iter().enumerate().skip(1);
        let words: Vec<&ShellWord> =
            indexed.filter(|(at, word)| !is_value(*at, word, run)).map(|(_, word)| word).collect();
        let options = pattern.words.iter().filter(|word| word.is_option());
        options.fold(MatchAnswer::Yes, |answer, option| answer.and(|| find_option(option, &words, run)))
    };
    program.and(options).and(|| find_operands(pattern, run))
}

/// Says whether a word is certainly the value of the option before it, so that it is no option.
fn is_value(at: usize, word: &ShellWord, run: &RunFacts<'_>) -> bool {
    let unsure = |hazard: &Hazard| hazard.kind == HazardKind::Unknown && hazard.word <= at;
    run.effects.known
        && run.effects.roles.get(at) == Some(&WordRole::Value)
        && word.is_one()
        && !run.effects.hazards.iter().any(unsure)
        && run.run.words.get(1..at).unwrap_or_default().iter().all(ShellWord::is_one)
}

/// Whether a pattern names the program of a run, in any directory. `None` if it names another one.
fn find_program(pattern: &WordPattern, run: &RunFacts<'_>) -> Option<MatchAnswer> {
    let word = run.run.words.first()?;
    let program = match word.text() {
        Some(text) => text,
        None if !run.effects.name.is_empty() => &run.effects.name,
        // What is not known may hold the name with any directory before it.
        None => return Some(MatchAnswer::Maybe(Why::UnknownWord { word: run.shown_word(word) })),
    };
    let own = program_name(program);
    let named = |one: &Wildcard| match one.literal() {
        Some(literal) => program_name(literal) == own,
        None => one.lowered().matches(&own) || one.lowered().matches(&program.to_lowercase()),
    };
    pattern.alternatives.iter().any(named).then_some(MatchAnswer::Yes)
}

/// The last component of the path of a program in lower case, without `.exe`.
fn program_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

/// Whether an option of the pattern stands anywhere among the words.
fn find_option(option: &WordPattern, words: &[&ShellWord], run: &RunFacts<'_>) -> MatchAnswer {
    let answers = option.alternatives.iter().map(|one| {
        if let Some(wanted) = one.literal() {
            return find_literal_option(wanted, words, run);
        }
        let found = words.iter().filter_map(|word| word.text()).any(|text| one.matches(text));
        if found { MatchAnswer::Yes } else { unknown_option(words, run) }
    });
    let answers: Vec<MatchAnswer> = answers.collect();
    MatchAnswer::any(answers, || Why::Command { command: run.shown() })
}

fn find_literal_option(wanted: &str, words: &[&ShellWord], run: &RunFacts<'_>) -> MatchAnswer {
    let unknown = words.iter().find(|word| word.text().is_none() && may_be_option(word, wanted));
    let texts: Vec<&str> = words.iter().filter_map(|word| word.text()).collect();
    let with_value =
        |text: &&str| text.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    if texts.iter().any(with_value) || holds_letters(wanted, &texts) {
        return MatchAnswer::Yes;
    }
    // Programs take a beginning of a long option for the whole.
    let shortened = |text: &&&str| {
        let name = text.split('=').next().unwrap_or_default();
        name.starts_with("--") && name.len() >= SHORTEST_ABBREVIATION && wanted.starts_with(name)
    };
    if let Some(short) = texts.iter().find(shortened) {
        return MatchAnswer::Maybe(Why::UnknownWord { word: excerpt(short) });
    }
    match unknown {
        Some(word) => MatchAnswer::Maybe(Why::UnknownWord { word: run.shown_word(word) }),
        None => MatchAnswer::No(Why::NoCommand),
    }
}

/// Says whether all letters of a short option (`-rf`) stand in short options of the words (`-r -vf`).
fn holds_letters(wanted: &str, texts: &[&str]) -> bool {
    let letters = |text: &str| text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).map(str::to_owned);
    let Some(wanted) =
        letters(wanted).filter(|letters| !letters.is_empty() && letters.chars().all(char::is_alphanumeric))
    else {
        return false;
    };
    let given: String = texts.iter().filter_map(|text| letters(text)).collect();
    wanted.chars().all(|letter| given.contains(letter))
}

/// Says whether some word that the shell makes of this one may be an option.
fn may_be_option(word: &ShellWord, wanted: &str) -> bool {
    let prefix = word.prefix();
    word.may_be_option()
        && (prefix.is_empty()
            || !word.is_one()
            || wanted.starts_with(prefix)
            || prefix.starts_with(wanted)
            || !prefix.starts_with("--"))
}

fn unknown_option(words: &[&ShellWord], run: &RunFacts<'_>) -> MatchAnswer {
    match words.iter().find(|word| word.text().is_none() && word.may_be_option()) {
        Some(word) => MatchAnswer::Maybe(Why::UnknownWord { word: run.shown_word(word) }),
        None => MatchAnswer::No(Why::Command { command: run.shown() }),
    }
}

/// Whether the words of the pattern that are no options are the first operands of the run.
fn find_operands(pattern: &CommandPattern, run: &RunFacts<'_>) -> MatchAnswer {
    let wanted: Vec<&WordPattern> = pattern.words.iter().filter(|word| !word.is_option()).collect();
    let words = &run.run.words;
    let role = |at: usize| run.effects.roles.get(at).copied();
    let is_option = |at: usize, word: &ShellWord| match role(at).filter(|_| run.effects.known) {
        Some(role) => matches!(role, WordRole::Option | WordRole::Value) && word.is_one(),
        None => word.text().is_some_and(|text| text.starts_with('-') && text.len() > 1),
    };
    let indexed = || words.iter().enumerate().skip(1);
    let operands: Vec<&ShellWord> =
        indexed().filter(|(at, word)| !is_option(*at, word)).map(|(_, word)| word).collect();
    let answer = Alignment::new(&wanted, &operands, pattern.open).answer(run);
    // The values of options that are not known look like operands, or hide them.
    let unsure = !run.effects.known || run.effects.hazards.iter().any(|hazard| hazard.kind == HazardKind::Unknown);
    if matches!(answer, MatchAnswer::No(_)) && unsure && indexed().any(|(at, word)| is_option(at, word)) {
        let all: Vec<&ShellWord> = words.iter().skip(1).collect();
        if is_subsequence(&wanted, &all, run) {
            return MatchAnswer::Maybe(Why::Command { command: run.shown() });
        }
    }
    answer
}

/// Says whether the wanted words stand among the words in this order.
fn is_subsequence(wanted: &[&WordPattern], words: &[&ShellWord], run: &RunFacts<'_>) -> bool {
    let mut rest = words.iter();
    wanted.iter().all(|wanted| rest.any(|word| !matches!(word_answer(wanted, word, run), MatchAnswer::No(_))))
}

/// Whether a pattern matches one word.
fn word_answer(pattern: &WordPattern, word: &ShellWord, run: &RunFacts<'_>) -> MatchAnswer {
    let why = || Why::UnknownWord { word: run.shown_word(word) };
    if let Some(text) = word.text() {
        return if pattern.matches(text) { MatchAnswer::Yes } else { MatchAnswer::No(Why::NoCommand) };
    }
    let signs = word_signs(word);
    if pattern.alternatives.iter().any(|one| one.covers(&signs)) {
        MatchAnswer::Yes
    } else if pattern.alternatives.iter().any(|one| one.may_match(&signs)) {
        MatchAnswer::Maybe(why())
    } else {
        MatchAnswer::No(why())
    }
}

/// Compares the words of a pattern with operands, of which some stand for any number of words.
struct Alignment<'a> {
    wanted: &'a [&'a WordPattern],
    operands: &'a [&'a ShellWord],
    open: bool,
}

impl<'a> Alignment<'a> {
    const fn new(wanted: &'a [&'a WordPattern], operands: &'a [&'a ShellWord], open: bool) -> Self {
        Self { wanted, operands, open }
    }

    fn answer(&self, run: &RunFacts<'_>) -> MatchAnswer {
        let other = || MatchAnswer::No(Why::Command { command: run.shown() });
        let unknown = |word: &ShellWord| Why::UnknownWord { word: run.shown_word(word) };
        // From the end: `row[n]` is the answer for the wanted words from here on and the operands from `n` on.
        let end = |n: usize| match self.operands.get(n) {
            _ if self.open => MatchAnswer::Yes,
            None => MatchAnswer::Yes,
            Some(_) => match self.operands.get(n..).unwrap_or_default().iter().find(|word| word.is_one()) {
                Some(_) => other(),
                None => self.operands.get(n).map_or(MatchAnswer::Yes, |word| MatchAnswer::Maybe(unknown(word))),
            },
        };
        let count = self.operands.len();
        let mut row: Vec<MatchAnswer> = (0..=count).map(end).collect();
        for wanted in self.wanted.iter().rev() {
            let mut next: Vec<MatchAnswer> = vec![other()];
            for (n, word) in self.operands.iter().enumerate().rev() {
                let taken = row.get(n + 1).cloned().unwrap_or_else(other);
                let answer = if word.is_one() {
                    word_answer(wanted, word, run).and(|| taken)
                } else {
                    // It may be no word, this word, or this word and more.
                    let none = next.last().cloned().unwrap_or_else(other);
                    let stays = row.get(n).cloned().unwrap_or_else(other);
                    MatchAnswer::any([none, taken, stays], || unknown(word)).at_most_maybe(|| unknown(word))
                };
                next.push(answer);
            }
            next.reverse();
            row = next;
        }
        row.into_iter().next().unwrap_or_else(other)
    }
}
