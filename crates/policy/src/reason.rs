//! The reason of a ruling, in words for people.

use domain::Verdict;

use crate::{Asking, PartKind, PartRuling, case::Case, settle::Failed};

/// Largest number of rules that the reason of a ruling names.
const MOST_NAMED: usize = 10;
/// Largest number of parts that the reason of a ruling names.
const MOST_PARTS: usize = 3;
/// How close an allowing rule has to come to be named in the reason of a ruling.
const CLOSE: u8 = 3;

/// The reason of a call that is asked because of a failed rule: the first such rule, and the other rules that ask.
pub(crate) fn held_because(first: &Failed<'_>, asks: &[(usize, Asking)], doubts: &str) -> String {
    let Failed { rule, error } = first;
    let others: Vec<&str> =
        asks.iter().filter_map(|(_, ask)| ask.rule.as_deref()).filter(|name| *name != rule.name).collect();
    let also =
        if others.is_empty() { String::new() } else { format!(" Rules that ask about it too: {}.", named(&others)) };
    format!("Rule `{}` could not be evaluated: {error}.{doubts}{also}", rule.name)
}

/// A sentence about the part of a call that could not be parsed, to add to a reason. Empty if every part was parsed.
pub(crate) fn doubts(case: &Case<'_>) -> String {
    if let Some(it) = case.parsed().first_failure() {
        return format!(" Its {} is not trusted: {}.", it.what, it.reason);
    }
    // Arguments such as `to` and `source` may not be paths at all.
    let files = case.parsed().names_files();
    let unexamined = case.parsed().first_unexamined(|variable| files || variable != "path", |_| false);
    unexamined.map_or_else(String::new, |(argument, beside)| {
        let argument: String = argument.chars().filter(char::is_ascii_graphic).take(60).collect();
        format!(
            " It has `{argument}` beside its {beside}: a rule that allows the call by its {beside} must test that argument too."
        )
    })
}

/// Adds to the reason of the strictest part which parts have that verdict, and which rules allow the others.
pub(crate) fn with_parts(reason: &str, verdict: Verdict, parts: &[PartRuling]) -> String {
    let mut text = reason.to_owned();
    let blamed: Vec<&PartRuling> = parts.iter().filter(|part| part.verdict == verdict).collect();
    if verdict == Verdict::Allow || parts.iter().all(|part| part.kind == PartKind::Call) {
        return text;
    }
    if parts.len() > 1 {
        let mut names: Vec<String> = blamed.iter().map(|part| described(part)).collect();
        names.dedup();
        let more = names.len().saturating_sub(MOST_PARTS);
        names.truncate(MOST_PARTS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let others = others(parts, blamed.len());
        let what = if verdict == Verdict::Deny { "Denied" } else { "Not allowed" };
        text.push_str(&format!(" {what} because of {}{more}{others}.", names.join(", ")));
    }
    let unmatched = blamed.first().filter(|part| part.rule.is_none());
    if let Some(nearest) = unmatched.and_then(|part| part.nearest.as_ref()).filter(|it| it.why.closeness() >= CLOSE) {
        text.push_str(&format!(" Rule `{}` does not match: {}.", nearest.rule, nearest.why));
    }
    text
}

/// What became of the other parts.
fn others(parts: &[PartRuling], blamed: usize) -> String {
    let allowed: Vec<&PartRuling> = parts.iter().filter(|part| part.verdict == Verdict::Allow).collect();
    if allowed.is_empty() {
        return String::new();
    }
    let mut rules: Vec<&str> = allowed.iter().filter_map(|part| part.rule.as_deref()).collect();
    rules.sort_unstable();
    rules.dedup();
    let all = if allowed.len() + blamed == parts.len() { "the other " } else { "" };
    let (count, are) = (number(allowed.len()), if allowed.len() == 1 { "part is" } else { "parts are" });
    format!("; {all}{count}{are} allowed by {}", named(&rules)).replace("the other one part", "the other part")
}

/// A part in a few words.
fn described(part: &PartRuling) -> String {
    let text = &part.text;
    match part.kind {
        PartKind::Call => "the call".to_owned(),
        PartKind::Run => format!("`{text}`"),
        PartKind::Write => format!("writing to `{text}`"),
        PartKind::Variable => format!("the variable `{text}`"),
        PartKind::Directory => format!("the directory `{text}`"),
        PartKind::Address => format!("the address `{text}`"),
        PartKind::Doubt => format!("a text that cannot be judged ({text})"),
    }
}

/// A number of parts in words.
fn number(count: usize) -> String {
    const WORDS: [&str; 9] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    count.checked_sub(1).and_then(|at| WORDS.get(at)).map_or_else(|| format!("{count} "), |word| format!("{word} "))
}

/// Names of rules, of which only some are written.
fn named(names: &[&str]) -> String {
    let written = names.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST_NAMED { format!("{written} and {} more", names.len() - MOST_NAMED) } else { written }
}
