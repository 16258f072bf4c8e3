//! `git`, whose subcommand hides behind options and whose options hide commands.

use super::walk::{Argv, Walk};
use super::word::Word;

/// Global options that take the next word.
const VALUES: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source", "--list-cmds"];

/// Global options that stand alone.
const FLAGS: &[&str] = &[
    "-p",
    "--paginate",
    "-P",
    "--no-pager",
    "--bare",
    "--no-replace-objects",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-advice",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--html-path",
    "--man-path",
    "--info-path",
    "-v",
    "--version",
    "-h",
    "--help",
];

/// Settings that run nothing.
const HARMLESS: &[&str] = &[
    "user.name",
    "user.email",
    "core.quotepath",
    "core.autocrlf",
    "core.filemode",
    "core.ignorecase",
    "core.abbrev",
    "init.defaultbranch",
    "commit.gpgsign",
    "tag.gpgsign",
    "push.default",
    "pull.rebase",
    "pull.ff",
    "merge.ff",
    "diff.renames",
    "diff.algorithm",
    "protocol.version",
    "fetch.prune",
    "gc.auto",
    "rebase.autostash",
];

/// Long options that name a command, or a place with commands in it.
const COMMANDS: &[&str] = &[
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--extcmd",
    "--tool",
    "--config",
    "--template",
    "--separate-git-dir",
    "--gpg-sign",
    "--run",
    "--smtp-server",
    "--sendmail-cmd",
    "--to-cmd",
    "--cc-cmd",
    "--tree-filter",
    "--index-filter",
    "--msg-filter",
    "--editor",
    "--pager",
    "--reference",
    "--hook-path",
    "--recurse-submodules",
    "--recursive",
];

/// Subcommands that run commands by their nature.
const RUNNERS: &[&str] = &[
    "filter-branch",
    "difftool",
    "mergetool",
    "send-email",
    "instaweb",
    "web--browse",
    "daemon",
    "shell",
    "hook",
    "remote-ext",
    "http-backend",
    "gui",
    "citool",
    "p4",
    "svn",
    "imap-send",
    "credential",
    "for-each-repo",
    "upload-pack",
    "receive-pack",
];

/// Finds the subcommand and everything that makes it less than certain.
pub(super) fn look(walk: &mut Walk, listed: usize, argv: &Argv) {
    let mut at = 1;
    while let Some(word) = argv.words.get(at) {
        let text = word.text.as_str();
        if !text.starts_with('-') || word.dynamic || word.glob {
            break;
        }
        let (option, glued) =
            text.split_once('=').map_or((text, false), |(option, _)| (option, option.starts_with("--")));
        if VALUES.contains(&text) {
            let value = argv.words.get(at + 1);
            if value.is_none_or(|value| value.dynamic || value.glob) {
                walk.doubt(format!("the value of `git {text}` is known only when it runs"));
            }
            global(walk, listed, text, value.map_or("", |value| value.text.as_str()));
            at += 2;
            continue;
        }
        if glued && VALUES.contains(&option) {
            global(walk, listed, option, text.split_once('=').map_or("", |(_, value)| value));
        } else if !FLAGS.contains(&text) {
            walk.doubt(format!("`git {text}` may run another program, or is not known"));
        }
        at += 1;
    }
    let Some(subcommand) = argv.words.get(at) else { return };
    if subcommand.dynamic || subcommand.glob {
        walk.doubt("which subcommand of `git` runs is known only when it runs");
        return;
    }
    let name = subcommand.text.clone();
    arguments(walk, &name, argv.words.get(at + 1..).unwrap_or_default());
    if let Some(simple) = walk.shell.commands.get_mut(listed) {
        simple.subcommand = name;
    }
}

fn global(walk: &mut Walk, listed: usize, option: &str, value: &str) {
    match option {
        "-C" | "--git-dir" | "--work-tree" => {
            if let Some(simple) = walk.shell.commands.get_mut(listed) {
                simple.cwd_changed = true;
            }
            walk.shell.cwd_changed = true;
        }
        "-c" => {
            let key = value.split('=').next().unwrap_or_default().to_ascii_lowercase();
            let harmless = HARMLESS.contains(&key.as_str()) || key.starts_with("color.") || key.starts_with("advice.");
            if !harmless {
                walk.doubt(format!("the setting `{key}` may make `git` run another program"));
            }
        }
        _ => {}
    }
}

fn arguments(walk: &mut Walk, subcommand: &str, args: &[Word]) {
    let runs = RUNNERS.contains(&subcommand)
        || (subcommand == "submodule" && args.iter().any(|word| word.text == "foreach"))
        || (subcommand == "bisect" && args.iter().any(|word| word.text == "run"));
    if runs {
        walk.doubt(format!("`git {subcommand}` runs other programs"));
    }
    for (at, word) in args.iter().enumerate() {
        let text = word.text.as_str();
        let option = text.split('=').next().unwrap_or_default();
        if option.len() > 3 && option.starts_with("--") && COMMANDS.iter().any(|command| command.starts_with(option)) {
            walk.doubt(format!("`git {subcommand} {option}` may run another program"));
        }
        let short = match subcommand {
            "rebase" | "difftool" => text.starts_with("-x"),
            "grep" => text.starts_with("-O"),
            "clone" => text.starts_with("-u") || text.starts_with("-c"),
            _ => false,
        };
        if short || text.starts_with("ext::") || text.starts_with("fd::") {
            walk.doubt(format!("`git {subcommand} {text}` may run another program"));
        }
        if let Some(file) = text.strip_prefix("--output=") {
            walk.shell.writes.push(file.to_owned());
        } else if text == "--output"
            && let Some(file) = args.get(at + 1)
        {
            walk.shell.writes.push(file.text.clone());
        }
    }
}
