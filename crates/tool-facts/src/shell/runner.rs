//! Programs that run a command which stands among their own words: in an environment, a container, a terminal, elsewhere.

use super::interpreter::{joined, nested};
use super::walk::{Argv, Around, Stdin, Walk};
use super::word::Word;
use crate::Unparsed;

/// A program with a subcommand that runs the words after it.
struct Runner {
    names: &'static [&'static str],
    /// The subcommands that do; none where the program itself does.
    subcommands: &'static [&'static str],
    /// Words of its own before the command: an image, a machine.
    operands: usize,
    /// Options that take the next word.
    values: &'static [&'static str],
    /// Options that stand alone. After any other one, what the command is is in doubt.
    flags: &'static [&'static str],
    remote: bool,
    /// The command stands after `--`, and anything before it.
    dashed: bool,
}

const RUN: Runner = Runner {
    names: &[],
    subcommands: &["run", "exec", "x"],
    operands: 0,
    values: &[],
    flags: &[],
    remote: false,
    dashed: false,
};

const RUNNERS: &[Runner] = &[
    Runner {
        names: &["pipenv", "poetry", "pdm", "hatch", "rye", "pixi", "asdf", "rbenv", "pyenv", "nodenv", "bundle"],
        ..RUN
    },
    Runner { names: &["mise", "rtx"], dashed: true, ..RUN },
    Runner { names: &["uv"], values: &["--with", "-p", "--python", "--extra", "--group", "--package"], ..RUN },
    Runner {
        names: &["conda", "mamba", "micromamba"],
        values: &["-n", "--name", "-p", "--prefix"],
        flags: &["--no-capture-output", "--live-stream"],
        ..RUN
    },
    Runner {
        names: &["npx", "bunx", "pnpx", "uvx", "pipx"],
        subcommands: &[],
        values: &["-p", "--package"],
        flags: &["-y", "--yes", "--no-install", "-q", "--quiet", "run"],
        ..RUN
    },
    Runner { names: &["npm", "pnpm", "yarn", "bun"], subcommands: &["exec", "x", "dlx"], ..RUN },
    Runner {
        names: &["docker", "podman", "nerdctl", "docker-compose"],
        subcommands: &["run", "exec", "create"],
        operands: 1,
        values: &[
            "-e",
            "--env",
            "-v",
            "--volume",
            "-w",
            "--workdir",
            "-u",
            "--user",
            "--name",
            "--network",
            "-p",
            "--publish",
            "--mount",
            "-m",
            "--memory",
            "--cpus",
            "-l",
            "--label",
            "--platform",
            "-h",
            "--hostname",
        ],
        flags: &["-i", "-t", "-d", "-it", "-ti", "-T", "--rm", "--interactive", "--tty", "--detach", "--init"],
        ..RUN
    },
    Runner {
        names: &["kubectl", "oc"],
        subcommands: &["exec", "run", "debug"],
        operands: 1,
        values: &["-n", "--namespace", "-c", "--container", "--context"],
        flags: &["-i", "-t", "-it", "-ti", "--stdin", "--tty"],
        remote: true,
        ..RUN
    },
    Runner { names: &["heroku"], values: &["-a", "--app", "-s", "--size"], remote: true, ..RUN },
    Runner { names: &["multipass", "lxc", "incus", "limactl"], subcommands: &["exec", "shell"], operands: 1, ..RUN },
    Runner { names: &["adb"], subcommands: &["shell"], remote: true, ..RUN },
    Runner { names: &["distrobox", "toolbox"], subcommands: &["enter", "run"], operands: 1, ..RUN },
];

/// Options whose value is the text of a command.
const TEXTS: &[(&[&str], &[&str])] = &[
    (&["script", "scriptlive", "flock", "sg", "runuser", "nix", "vagrant"], &["-c", "--command"]),
    (&["fly", "flyctl"], &["-C", "--command"]),
    (&["gcloud", "aws", "az"], &["--command", "--scripts"]),
    (&["nix-shell"], &["--run", "--command"]),
    (&["npx", "npm", "pnpm"], &["-c", "--call"]),
    (&["gdb", "lldb", "rust-gdb", "rust-lldb"], &["-ex", "-iex", "--eval-command", "-o", "--one-line"]),
];

