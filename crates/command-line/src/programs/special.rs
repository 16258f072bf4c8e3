//! Programs whose words follow rules of their own.

use std::borrow::Cow;

use super::operands::{OperandKind, add_operand};
use super::scan::Scan;
use super::scripts::{self, ScriptEffect};
use super::tables::{Node, Special};
use super::{Effects, conditions, git, tar};
use crate::{HazardKind, ShellWord, WordPart, WordRole};

/// The words to read in the place of those of the run.
pub(super) fn readable_words<'a>(row: &Node, words: &'a [ShellWord]) -> Cow<'a, [ShellWord]> {
    if row.special == Some(Special::Tar) { tar::readable_words(words) } else { Cow::Borrowed(words) }
}

/// Judges the words of a program with rules of its own. True if its operands are done.
pub(super) fn judge(scan: &mut Scan<'_>) -> bool {
    let Some(special) = scan.node().special else { return false };
    match special {
        Special::Sed => judge_script(scan, &["-e", "--expression"], scripts::sed::effects),
        Special::Awk => judge_script(scan, &[], scripts::awk::effects),
        Special::Test => conditions::judge_test(scan),
        Special::DoubleBracket => conditions::judge_double_bracket(scan),
        Special::GitConfig => git::judge_config(scan),
        Special::Command => scan.has_option(&["-v", "-V"]),
        Special::Find => judge_find(scan),
        Special::Jq => judge_jq(scan),
        Special::ChangeDirectory => judge_directory(scan),
        Special::Link => judge_link(scan),
        Special::Date => judge_date(scan),
        Special::Printf => judge_printf(scan),
        Special::Set => judge_set(scan),
        Special::Variables => judge_variables(scan),
        Special::Tar => tar::judge(scan),
        Special::Compress => judge_compression(scan),
        Special::Unzip => judge_unzip(scan),
        Special::Patch => judge_patch(scan),
    }
}

/// Judges a program whose first operand is a script, unless options hold it or name its file. The other operands are files that it reads.
fn judge_script(scan: &mut Scan<'_>, options: &[&str], read: fn(&str) -> Vec<ScriptEffect>) -> bool {
    let mut fragments = fragments_in_options(scan, options);
    let mut files = scan.operands.clone();
    let named = scan.options.iter().any(|option| scan.node().instead_of_first.contains(&option.name));
    if fragments.is_empty() && !named && !files.is_empty() {
        let fragment = |at: usize| scan.words.get(at).map(|word| (at, word.clone()));
        fragments.extend(fragment(files.remove(0)));
        // BSD has `-i ''`: the empty word is the value of the option there, and the next word is the script.
        if fragments.first().is_some_and(|(_, script)| script.parts.is_empty()) {
            fragments.extend(files.first().and_then(|at| fragment(*at)));
        }
    }
    let effects = match fragments.iter().map(|(_, word)| known_text(word)).collect::<Option<Vec<String>>>() {
        Some(texts) => read(&texts.join("\n")),
        None => vec![ScriptEffect::Unknown],
    };
    // A command may begin in one word and end in the next, so that each of them does what the whole script does.
    for (at, _) in &fragments {
        effects.iter().for_each(|effect| add_script_effect(&mut scan.effects, *at, effect.clone()));
    }
    for at in files {
        if let Some(word) = scan.words.get(at) {
            add_operand(&mut scan.effects, OperandKind::Read, at, word, scan.writing);
        }
    }
    true
}

/// The texts that some options hold, each with the index of its word.
pub(super) fn fragments_in_options(scan: &Scan<'_>, options: &[&str]) -> Vec<(usize, ShellWord)> {
    let held = scan.options.iter().filter(|option| options.contains(&option.name.as_str()));
    held.map(|option| {
        let apart = scan.effects.roles.get(option.at + 1) == Some(&WordRole::Value);
        (option.at + usize::from(apart), option.value.clone().unwrap_or_default())
    })
    .collect()
}

/// The text of a word, with a digit in the place of digits that only the shell knows.
fn known_text(word: &ShellWord) -> Option<String> {
    let text = |part: &WordPart| match part {
        WordPart::Literal(text) => Some(text.clone()),
        WordPart::Number => Some("1".to_owned()),
        WordPart::Glob(_) | WordPart::Home | WordPart::Unknown { .. } => None,
    };
    word.parts.iter().map(text).collect()
}

fn add_script_effect(effects: &mut Effects, at: usize, effect: ScriptEffect) {
    match effect {
        ScriptEffect::Runs => effects.add_hazard(HazardKind::Runs, at),
        ScriptEffect::Unknown => effects.add_hazard(HazardKind::Unknown, at),
        ScriptEffect::Writes(file) => effects.add_write(at, ShellWord::literal(&file)),
        ScriptEffect::Reads(file) => effects.add_read(ShellWord::literal(&file)),
    }
}

/// Removes the signs between the tests of `find` from its operands.
fn judge_find(scan: &mut Scan<'_>) -> bool {
    let words = scan.words;
    let is_sign =
        |at: &usize| words.get(*at).and_then(ShellWord::text).is_some_and(|text| matches!(text, "(" | ")" | "!" | ","));
    scan.operands.retain(|at| !is_sign(at));
    false
}

/// Words with which programs of `jq` and `yq` read files that are no operands.
const LOADING: &[&str] = &["import", "include", "load", "eval"];

/// A program of `jq` may import modules, whose files are not known.
fn judge_jq(scan: &mut Scan<'_>) -> bool {
    let Some(program) = scan.operands.first().and_then(|at| scan.words.get(*at)) else { return false };
    if program.text().is_none_or(|text| LOADING.iter().any(|word| text.contains(word))) {
        scan.effects.add_read(super::unknown_word(program));
    }
    false
}

