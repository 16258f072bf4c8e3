//! Programs that build the words of a command: `xargs` and `find -exec`.

use super::Level;
use crate::lister::Lister;
use crate::{Directory, ProgramRun, RunPosition, ShellWord, Stdin, WordPart};

const NOT_DIRECT: Level = Level { is_direct: false, checked: false };

/// Letters of options of `xargs` that take a value.
const XARGS_VALUES: &str = "EILPadns";

/// Letters of options of `xargs` without a value.
const XARGS_FLAGS: &str = "0oprtx";

/// Long options of `xargs` that take a value.
const XARGS_LONG_VALUES: &[&str] =
    &["--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-lines", "--max-procs"];

/// Long options of `xargs` without a value.
const XARGS_LONG_FLAGS: &[&str] =
    &["--exit", "--interactive", "--no-run-if-empty", "--null", "--open-tty", "--verbose"];

/// Lists `xargs` and its command.
pub(super) fn xargs(lister: &mut Lister, run: ProgramRun) {
    lister.push(run.clone());
    let mut at = 1;
    let mut replaced: Option<String> = None;
    while let Some(word) = run.words.get(at) {
        let Some(text) = word.text() else {
            if word.may_be_option() {
                lister.doubt(&word.span, "a word of `xargs` before its command is not known");
                return;
            }
            break;
        };
        if !text.starts_with('-') || text == "-" {
            break;
        }
        at += 1;
        if text == "--" {
            break;
        }
        let next = run.words.get(at);
        if !xargs_option(text, next, &mut at, &mut replaced) {
            lister.doubt(&word.span, format!("the option `{text}` of `xargs` is not known"));
            return;
        }
    }
    let words = run.words.get(at..).unwrap_or_default();
    if words.is_empty() {
        return;
    }
    let mut inner = inner_run(&run, "xargs");
    if let Some(sign) = &replaced {
        inner.words = words.iter().map(|word| replace(word, sign, &[WordPart::Unknown { quoted: true }])).collect();
    } else {
        let appended = ShellWord { parts: vec![WordPart::Unknown { quoted: false }], span: run.span.clone() };
        inner.words = words.iter().cloned().chain([appended]).collect();
    }
    super::start(lister, inner, NOT_DIRECT);
}

/// Passes an option of `xargs`. Returns `false` if it is not known.
fn xargs_option(text: &str, next: Option<&ShellWord>, at: &mut usize, replaced: &mut Option<String>) -> bool {
    if text.starts_with("--") {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if XARGS_LONG_FLAGS.contains(&text) {
            return true;
        }
        if name == "--replace" {
            *replaced = Some(value.unwrap_or("{}").to_owned());
            return true;
        }
        let known = XARGS_LONG_VALUES.contains(&name);
        if value.is_none() {
            *at += 1;
        }
        return known && (value.is_some() || next.is_some_and(ShellWord::is_one));
    }
    let letters = text.get(1..).unwrap_or_default();
    for (index, letter) in letters.char_indices() {
        let glued = letters.get(index + letter.len_utf8()..).unwrap_or_default();
        if letter == 'i' {
            *replaced = Some(if glued.is_empty() { "{}".to_owned() } else { glued.to_owned() });
            return true;
        }
        if XARGS_VALUES.contains(letter) {
            let value = if glued.is_empty() { next.and_then(ShellWord::text) } else { Some(glued) };
            *at += usize::from(glued.is_empty());
            if letter == 'I' {
                *replaced = value.filter(|value| !value.is_empty()).map(str::to_owned);
                return replaced.is_some();
            }
            return value.is_some();
        }
        if !XARGS_FLAGS.contains(letter) {
            return false;
        }
    }
    true
}

fn inner_run(run: &ProgramRun, name: &str) -> ProgramRun {
    let mut inner = run.clone();
    inner.position.push(RunPosition::Arguments(name.to_owned()));
    inner.stdin = Stdin::Inherited;
    inner
}

/// Replaces a sign in the known text of a word.
fn replace(word: &ShellWord, sign: &str, by: &[WordPart]) -> ShellWord {
    let mut parts: Vec<WordPart> = Vec::new();
    for part in &word.parts {
        let WordPart::Literal(text) = part else {
            parts.push(part.clone());
            continue;
        };
        for (index, piece) in text.split(sign).enumerate() {
            if index > 0 {
                by.iter().for_each(|part| push(&mut parts, part.clone()));
            }
            push(&mut parts, WordPart::Literal(piece.to_owned()));
        }
    }
    ShellWord { parts, span: word.span.clone() }
}

fn push(parts: &mut Vec<WordPart>, part: WordPart) {
    match (parts.last_mut(), part) {
        (_, WordPart::Literal(text)) if text.is_empty() => {}
        (Some(WordPart::Literal(before)), WordPart::Literal(text)) => before.push_str(&text),
        (_, part) => parts.push(part),
    }
}

/// Lists `find` and the commands of `-exec`.
pub(super) fn find(lister: &mut Lister, run: ProgramRun) {
    lister.push(run.clone());
    let start = starting_point(&run.words);
    let mut at = 1;
    while let Some(word) = run.words.get(at) {
        at += 1;
        let Some(action @ ("-exec" | "-execdir" | "-ok" | "-okdir")) = word.text() else { continue };
        let rest = run.words.get(at..).unwrap_or_default();
        let ends = |(index, word): (usize, &ShellWord)| {
            let before = index.checked_sub(1).and_then(|before| rest.get(before)).and_then(ShellWord::text);
            word.text() == Some(";") || (word.text() == Some("+") && before == Some("{}"))
        };
        let Some(end) = rest.iter().enumerate().position(ends) else {
            lister.doubt(&word.span, format!("the command of `{action}` has no end"));
            return;
        };
        let several = rest.get(end).and_then(ShellWord::text) == Some("+");
        let by = if action.ends_with("dir") {
            vec![WordPart::Literal("./".to_owned()), WordPart::Glob("*".to_owned())]
        } else if several && start.as_slice() == [WordPart::Unknown { quoted: true }] {
            vec![WordPart::Unknown { quoted: false }]
        } else {
            start.clone()
        };
        let mut inner = inner_run(&run, "find");
        if action.ends_with("dir") {
            inner.directory = Directory::Unknown;
        }
        inner.words = rest.iter().take(end).map(|word| replace(word, "{}", &by)).collect();
        if inner.words.is_empty() {
            lister.doubt(&word.span, format!("`{action}` has no command"));
        } else {
            super::start(lister, inner, NOT_DIRECT);
        }
        at += end + 1;
    }
}

/// What `{}` stands for.
fn starting_point(words: &[ShellWord]) -> Vec<WordPart> {
    let unknown = vec![WordPart::Unknown { quoted: true }];
    if words.iter().any(|word| word.prefix().starts_with("-files0") || word.may_be_option() && word.text().is_none()) {
        return unknown;
    }
    let rest = words.iter().skip(1).skip_while(|word| matches!(word.text(), Some("-P" | "-H" | "-L")));
    let begins = |word: &&ShellWord| word.prefix().starts_with(['-', '(', '!', ')', ',']);
    let points: Vec<&ShellWord> = rest.take_while(|word| !begins(word)).collect();
    let point = match points.as_slice() {
        [] => "./",
        [only] => match only.text() {
            Some(text) if !text.is_empty() => text,
            _ => return unknown,
        },
        _ => return unknown,
    };
    let slash = if point.ends_with('/') { "" } else { "/" };
    vec![WordPart::Literal(format!("{point}{slash}")), WordPart::Glob("**".to_owned())]
}
