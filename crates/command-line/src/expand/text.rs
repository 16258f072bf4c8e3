//! Commands whose argument is the text of commands: `sh -c`, `eval`, `trap`, `su -c`, `watch`.

use super::{Level, Program};
use crate::lister::place::Ends;
use crate::lister::{Context, DEEPEST, Lister};
use crate::syntax::parser;
use crate::{ProgramRun, RunPosition, ShellLanguage, ShellWord, Stdin};

/// Letters of options of shells that change nothing about what a text means.
const LETTERS: &str = "ceuxvlh";

/// Options of shells that take a value, and the values that change nothing about what a text means.
const SETTINGS: &[&str] = &["errexit", "errtrace", "nounset", "pipefail", "verbose", "xtrace"];

/// Lists the commands of `sh -c TEXT`. Returns `false` if the shell is to be listed as it is.
pub(super) fn shell(lister: &mut Lister, run: &ProgramRun, program: &Program) -> bool {
    let language = match program.name.as_str() {
        "bash" => ShellLanguage::Bash,
        "zsh" => ShellLanguage::Zsh,
        _ => ShellLanguage::Sh,
    };
    let Some((text, strict)) = find_text(run) else { return false };
    if !program.is_on_path {
        lister.push(run.clone());
    }
    list_text(lister, run, &text, Nested { language, name: program.name.clone(), strict });
    true
}

/// Adds a doubt if a shell may have a text that is not known.
pub(super) fn check_shell(lister: &mut Lister, run: &ProgramRun) {
    let may_have_text = |word: &ShellWord| match word.text() {
        Some(text) => text.starts_with(['-', '+']) && !text.starts_with("--") && text.contains(['c', 'o', 'O']),
        None => word.may_be_option(),
    };
    let mut has_value = false;
    let options = run.words.iter().skip(1).take_while(|word| {
        let text = word.text();
        let belongs = has_value || text.is_none_or(|text| text.starts_with(['-', '+']));
        has_value = text.is_some_and(|text| text.starts_with("--") || text.ends_with(['o', 'O']));
        belongs
    });
    if options.into_iter().any(may_have_text) {
        lister.doubt(&run.span, "the text that the shell reads is not known");
    }
}

/// The text after the options of a shell, and whether the shell stops at a failure.
fn find_text(run: &ProgramRun) -> Option<(String, bool)> {
    let mut words = run.words.iter().skip(1).map(ShellWord::text);
    let (mut command, mut strict) = (false, false);
    loop {
        let text = words.next()??;
        if text == "--login" || text == "--norc" || text == "--noprofile" {
            continue;
        }
        let letters = text.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'));
        let Some(letters) = letters else {
            let plain = !text.starts_with(['-', '+']);
            return if command && plain { Some((text.to_owned(), strict)) } else { None };
        };
        command |= letters.contains('c');
        strict |= letters.contains('e');
        let takes_value = letters.ends_with('o');
        let letters = letters.strip_suffix('o').unwrap_or(letters);
        if !letters.chars().all(|letter| LETTERS.contains(letter)) {
            return None;
        }
        if takes_value {
            let setting = words.next()??;
            strict |= setting == "errexit";
            if !SETTINGS.contains(&setting) {
                return None;
            }
        }
    }
}

/// A text that is read by a shell of its own.
struct Nested {
    language: ShellLanguage,
    name: String,
    strict: bool,
}

/// Lists the commands of a text that a new shell reads.
fn list_text(lister: &mut Lister, run: &ProgramRun, text: &str, nested: Nested) {
    if !run.assignments.is_empty() {
        lister.push(ProgramRun { words: Vec::new(), ..run.clone() });
    }
    lister.charge(text.len());
    let (list, doubts) = match parser::parse(nested.language, text, lister.depth.min(DEEPEST)) {
        Ok(parsed) => parsed,
        Err(doubt) => {
            lister.doubt(&run.span.clone(), format!("the text for `{}` cannot be read: {}", nested.name, doubt.reason));
            lister.push(run.clone());
            return;
        }
    };
    let context = surroundings(run, &nested.name);
    let depth = lister.depth;
    let mut inner = Lister::new(&mut *lister.output, nested.language, &list, run.directory.clone());
    inner.fixed = Some(
        run.words
            .get(1..)
            .unwrap_or_default()
            .iter()
            .find(|word| word.text() == Some(text))
            .map_or_else(|| run.span.clone(), |word| word.span.clone()),
    );
    inner.depth = depth;
    inner.place.strict = nested.strict;
    inner.add_doubts(doubts);
    inner.list(&list, &context);
}

fn surroundings(run: &ProgramRun, name: &str) -> Context {
    let mut context = Context {
        position: run.position.clone(),
        redirects: run.redirects.clone(),
        stdin: run.stdin.clone(),
        checked: false,
    };
    context.position.push(RunPosition::Text(name.to_owned()));
    context
}

