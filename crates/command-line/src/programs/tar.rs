//! `tar`: the letters of the mode may stand without a dash, and the mode says whether the archive is read or written.

use std::borrow::Cow;

use super::operands::{OperandKind, add_operand};
use super::scan::Scan;
use super::special::fragments_in_options;
use crate::{HazardKind, ShellWord, WordPart};

/// Letters of `tar` that take a value.
const VALUE_LETTERS: &str = "bCfgHIKLNTVXF";

/// The words, with a dash before the letters of the mode if there is none and it changes nothing: `tar xzf FILE` is `tar -xzf FILE`.
///
/// Without a dash, the values of the letters follow in the order of the letters; with a dash, the value of a letter is the rest of its word. Both
/// read the words alike if only the last letter takes a value.
pub(super) fn readable_words(words: &[ShellWord]) -> Cow<'_, [ShellWord]> {
    let Some(first) = words.get(1) else { return Cow::Borrowed(words) };
    let Some(letters) = first.text().filter(|text| !text.starts_with('-')) else { return Cow::Borrowed(words) };
    let before_last = letters.char_indices().next_back().and_then(|(at, _)| letters.get(..at)).unwrap_or_default();
    if before_last.contains(|letter| VALUE_LETTERS.contains(letter)) {
        return Cow::Borrowed(words);
    }
    let mut words = words.to_vec();
    if let Some(first) = words.get_mut(1) {
        first.parts = vec![WordPart::Literal(format!("-{letters}"))];
    }
    Cow::Owned(words)
}

/// Adds the archive and the directory as the mode says.
pub(super) fn judge(scan: &mut Scan<'_>) -> bool {
    let creates =
        scan.has_option(&["-c", "--create", "-r", "--append", "-u", "--update", "-A", "--catenate", "--concatenate"]);
    let extracts = scan.has_option(&["-x", "--extract", "--get"]);
    let lists = scan.has_option(&["-t", "--list", "-d", "--diff", "--compare"]);
    let modes = [creates, extracts, lists].iter().filter(|mode| **mode).count();
    let first_is_bundle = scan.operands.first() == Some(&1);
    if modes != 1 || first_is_bundle {
        if scan.words.len() > 1 && !scan.has_option(&["--help", "--version"]) {
            scan.effects.add_hazard(HazardKind::Unknown, 1);
        }
        return true;
    }
    let archives = fragments_in_options(scan, &["-f", "--file"]);
    if archives.is_empty() {
        scan.effects.add_hazard(HazardKind::Unknown, 1);
    }
    for (at, archive) in archives {
        // `host:file` is an archive of another machine.
        match archive.text() {
            Some(text) if text.contains(':') => scan.effects.add_hazard(HazardKind::Runs, at),
            None if !archive.prefix().starts_with(['/', '.']) => scan.effects.add_hazard(HazardKind::Unknown, at),
            Some("-") => {}
            _ if creates => scan.effects.add_write(at, archive),
            _ => scan.effects.add_read(archive),
        }
    }
    // The archive is not below the directory of `-C`, so it is not the directory of the run.
    let directory = scan.effects.directory.take();
    if extracts && !scan.has_option(&["-O", "--to-stdout"]) {
        scan.effects.add_write(1, directory.clone().unwrap_or_else(|| ShellWord::literal(".")));
    }
    if let Some(directory) = directory.filter(|_| creates) {
        scan.effects.add_read(directory);
    }
    for at in scan.operands.clone() {
        let Some(word) = scan.words.get(at).filter(|_| creates) else { continue };
        add_operand(&mut scan.effects, OperandKind::Read, at, word, scan.writing);
        // On some systems `@file` is an archive whose files are added.
        if word.prefix().starts_with('@') {
            scan.effects.add_hazard(HazardKind::Unknown, at);
        }
    }
    true
}
