//! Names and subcommands of programs, and the commands that they hide in their options.

use std::sync::LazyLock;

use serde::Deserialize;

use super::collector::{Argv, Collector};
use crate::word_list::{WordList, parse_table};

/// Directories of the system. A program of the same name in another directory is another program.
const SYSTEM: &[&str] = &[
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/run/current-system/sw/bin/",
];

/// Programs that run code which is not a shell command, or which is not in the text of the command.
static OPAQUE: WordList = WordList::new(include_str!("../../data/shell/opaque_programs.txt"));

/// Options in which programs hide commands.
static HIDDEN_COMMANDS: LazyLock<HiddenCommands> =
    LazyLock::new(|| parse_table(include_str!("../../data/shell/hidden_commands.toml")));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HiddenCommands {
    program: Vec<HiddenCommand>,
}

/// The options of some programs that name a command.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HiddenCommand {
    names: Vec<String>,
    /// Long options without their dashes. A shorter beginning counts as the whole option.
    #[serde(default)]
    options: Vec<String>,
    /// Short options.
    #[serde(default)]
    letters: String,
}

/// The last component of a program's path, in lower case and without `.exe`.
pub(super) fn name(first: &str) -> String {
    let last = if first == "." { first } else { first.rsplit('/').next().unwrap_or(first) };
    let lower = last.to_ascii_lowercase();
    lower.strip_suffix(".exe").map_or(lower.clone(), str::to_owned)
}

/// The program: a bare name, or the path as written if it does not lie in a system directory.
pub(super) fn program(first: &str) -> String {
    SYSTEM
        .iter()
        .find_map(|directory| first.strip_prefix(directory))
        .filter(|rest| !rest.is_empty() && !rest.contains('/'))
        .unwrap_or(first)
        .to_owned()
}

/// Sets the subcommand, and marks programs that run code or commands which are not parsed.
pub(super) fn inspect(collector: &mut Collector, listed: usize, argv: &Argv) {
    let Some(first) = argv.words.first().map(|word| word.text.as_str()) else { return };
    let name = name(first);
    let versionless = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let script = program(first).contains('/');
    let opaque = OPAQUE.contains(&name) || (!versionless.is_empty() && OPAQUE.contains(versionless));
    if script || opaque || (matches!(name.as_str(), "sed" | "gsed") && !is_harmless_sed(argv)) {
        collector.mark_opaque(listed);
    }
    if let Some(option) = hidden_command(&name, argv) {
        collector.add_doubt(format!("`{name} {option}` may run another program"));
    }
    // After an unknown option, the next word may be its value.
    if name != "git"
        && let Some(word) = argv.words.get(1).filter(|word| !word.text.starts_with('-') && !word.dynamic && !word.glob)
        && let Some(simple) = collector.shell.commands.get_mut(listed)
    {
        simple.subcommand = word.text.clone();
    }
}

fn hidden_command(name: &str, argv: &Argv) -> Option<String> {
    let listed = |program: &&HiddenCommand| program.names.iter().any(|own| own == name);
    let HiddenCommand { options: longs, letters, .. } = HIDDEN_COMMANDS.program.iter().find(listed)?;
    let old_style = |at: usize, text: &str| name.ends_with("tar") && at == 0 && !text.contains(['.', '/']);
    argv.words
        .iter()
        .skip(1)
        .enumerate()
        .find(|(at, word)| {
            let text = word.text.as_str();
            if let Some(long) = text.strip_prefix("--") {
                let long = long.split('=').next().unwrap_or_default();
                return long.len() > 1 && longs.iter().any(|hidden| hidden.starts_with(long));
            }
            // Some programs take long options after one dash.
            let single = text.strip_prefix('-').unwrap_or_default();
            let dashed = single.len() > 2 && longs.iter().any(|hidden| single.starts_with(hidden.as_str()));
            (text.starts_with('-') || old_style(*at, text)) && (dashed || text.chars().any(|c| letters.contains(c)))
        })
        .map(|(_, word)| word.text.clone())
}

/// Says whether a call of `sed` neither writes files nor runs commands: its scripts only print, delete or substitute lines.
fn is_harmless_sed(argv: &Argv) -> bool {
    let mut scripts = 0;
    for word in argv.words.iter().skip(1) {
        match word.text.as_str() {
            "-n" | "-E" | "-r" | "-u" | "-z" | "-s" | "-nE" | "-nr" | "-e" => {}
            text if text.starts_with('-') => return false,
            text if scripts == 0 => {
                scripts += 1;
                if !is_harmless_script(text) {
                    return false;
                }
            }
            _ => {}
        }
        if word.text == "-e" {
            scripts = 0;
        }
    }
    scripts > 0
}

fn is_harmless_script(script: &str) -> bool {
    let lines = script.trim_end_matches(['p', 'd', 'q']);
    if lines.len() < script.len() && lines.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '$')) {
        return true;
    }
    let Some(rest) = script.strip_prefix('s') else { return false };
    let Some(separator) = rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\') else { return false };
    let parts: Vec<&str> = rest.split(separator).collect();
    parts.len() == 4
        && !rest.contains(['\\', '\n', ';', '{', '}'])
        && parts
            .last()
            .is_some_and(|flags| flags.chars().all(|c| matches!(c, 'g' | 'p' | 'i' | 'I') || c.is_ascii_digit()))
}
