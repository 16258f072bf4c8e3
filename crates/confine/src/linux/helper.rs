//! The helper: confines itself step by step, and starts the program last.
//!
//! Every step is inherited by the program, so that nothing has to happen between `fork` and `exec`. A step that fails ends the helper before
//! the program runs.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGTERM;

use super::init::Init;
use super::measure::Measure;
use super::view::View;
use super::{Doing, filter, namespaces, privileges, rules, watch};
use crate::confinement::Confinement;

pub(super) fn run(confinement: &Confinement, program: &OsStr, arguments: &[OsString]) -> Result<ExitCode, String> {
    // A group that is asked to end is given time; the helper leaves last.
    let asked_to_end = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, Arc::clone(&asked_to_end)).doing("listen for signals")?;
    let view = View::of(confinement)?;
    let home = confinement.workspace.as_deref().unwrap_or(Path::new("/tmp"));
    std::env::set_current_dir("/").doing("leave the directory")?;

    namespaces::enter(confinement.network)?;
    let mut init = Init::start()?;
    view.build(home)?;
    init.mount_processes()?;
    view.close()?;
    privileges::limit(confinement)?;
    privileges::drop_all()?;
    let enforced = rules::restrict(confinement)?;
    filter::apply(confinement.network && !enforced.abstract_sockets_are_closed)?;

    std::env::set_current_dir(home).doing("enter the workspace")?;
    let workspace = confinement.workspace.as_deref();
    let measure = workspace.map(|path| Measure::new(path, confinement.workspace_bytes)).transpose();
    let measure = measure.doing("measure the workspace")?;
    let child = Command::new(program).args(arguments).spawn();
    let child = child.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    watch::until_ended(confinement, child, init, measure, &asked_to_end)
}