/// Lists the commands of `eval`, which happen in the shell itself.
pub(super) fn evaluate(lister: &mut Lister, run: ProgramRun, level: Level) -> Ends {
    let texts: Option<Vec<&str>> = run.words.iter().skip(1).map(ShellWord::text).collect();
    let text = texts.map(|texts| texts.join(" ")).filter(|text| !text.starts_with('-'));
    let Some(text) = text else {
        lister.doubt(&run.span.clone(), "the text for `eval` is not known");
        lister.push(run);
        lister.place = lister.place.lost();
        return Ends::same(lister.place.clone());
    };
    if !run.assignments.is_empty() || text.trim().is_empty() {
        lister.push(ProgramRun { words: Vec::new(), ..run.clone() });
    }
    lister.charge(text.len());
    match parser::parse(lister.language, &text, lister.depth.min(DEEPEST)) {
        Ok((list, doubts)) => {
            let mut context = surroundings(&run, "eval");
            context.checked = level.checked;
            let fixed = lister.fixed.clone();
            lister.fixed = Some(run.span.clone());
            lister.add_doubts(doubts);
            if !crate::lister::facts::Facts::of(&list).functions.is_empty() {
                lister.doubt(&run.span, "`eval` defines a function");
            }
            let ends = lister.list(&list, &context);
            lister.fixed = fixed;
            lister.place = ends.merged();
        }
        Err(doubt) => {
            lister.doubt(&run.span.clone(), format!("the text for `eval` cannot be read: {}", doubt.reason));
            lister.push(run);
            lister.place = lister.place.lost();
        }
    }
    Ends::same(lister.place.clone())
}

/// Lists the commands of `trap TEXT SIGNAL`.
pub(super) fn trap(lister: &mut Lister, run: ProgramRun) {
    let words: Option<Vec<&str>> = run.words.iter().skip(1).map(ShellWord::text).collect();
    let words = words.unwrap_or_default();
    let text = match words.as_slice() {
        ["--", text, _, ..] | [text, _, ..] if !text.starts_with('-') => (*text).to_owned(),
        ["-p" | "-l" | "-", ..] => {
            lister.push(run);
            return;
        }
        _ => {
            lister.doubt(&run.span.clone(), "the text for `trap` is not known");
            lister.push(run);
            return;
        }
    };
    if text.trim().is_empty() || !run.redirects.is_empty() {
        lister.push(run.clone());
    }
    if text.trim().is_empty() {
        return;
    }
    lister.charge(text.len());
    match parser::parse(lister.language, &text, lister.depth.min(DEEPEST)) {
        Ok((list, doubts)) => {
            let mut context = surroundings(&run, "trap");
            context.redirects = Vec::new();
            context.stdin = Stdin::UnknownText;
            let place = lister.place.clone();
            let fixed = lister.fixed.clone();
            lister.fixed = Some(run.span.clone());
            lister.place = place.lost();
            lister.add_doubts(doubts);
            if !crate::lister::facts::Facts::of(&list).functions.is_empty() {
                lister.doubt(&run.span, "`trap` defines a function");
            }
            lister.list(&list, &context);
            lister.fixed = fixed;
            lister.place = place;
        }
        Err(doubt) => {
            lister.doubt(&run.span.clone(), format!("the text for `trap` cannot be read: {}", doubt.reason));
            lister.push(run);
        }
    }
}

/// Lists the text of `su -c TEXT`, which the shell of the user reads. The run of `su` is listed besides.
pub(super) fn switch_user(lister: &mut Lister, run: &ProgramRun) {
    let mut words = run.words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = match word.text() {
            Some("-c" | "--command") => words.next().map(ShellWord::text),
            Some("-" | "-l" | "--login" | "-m" | "-p") => continue,
            Some(text) if text.starts_with("--command=") => Some(text.strip_prefix("--command=")),
            Some(text) if !text.starts_with('-') => continue,
            Some(_) | None => Some(None),
        };
        match text {
            None => {}
            Some(None) => lister.doubt(&run.span, "the words of `su` are not certain"),
            Some(Some(text)) => {
                let nested = Nested { language: ShellLanguage::Sh, name: "su".to_owned(), strict: false };
                list_text(lister, run, text, nested);
            }
        }
    }
}

/// Lists the text of `watch`, which a shell reads. The run of `watch` is listed besides.
pub(super) fn watch(lister: &mut Lister, run: &ProgramRun) {
    let words: Option<Vec<&str>> = run.words.iter().skip(1).map(ShellWord::text).collect();
    let mut words = words.as_deref().unwrap_or_default();
    loop {
        words = match words {
            ["-n" | "--interval", _, rest @ ..] => rest,
            ["-d" | "-t" | "-e" | "-g" | "-b" | "-c" | "--color" | "--no-title" | "--errexit", rest @ ..] => rest,
            [first, ..] if !first.starts_with('-') => {
                let text = words.join(" ");
                let nested = Nested { language: ShellLanguage::Sh, name: "watch".to_owned(), strict: false };
                return list_text(lister, run, &text, nested);
            }
            _ => return lister.doubt(&run.span, "the words of `watch` are not certain"),
        };
    }
}