/// Programs that run what follows their options and so many words, and the letters of their options that take a word.
const INNER: &[(&str, usize, &str)] = &[
    ("flock", 1, "wE"),
    ("strace", 0, "oepsEuIOSabPX"),
    ("ltrace", 0, "oepsunFADlx"),
    ("chroot", 1, ""),
    ("unshare", 0, "RwSG"),
    ("nsenter", 0, "tSG"),
    ("taskset", 1, ""),
    ("chrt", 1, "TPD"),
    ("numactl", 0, "NmpCi"),
    ("unbuffer", 0, ""),
    ("systemd-run", 0, "uptMHE"),
    ("pkexec", 0, ""),
    ("run0", 0, "ug"),
    ("setpriv", 0, ""),
    ("firejail", 0, ""),
    ("fakeroot", 0, "lsib"),
    ("dbus-run-session", 0, ""),
    ("torsocks", 0, "uaPp"),
    ("proxychains", 0, "f"),
    ("proxychains4", 0, "f"),
    ("rlwrap", 0, "fHlpsS"),
    ("valgrind", 0, ""),
    ("catchsegv", 0, ""),
    ("xvfb-run", 0, "efnpsw"),
    ("faketime", 1, ""),
    ("daemonize", 0, "aceopluE"),
    ("runcon", 1, "turl"),
    ("setarch", 1, ""),
    ("linux64", 0, ""),
    ("prlimit", 0, ""),
    ("ssh-agent", 0, "aEOPt"),
    ("dbus-launch", 0, ""),
    ("ccache", 0, "FMok"),
    ("sccache", 0, ""),
    ("distcc", 0, ""),
    ("icecc", 0, ""),
    ("doppler", 1, "pct"),
    ("infisical", 1, ""),
    ("teller", 1, "c"),
    ("dotenvx", 1, "f"),
    ("chamber", 2, ""),
    ("envchain", 1, ""),
    ("env-cmd", 0, "fe"),
    ("cross-env", 0, ""),
    ("dtach", 1, "erE"),
    ("abduco", 1, "e"),
    ("timelimit", 0, "tTsS"),
    ("cpulimit", 0, "le"),
    ("trickle", 0, "duwtlLnp"),
    ("tsocks", 0, ""),
    ("wine", 0, ""),
    ("schroot", 0, "ucdn"),
    ("fakechroot", 0, ""),
    ("eatmydata", 0, ""),
    ("lckdo", 1, "WE"),
    ("setlock", 1, ""),
    ("logsave", 1, ""),
    ("s6-setuidgid", 1, ""),
    ("s6-envdir", 1, ""),
    ("s6-softlimit", 0, ""),
    ("xinit", 0, ""),
    ("nq", 0, ""),
    ("choom", 0, "np"),
    ("cgexec", 0, "g"),
    ("sshpass", 0, "pfde"),
    ("caffeinate", 0, "tw"),
    ("dotenv", 0, "fe"),
    ("chpst", 0, "ueUbmdoptnPC/"),
    ("envdir", 1, ""),
    ("setuidgid", 1, ""),
    ("su-exec", 1, ""),
    ("gosu", 1, ""),
    ("runuser", 0, "ug"),
    ("tini", 0, "p"),
    ("dumb-init", 0, ""),
    ("chronic", 0, ""),
    ("ifne", 0, ""),
    ("aws-vault", 2, "td"),
    ("op", 1, ""),
    ("direnv", 2, ""),
    ("gdb", 0, "xpcdsne"),
];

/// Other names of `setarch`.
const ARCHITECTURES: &[&str] = &[
    "x86_64", "i386", "i486", "i586", "i686", "athlon", "linux32", "uname26", "ppc", "ppc32", "ppc64", "ppc64le",
    "sparc", "sparc32", "sparc64", "s390", "s390x", "arm64", "aarch64",
];

/// Programs whose words, after their options, are the text of a command; the letters of their options that take a word.
const JOINED: &[(&[&str], &str)] = &[
    (&["parallel", "sem"], "jIaNnLdPSCETD"),
    (&["entr"], ""),
    (&["watchexec", "nodemon", "reflex"], "wesdioxr"),
    (&["tmux"], "sncteFxyfLSb"),
    (&["screen"], "Sceshptx"),
    (
        &["xterm", "uxterm", "rxvt", "urxvt", "konsole", "gnome-terminal", "xfce4-terminal", "alacritty", "kitty"],
        "TtngfW",
    ),
];

/// Programs each of whose words, after their options, is the text of a command.
const EACH: &[(&[&str], &str)] =
    &[(&["pee", "concurrently", "npm-run-all", "run-p", "run-s"], "n"), (&["hyperfine"], "wrmMpscSNu")];

/// Looks into a program that runs a command by one of its subcommands or options. It is on the list already.
pub(super) fn look(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    if texts(walk, name, argv, around)? {
        walk.doubt(format!("`{name}` runs a command that stands in one of its options"));
    }
    let Some(runner) = RUNNERS.iter().find(|runner| runner.names.contains(&name)) else { return Ok(()) };
    let mut at = 1;
    if !runner.subcommands.is_empty() {
        let named = |word: &Word| runner.subcommands.contains(&word.text.as_str());
        let Some(found) = argv.words.iter().skip(1).position(named) else { return Ok(()) };
        at = found + 2;
        if found > 0 {
            walk.doubt(format!("what `{name}` runs stands behind words that are not read"));
        }
    }
    let rest = argv.words.get(at..).unwrap_or_default();
    let command = match rest.iter().position(|word| word.text == "--") {
        Some(end) if runner.dashed => rest.get(end + 1..).unwrap_or_default(),
        _ => after_options(walk, runner, name, rest),
    };
    if command.is_empty() {
        return Ok(());
    }
    let mut inner = around.under(name);
    inner.remote |= runner.remote;
    walk.run(Argv { words: command.to_vec(), stdin: Stdin::Other, ..Argv::default() }, &inner)
}

