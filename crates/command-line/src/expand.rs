//! The commands that a run starts because its words say so: `sh -c TEXT`, `xargs PROGRAM`, `find -exec`, `timeout 5 PROGRAM`.

mod arguments;
mod text;
mod wrapper;

pub(crate) use wrapper::as_assignment;

use crate::lister::place::Ends;
use crate::lister::{DEEPEST, Lister};
use crate::{ProgramRun, ShellWord};

/// How a run is started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    /// The shell itself starts it, so that built-in commands count.
    pub(crate) is_direct: bool,
    /// `set -e` does not stop at a failure here.
    pub(crate) checked: bool,
}

/// Directories of programs that are found by their bare names as well.
const SYSTEM: &[&str] = &["/bin/", "/sbin/", "/usr/bin/", "/usr/local/bin/", "/usr/sbin/"];

/// The name of a program, and how it is found.
pub(crate) struct Program {
    /// The last component of its path.
    pub(crate) name: String,
    /// It has no `/`, so it may be a built-in command.
    pub(crate) is_bare: bool,
    /// It is found by its name or in a directory of the system.
    pub(crate) is_on_path: bool,
}

impl Program {
    /// The program of a run, if the text tells it.
    pub(crate) fn of(run: &ProgramRun) -> Option<Self> {
        let text = run.words.first().and_then(ShellWord::text)?;
        let Some((_, name)) = text.rsplit_once('/') else {
            return Some(Self { name: text.to_owned(), is_bare: true, is_on_path: true });
        };
        let is_on_path = SYSTEM.iter().any(|directory| text.strip_prefix(directory) == Some(name));
        Some(Self { name: name.to_owned(), is_bare: false, is_on_path })
    }
}

/// Lists a run and what it starts. Returns the states of the shell after it.
pub(crate) fn start(lister: &mut Lister, run: ProgramRun, level: Level) -> Ends {
    if lister.depth >= DEEPEST {
        lister.doubt(&run.span.clone(), "the commands are nested too deeply");
        lister.push(run);
        return Ends::same(lister.place.clone());
    }
    lister.depth += 1;
    let ends = start_deeper(lister, run, level);
    lister.depth -= 1;
    ends
}

fn start_deeper(lister: &mut Lister, run: ProgramRun, level: Level) -> Ends {
    let Some(program) = Program::of(&run) else {
        // An unknown program may be a built-in command that changes the directory.
        let place = if level.is_direct { lister.place.lost() } else { lister.place.clone() };
        lister.push(run);
        lister.place = place.clone();
        return Ends::same(place);
    };
    let builtin = level.is_direct && program.is_bare;
    match program.name.as_str() {
        "eval" if builtin => return text::evaluate(lister, run, level),
        "trap" if builtin => {
            text::trap(lister, run);
            return Ends::same(lister.place.clone());
        }
        "sh" | "dash" | "ash" | "bash" | "zsh" if text::shell(lister, &run, &program) => {
            return Ends::same(lister.place.clone());
        }
        "sh" | "dash" | "ash" | "bash" | "zsh" => text::check_shell(lister, &run),
        "eval" | "trap" if !level.is_direct => {
            lister.doubt(&run.span.clone(), format!("`{}` is not a program", program.name));
        }
        "su" => text::switch_user(lister, &run),
        "watch" => text::watch(lister, &run),
        "parallel" => lister.doubt(&run.span.clone(), "`parallel` builds commands from its input"),
        "xargs" => return same(lister, run, arguments::xargs),
        "find" | "gfind" => return same(lister, run, arguments::find),
        _ => {
            if let Some(wrapper) = wrapper::find(&program.name) {
                return wrapper::unwrap(lister, run, wrapper, &program, level);
            }
        }
    }
    if builtin {
        return lister.builtin(run, &program.name);
    }
    lister.push(run);
    Ends::same(lister.place.clone())
}

fn same(lister: &mut Lister, run: ProgramRun, list: impl FnOnce(&mut Lister, ProgramRun)) -> Ends {
    list(lister, run);
    Ends::same(lister.place.clone())
}