/// `cd` without an operand goes to the home directory.
fn judge_directory(scan: &mut Scan<'_>) -> bool {
    if scan.operands.is_empty() {
        scan.effects.set_directory(ShellWord { parts: vec![WordPart::Home], span: 0..0 });
    }
    false
}

/// `ln` with one operand makes a link in the working directory.
fn judge_link(scan: &mut Scan<'_>) -> bool {
    if scan.operands.len() == 1 && !scan.has_option(&["-t", "--target-directory"]) {
        scan.effects.add_write(0, ShellWord::literal("."));
    }
    false
}

/// `gzip` and the like replace their operands, or only read them.
fn judge_compression(scan: &mut Scan<'_>) -> bool {
    let reading = scan.has_option(&["-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list"]);
    let kind = if reading && !scan.writing { OperandKind::Read } else { OperandKind::Write };
    for at in scan.operands.clone() {
        let Some(word) = scan.words.get(at).filter(|word| word.text() != Some("-")) else { continue };
        add_operand(&mut scan.effects, kind, at, word, false);
    }
    true
}

/// `unzip` writes into the directory of `-d` or the working directory, unless it only lists.
fn judge_unzip(scan: &mut Scan<'_>) -> bool {
    if !scan.has_option(&["-l", "-v", "-t", "-z", "-p", "-c", "-d", "-h", "-hh"]) && !scan.operands.is_empty() {
        scan.effects.add_write(0, ShellWord::literal("."));
    }
    false
}

/// A patch names the files that it changes, below the working directory.
fn judge_patch(scan: &mut Scan<'_>) -> bool {
    if scan.operands.is_empty() && !scan.has_option(&["--dry-run", "--version", "-v", "--help"]) {
        scan.effects.add_write(0, ShellWord::literal("."));
    }
    false
}

/// `date` with an operand that does not begin with `+` sets the clock.
fn judge_date(scan: &mut Scan<'_>) -> bool {
    for at in scan.operands.clone() {
        if scan.words.get(at).is_none_or(|word| !word.prefix().starts_with('+') || !word.is_one()) {
            scan.effects.add_hazard(HazardKind::Unknown, at);
        }
    }
    true
}

/// `printf` sets a variable with `-v` and with `%n`, and some shells evaluate the operands of number formats.
fn judge_printf(scan: &mut Scan<'_>) -> bool {
    let words = scan.words;
    let mut operands = scan.operands.iter().copied().filter_map(|at| words.get(at).map(|word| (at, word))).peekable();
    operands.next_if(|(_, word)| word.text() == Some("--"));
    let Some((first, format)) = operands.next() else { return true };
    let Some(letters) = format.text().filter(|format| !format.starts_with('-')).map(conversions) else {
        scan.effects.add_hazard(HazardKind::Unknown, first);
        return true;
    };
    if letters.contains(|letter| !"sbqc%diouxXfeEgGaA*".contains(letter)) {
        scan.effects.add_hazard(HazardKind::Unknown, first);
    }
    let evaluated = |word: &ShellWord| known_text(word).is_none_or(|text| text.contains(['[', '`', '$']));
    if letters.contains(|letter| "diouxXfeEgGaA*".contains(letter)) {
        let doubtful = operands.filter(|(_, word)| evaluated(word));
        doubtful.for_each(|(at, _)| scan.effects.add_hazard(HazardKind::Unknown, at));
    }
    true
}

/// The letters of the conversions of a format, and `*` for each width that is an operand.
fn conversions(format: &str) -> String {
    let mut letters = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        for c in chars.by_ref() {
            if c == '*' {
                letters.push(c);
            } else if !c.is_ascii_digit() && !"-+ #'.$hljztL".contains(c) {
                letters.push(c);
                break;
            }
        }
    }
    letters
}

/// Options of `set` that make a shell stricter or more verbose, and no word of a program.
const STRICTNESS: &[&str] = &["-o", "+o", "pipefail", "errexit", "nounset", "xtrace", "errtrace", "noclobber"];

/// `set` with anything but options that make the shell stricter changes what the words after it mean.
fn judge_set(scan: &mut Scan<'_>) -> bool {
    for at in scan.operands.clone() {
        let Some(word) = scan.words.get(at) else { continue };
        if word.text() == Some("--") {
            break;
        }
        let letters =
            |text: &str| text.strip_prefix(['-', '+']).is_some_and(|text| text.chars().all(|c| "euxoECv".contains(c)));
        if !word.text().is_some_and(|text| STRICTNESS.contains(&text) || letters(text)) {
            scan.effects.add_hazard(HazardKind::Unknown, at);
        }
    }
    true
}

/// `export`, `unset` and the like: each operand is a name or `NAME=value`.
///
/// A shell evaluates the value of an array: `declare -a 'x=($(id))'` runs `id`, and so does an assignment to a name that is an array already.
fn judge_variables(scan: &mut Scan<'_>) -> bool {
    let array = scan.has_option(&["-a", "-A"]);
    for at in scan.operands.clone() {
        let Some(word) = scan.words.get(at) else { continue };
        let (name, value) =
            word.prefix().split_once('=').map_or((word.prefix(), None), |(name, value)| (name, Some(value)));
        let known = word.text().is_some() || (value.is_some() && !array);
        let literals =
            word.parts.iter().filter_map(|part| if let WordPart::Literal(text) = part { Some(text) } else { None });
        let evaluated = literals.into_iter().any(|text| text.contains(['`', '[', '(']));
        if !known || !word.is_one() || !is_name(name) || evaluated {
            scan.effects.add_hazard(HazardKind::Unknown, at);
        }
    }
    true
}

/// Says whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
}
