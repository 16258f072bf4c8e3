//! `test`, `[` and `[[`: conditions that may evaluate their operands.

use super::scan::Scan;
use super::special::is_name;
use crate::{HazardKind, ShellWord, WordPart};

/// Operators between two numbers. Some shells evaluate the operands as arithmetic, where `a[$(x)]` runs `x`.
const ARITHMETIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Other operators between two operands.
const BINARY: &[&str] = &["=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef"];

/// Operators before one operand that look at a text or a file.
const UNARY: &[&str] = &[
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-n", "-o", "-p", "-r", "-s", "-t", "-u", "-w", "-x", "-z",
    "-G", "-L", "-N", "-O", "-S",
];

/// Judges `test` and `[`: the values of words may be operators there.
pub(super) fn judge_test(scan: &mut Scan<'_>) -> bool {
    let mut operands = scan.operands.clone();
    if operands.last().and_then(|at| scan.words.get(*at)).and_then(ShellWord::text) == Some("]") {
        operands.pop();
    }
    // The operators between numbers take only numbers here, in every shell.
    let words: Vec<&ShellWord> = operands.iter().filter_map(|at| scan.words.get(*at)).collect();
    for (index, (at, word)) in operands.iter().zip(&words).enumerate() {
        let before = index.checked_sub(1).and_then(|before| words.get(before)).and_then(|word| word.text());
        let after = words.get(index + 1).and_then(|word| word.text());
        let placed =
            before.is_some_and(|text| UNARY.contains(&text) || is_binary(text)) || after.is_some_and(is_binary);
        let alone = words.len() == 1 || (words.len() == 2 && before == Some("!"));
        let operator = !word.is_one() || (word.text().is_none() && word.may_be_option() && !placed && !alone);
        if operator || is_evaluated(word, before, None, false) {
            scan.effects.add_hazard(HazardKind::Unknown, *at);
        }
    }
    true
}

/// Judges `[[`: its operators stand in the text, and words are not split.
pub(super) fn judge_double_bracket(scan: &mut Scan<'_>) -> bool {
    let words: Vec<Option<&ShellWord>> = scan.operands.iter().map(|at| scan.words.get(*at)).collect();
    for (index, (at, word)) in scan.operands.iter().zip(&words).enumerate() {
        let text = |index: Option<usize>| {
            index.and_then(|index| words.get(index)).copied().flatten().and_then(ShellWord::text)
        };
        if word.is_none_or(|word| is_evaluated(word, text(index.checked_sub(1)), text(Some(index + 1)), true)) {
            scan.effects.add_hazard(HazardKind::Unknown, *at);
        }
    }
    true
}

fn is_binary(text: &str) -> bool {
    BINARY.contains(&text) || ARITHMETIC.contains(&text)
}

/// Says whether a shell may evaluate a word: an operand of arithmetic, or the variable of `-v`.
fn is_evaluated(word: &ShellWord, before: Option<&str>, after: Option<&str>, numbers: bool) -> bool {
    let arithmetic = |text: Option<&str>| text.is_some_and(|text| ARITHMETIC.contains(&text));
    let number = word.parts.iter().all(|part| match part {
        WordPart::Literal(text) => text.chars().all(|c| c.is_ascii_alphanumeric() || "_+-*. ".contains(c)),
        WordPart::Number => true,
        WordPart::Glob(_) | WordPart::Home | WordPart::Unknown { .. } => false,
    });
    let variable = matches!(before, Some("-v" | "-R")) && !word.text().is_some_and(is_name);
    variable || (numbers && (arithmetic(before) || arithmetic(after)) && !number)
}
