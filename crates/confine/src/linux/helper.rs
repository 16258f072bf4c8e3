//! The helper: confines itself step by step and starts the program last.
//!
//! The program inherits every step, so nothing has to happen between `fork` and `exec`. A failed step ends the helper
//! before the program runs.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::getppid;
use signal_hook::consts::SIGTERM;

use super::group::Group;
use super::init::Init;
use super::measure::{InitialSize, Measure};
use super::view::View;
use super::watch::Started;
use super::{ErrorContext, filter, namespaces, privileges, rules, watch};
use crate::SAYS;
use crate::confinement::Confinement;

pub(super) fn run(confinement: &Confinement, program: &OsStr, arguments: &[OsString]) -> Result<ExitCode, String> {
    // The server may end at any time from here on, also before the program runs.
    let server = getppid();
    // A process group that is asked to end gets some time; the helper ends last.
    let asked_to_end = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, Arc::clone(&asked_to_end)).doing("listen for signals")?;
    let view = View::of(confinement)?;
    let home = confinement.workspace.as_deref().unwrap_or(Path::new("/tmp"));
    std::env::set_current_dir("/").doing("leave the directory")?;

    let group = Group::enter(confinement.processes);
    namespaces::enter(confinement.network)?;
    let mut init = Init::start()?;
    view.build(home)?;
    init.mount_processes()?;
    View::close()?;
    let measured = confinement.workspace.as_deref().map(|path| Measure::new(path, confinement.workspace_bytes));
    let is_full = measured.as_ref().is_some_and(|(_, before)| say_what_was_before(before));
    privileges::limit(confinement)?;
    privileges::keep_what_measuring_needs()?;
    let enforced = rules::restrict(confinement, is_full)?;
    filter::apply(confinement.network && !enforced.abstract_sockets_are_closed)?;

    std::env::set_current_dir(home).doing("enter the workspace")?;
    // A workspace that cannot be written to does not grow.
    let measure = measured.map(|(measure, _)| measure).filter(|_| !is_full);
    let child = Command::new(program).args(arguments).spawn();
    let child = child.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let started = Started { program: child, server };
    watch::until_ended(confinement, started, init, group.as_ref(), measure, &asked_to_end)
}

/// Prints the findings about the workspace before the start, and returns whether the workspace may not be written to.
fn say_what_was_before(before: &InitialSize) -> bool {
    if before.unread > 0 {
        eprintln!("{SAYS}{} directories of the workspace cannot be read and are not counted", before.unread);
    }
    if let Some(why) = &before.over {
        eprintln!("{SAYS}{why}; {}", watch::UNTIL_LESS);
    }
    before.over.is_some()
}