fn after_options<'a>(walk: &mut Walk, runner: &Runner, name: &str, rest: &'a [Word]) -> &'a [Word] {
    let mut at = 0;
    let mut operands = runner.operands;
    while let Some(word) = rest.get(at) {
        let text = word.text.as_str();
        let option = text.split('=').next().unwrap_or_default();
        if text == "--" {
            if operands > 0 {
                walk.doubt(format!("what stands after `--` of `{name}` is not clear"));
            }
            return rest.get(at + 1..).unwrap_or_default();
        } else if runner.values.contains(&text) {
            at += 1;
        } else if text.starts_with('-') || runner.flags.contains(&text) {
            if !(runner.flags.contains(&text) || option.starts_with("--") && runner.values.contains(&option)) {
                walk.doubt(format!("the option `{text}` of `{name}` is not known"));
            }
        } else if operands > 0 {
            operands -= 1;
        } else {
            break;
        }
        at += 1;
    }
    rest.get(at..).unwrap_or_default()
}

/// Lists what a program that is in doubt already would run, as far as its words tell.
pub(super) fn guess(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    if texts(walk, name, argv, around)? {
        return Ok(());
    }
    let inner = around.under(name);
    if let Some((_, values)) = JOINED.iter().find(|(names, _)| names.contains(&name)) {
        let words = behind(argv, usize::from(name == "tmux"), values);
        let end = words.iter().position(|word| word.text.starts_with(":::")).unwrap_or(words.len());
        let words = words.get(..end).unwrap_or_default();
        return if words.is_empty() { Ok(()) } else { joined(walk, words, &inner) };
    }
    if let Some((_, values)) = EACH.iter().find(|(names, _)| names.contains(&name)) {
        return behind(argv, 0, values).iter().try_for_each(|text| nested(walk, text, &inner));
    }
    let known = if ARCHITECTURES.contains(&name) { "linux64" } else { name };
    let Some((_, operands, values)) = INNER.iter().find(|(inner, ..)| *inner == known) else { return Ok(()) };
    let words = behind(argv, *operands, values);
    if words.is_empty() {
        return Ok(());
    }
    walk.run(Argv { words: words.to_vec(), stdin: Stdin::Other, ..Argv::default() }, &inner)
}

/// The words behind options and operands, or behind `--`.
fn behind<'a>(argv: &'a Argv, operands: usize, values: &str) -> &'a [Word] {
    let mut at = 1;
    let mut operands = operands;
    while let Some(word) = argv.words.get(at) {
        let text = word.text.as_str();
        if text == "--" && operands == 0 {
            at += 1;
            break;
        }
        if text.starts_with('-') {
            let letter = text.chars().nth(1).filter(|_| text.len() == 2);
            at += usize::from(letter.is_some_and(|letter| values.contains(letter)));
        } else if operands > 0 {
            operands -= 1;
        } else {
            break;
        }
        at += 1;
    }
    argv.words.get(at..).unwrap_or_default()
}

/// Reads the texts in a program's options, and says whether there were any.
fn texts(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<bool, Unparsed> {
    let mut found = false;
    for (_, options) in TEXTS.iter().filter(|(names, _)| names.contains(&name)) {
        for (at, word) in argv.words.iter().enumerate().skip(1) {
            let glued = word.text.split_once('=').filter(|(option, _)| option.starts_with("--"));
            let mut text = match glued {
                Some((option, value)) if options.contains(&option) => Word::literal(value),
                _ if options.contains(&word.text.as_str()) => argv.words.get(at + 1).cloned().unwrap_or_default(),
                _ => continue,
            };
            text.dynamic |= word.dynamic;
            // A debugger takes commands of its own, and the shell's after one of these.
            let own = matches!(name, "gdb" | "lldb" | "rust-gdb" | "rust-lldb");
            let shell = ["shell ", "!", "platform shell "].iter().find_map(|start| text.text.strip_prefix(start));
            match shell.map(str::to_owned) {
                Some(rest) if own => text.text = rest,
                _ if own => continue,
                _ => {}
            }
            found = true;
            if !text.text.trim().is_empty() {
                nested(
                    walk,
                    &text,
                    &around.under(&format!("{name} {}", word.text.split('=').next().unwrap_or_default())),
                )?;
            }
        }
    }
    Ok(found)
}
