//! Settings of git, which may name programs.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::Effects;
use super::scan::Scan;
use crate::{HazardKind, ShellWord, WordPart, WordRole};

/// Settings of git, in lower case, that run no program.
static HARMLESS_SETTINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let text = include_str!("../../data/git/harmless_settings.txt");
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
});

/// Options and subcommands of `git config` that only show settings. Git refuses a second action beside one of these.
const SHOWING: &[&str] = &[
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
    "get",
    "--list",
    "-l",
    "list",
];

/// Options of `git config` that choose the settings file.
const SCOPES: &[&str] = &["--local", "--global", "--system", "--worktree"];

/// Says whether a setting runs no program. A key of three parts names a custom section, which can be renamed later.
fn is_harmless(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let of_section =
        |section: &str| key.strip_prefix(section).is_some_and(|name| !name.is_empty() && !name.contains('.'));
    HARMLESS_SETTINGS.contains(key.as_str()) || of_section("color.") || of_section("advice.")
}

/// Adds the effect of `-c key=value`. The value does not matter if the key is harmless.
pub(super) fn add_setting(effects: &mut Effects, at: usize, setting: &ShellWord) {
    let prefix = setting.prefix();
    let key = match prefix.split_once('=') {
        Some((key, _)) => Some(key),
        None => setting.text(),
    };
    match key {
        Some(key) if is_harmless(key) => {}
        Some(_) => effects.add_hazard(HazardKind::Runs, at),
        None => effects.add_hazard(HazardKind::Unknown, at),
    }
}

/// Judges `git config`: its words only show settings, or are exactly `[SCOPE] KEY [VALUE]` with a key that runs no program.
///
/// In every other shape an option may take the word that looks like the key (`--comment user.name core.pager x`), and `--rename-section` turns a
/// harmless setting into one that runs a program.
pub(super) fn judge_config(scan: &mut Scan<'_>) -> bool {
    let subcommand = scan.effects.roles.iter().position(|role| *role == WordRole::Subcommand).unwrap_or_default();
    let first = subcommand + 1;
    let words: Vec<(usize, &ShellWord)> = scan.words.iter().enumerate().skip(first).collect();
    let scope = words.first().and_then(|(_, word)| word.text()).filter(|text| SCOPES.contains(text));
    let words = words.get(usize::from(scope.is_some())..).unwrap_or_default();
    if words.first().and_then(|(_, word)| word.text()).is_some_and(|text| SHOWING.contains(&text)) {
        return true;
    }
    let ([(at, key)] | [(at, key), _]) = words else {
        scan.effects.add_hazard(HazardKind::Unknown, subcommand);
        return true;
    };
    let value = words.get(1).map(|(_, value)| *value);
    match key.text() {
        Some(text) if text.starts_with('-') => scan.effects.add_hazard(HazardKind::Unknown, *at),
        Some(text) if is_harmless(text) => {}
        Some(_) if value.is_none() => {}
        Some(_) => scan.effects.add_hazard(HazardKind::Runs, *at),
        None => scan.effects.add_hazard(HazardKind::Unknown, *at),
    }
    if let Some(value) = value {
        if value.may_be_option() || !value.is_one() {
            scan.effects.add_hazard(HazardKind::Unknown, at + 1);
        }
        match scope {
            None | Some("--local" | "--worktree") => {}
            Some("--global") => {
                let file =
                    ShellWord { parts: vec![WordPart::Home, WordPart::Literal("/.gitconfig".to_owned())], span: 0..0 };
                scan.effects.add_write(*at, file);
            }
            Some(_) => scan.effects.add_write(*at, ShellWord::literal("/etc/gitconfig")),
        }
    }
    true
}
